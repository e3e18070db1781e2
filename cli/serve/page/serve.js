// The page of r4 serve: its steps, one after the other.
import { $, isOver, isTexts, parts, refresh, said, state } from './common.js';
import { findings } from './findings.js';
import { mark } from './mark.js';
import { train } from './train.js';
import { words } from './words.js';

Object.assign(parts, { find: findings, mark, words, train });
const isOther = (name) => name === (isTexts() ? 'mark' : 'words'); // photos have masks, texts have words

async function watch() {
  for (;;) {
    const busy = state.tasks.some((t) => !isOver(t));
    await new Promise((done) => setTimeout(done, document.hidden ? 5000 : busy ? 700 : 3000));
    await refresh();
  }
}

// ---- Steps ----

function step() {
  const name = location.hash.slice(1);
  return name in parts && !isOther(name) ? name : 'find';
}

function showStep() {
  for (const name of Object.keys(parts)) $(`step-${name}`).hidden = name !== step();
  for (const a of document.querySelectorAll('nav a')) {
    a.hidden = isOther(a.dataset.step);
    if (a.dataset.step === step()) a.setAttribute('aria-current', 'step');
    else a.removeAttribute('aria-current');
  }
  said(parts[step()].shown)();
}

function showTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  $('theme').textContent = dark ? 'Light' : 'Dark';
  return dark;
}

async function start() {
  const token = new URLSearchParams(location.search).get('token');
  if (token) sessionStorage.setItem('token', token);
  history.replaceState(null, '', location.pathname + location.hash); // nobody reads it over a shoulder
  showTheme();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => showTheme(document.documentElement.dataset.theme));
  $('theme').addEventListener('click', () => showTheme(showTheme(document.documentElement.dataset.theme) ? 'light' : 'dark'));
  addEventListener('hashchange', showStep);
  for (const part of Object.values(parts)) part.start();
  await refresh();
  showStep();
  watch();
}

start();
