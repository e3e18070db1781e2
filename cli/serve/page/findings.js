// Findings, each with photos that show it, and what a person says of it.
import { $, get, make, post, refresh, said, say, state, isOver, isTexts } from './common.js';
import { nextOfText, sentences } from './sentences.js';

let known = { findings: [] }, found = null, list = null;

export const allFindings = () => known.findings;

const answers = [['core', 'Should matter'], ['irrelevant', 'Must not matter'], ['unsure', 'Unsure']];
const percent = (v) => `${Math.round(100 * v)} %`;

// As r4 find says it.
function leaning(f) {
  if (f.lean < 0.05 || f.lean <= 2 * (f.lean_se ?? 0)) return 'no measurable effect on the network';
  return f.lean > 1 ? 'the prediction of the network turns' : `the network loses ${percent(f.lean)} of its margin`;
}

function chips(f) {
  const list = [];
  if (f.pure) list.push(`${f.of_class === f.shown_on ? 'only' : 'nearly only'} ${f.class}`);
  if (f.local && !isTexts()) list.push('in one place');
  if (f.where && (!isTexts() || f.kind === 'position')) list.push(isTexts() ? `at ${f.where}` : f.where);
  if (f.shown_on) list.push(`${f.of_class ?? 0} of ${f.shown_on} are ${f.class}${f.base ? ` (of all: ${percent(f.base)})` : ''}`);
  if (f.p != null) list.push(`by chance: p = ${f.p < 0.001 ? f.p.toExponential(0) : f.p.toFixed(3)}`);
  if (f.lean != null) list.push(`painted over: ${leaning(f)}`);
  return make('ul', { class: 'chips' }, ...list.map((text) => make('li', {}, text)));
}

const svg = (tag, attributes) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};

// The photo, with a box where it is shown: over the picture as it lies in its square.
function crop(example) {
  const img = make('img', { src: `thumb?photo=${example.photo}&side=240`, alt: `${example.file}, ${example.label}`, loading: 'lazy' });
  const pic = make('span', { class: 'pic' }, img);
  img.addEventListener('load', () => {
    if (!example.box) return;
    const [x, y, w, h] = example.box, longer = Math.max(img.naturalWidth, img.naturalHeight);
    const sx = img.naturalWidth / longer, sy = img.naturalHeight / longer;
    const at = { x: (1 - sx) / 2 + x * sx, y: (1 - sy) / 2 + y * sy, width: w * sx, height: h * sy };
    const over = svg('svg', { viewBox: '0 0 1 1', 'aria-hidden': 'true' });
    over.append(svg('rect', at), svg('rect', at));
    pic.append(over);
  });
  return make('li', {}, pic);
}

// One after the other: each builds on what the one before has become.
let deciding = Promise.resolve();
function decide(f, answer) {
  deciding = deciding.then(() => said(decideNext)(f.key, answer));
  return deciding;
}

async function decideNext(key, answer) {
  const f = known.findings.find((one) => one.key === key);
  if (!f) return; // another search has other findings
  try {
    Object.assign(f, await post('api/decide', { finding: f.key, answer, edit: f.edit }));
    if (answer === 'irrelevant' && !isTexts()) await post('api/propose', { finding: f.key });
  } catch (e) {
    say(e.message);
    if (e.status === 409 || e.status === 404) await load();
  }
  show();
  await refresh();
}

const isProposing = (f) => state.tasks.some((t) => t.kind === 'propose' && t.about === f.key && !isOver(t));

function next(f) {
  if (isTexts()) return nextOfText(f, () => decide(f, 'irrelevant'));
  if (f.answer !== 'irrelevant') return null;
  if (isProposing(f)) return make('p', {}, 'Masks are being proposed ..');
  return make('p', {}, make('a', { href: `#mark`, on: { click: () => sessionStorage.setItem('which', f.key) } },
    `Look at the masks of its ${f.photos} photos`));
}

function card(f, k) {
  const name = `answer-${k}`;
  return make('li', { class: 'finding' }, make('h3', {}, f.what), chips(f),
    isTexts() ? sentences(f) : make('ul', { class: 'crops', 'aria-label': 'Photos that show it' }, ...f.examples.slice(0, 10).map(crop)),
    make('fieldset', { class: 'answers' }, make('legend', {}, 'Should a network use this?'),
      ...answers.map(([value, label]) => make('label', {}, make('input', {
        type: 'radio', name, value, checked: f.answer === value, on: { change: () => decide(f, value) },
      }), label))), next(f));
}

// A card that says the same stays: somebody may be pressing something on it.
const cards = new Map();
function cardOf(f, k) {
  const text = JSON.stringify([f, k, isProposing(f), state.refuses_masks]), old = cards.get(f.key);
  if (old?.text === text) return old.made;
  const made = card(f, k);
  cards.set(f.key, { text, made });
  return made;
}

function showCards(wanted) {
  const place = $('findings'), there = [...place.children];
  const inPlace = there.length === wanted.length && wanted.every((c, k) => c === there[k] || !there.includes(c));
  if (!inPlace) place.replaceChildren(...wanted);
  else wanted.forEach((c, k) => c !== there[k] && there[k].replaceWith(c));
}

function show() {
  const focused = document.activeElement?.name, value = document.activeElement?.value;
  $('sentence').textContent = known.searched ? known.sentence || ''
    : isTexts() ? 'Not searched yet. A search looks at words, words after each other, first and last words and lengths of all texts, and says which of them go with one class.'
      : 'Not searched yet. A search looks at colours, edges and places of all photos, and says which of them go with one class.';
  $('search').textContent = known.searched ? 'Search again' : 'Search';
  showCards(known.findings.map(cardOf));
  if (focused) document.querySelector(`#findings input[name="${CSS.escape(focused)}"][value="${CSS.escape(value)}"]`)?.focus();
}

async function load() {
  known = await get('api/find');
  show();
}

async function search() {
  await post('api/search', { net: !isTexts() && $('with-net').checked });
  await refresh();
}

export const findings = {
  start() {
    $('search').addEventListener('click', said(search));
  },
  async shown() {
    await load();
  },
  async refreshed(ended) {
    $('with-net').parentElement.hidden = isTexts(); // a network is asked about photos only
    if (state.found !== found || state.list !== list || ended.some((t) => t.kind === 'find' || t.kind === 'propose')) await load();
    found = state.found;
    list = state.list;
    $('search').disabled = state.tasks.some((t) => t.kind === 'find' && !isOver(t));
  },
};
