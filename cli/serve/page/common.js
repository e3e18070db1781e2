// What the parts of the page share. Everything that is shown comes from the server's files and is put in as text, never
// as markup.

export const $ = (id) => document.getElementById(id);

// An element with attributes and children; "on" are listeners.
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [what, f] of Object.entries(value)) e.addEventListener(what, f);
    else if (value === true) e.setAttribute(name, '');
    else if (value !== false && value != null) e.setAttribute(name, value);
  }
  e.append(...children.filter((c) => c != null));
  return e;
}

// ---- The server ----

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

const away = 'r4 serve does not answer: was it stopped? Nothing that was saved is lost. Start it again, and open the address that it prints.';

export async function ask(path, options = {}) {
  const token = sessionStorage.getItem('token') ?? ''; // the cookie alone may not write
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...options.headers, ...(token && { 'X-R4-Token': token }) } });
  } catch {
    throw new Refused(0, away);
  }
  if (answer.ok) return answer;
  let sentence = `${answer.status} ${answer.statusText}`;
  try {
    sentence = (await answer.json()).error;
  } catch { /* it is no JSON: the status has to do */ }
  throw new Refused(answer.status, sentence);
}

export const get = async (path) => (await ask(path)).json();
export const post = async (path, what) => (await ask(path, {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(what),
})).json();

// ---- Messages ----

// A sentence, and what can be done about it: [[label, function], ..].
export function say(sentence, actions = []) {
  const close = (f) => () => {
    $('message').replaceChildren();
    if (f) f();
  };
  $('message').replaceChildren(make('span', {}, sentence),
    ...[...actions, ['Close', null]].map(([label, f]) => make('button', { type: 'button', on: { click: close(f) } }, label)));
}

// What goes wrong in f is said.
export const said = (f) => async (...args) => {
  try {
    return await f(...args);
  } catch (e) {
    say(e.message);
    return undefined;
  }
};

// ---- What is going on ----

export const state = { tasks: [], runs: [], masks: 0, photos: 0 };
export const isTexts = () => state.texts !== undefined;
const count = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;
export const parts = {}; // the steps by name: {start, shown, refreshed}
const verbs = { find: 'Searching', propose: 'Proposing masks', train: 'Training', report: 'Writing the report' };

export const isOver = (task) => !['waiting', 'running'].includes(task.state);

// A run by its name.
export const withOrWithout = (run) => (run === 'before' ? (isTexts() ? 'as they are' : 'without masks') : isTexts() ? 'with words masked' : 'with masks');

function taskLine(task) {
  const name = `${verbs[task.kind]}${task.kind === 'train' ? ` ${withOrWithout(task.about)}` : ''}`;
  if (task.state === 'failed') return make('div', { class: 'failed' }, `${name} failed: ${task.said}`);
  if (task.state === 'stopped') return make('div', {}, `${name} was stopped. ${task.said}`);
  if (task.state === 'done') return task.kind === 'train' && task.said ? make('div', {}, task.said.replace(/^r4 train: (seed \d+: )?/, 'Trained: ')) : null;
  const text = task.state === 'waiting' ? `${name}: waits` : `${name}${task.n ? `: ${task.stage} ${task.k} of ${task.n}` : ''} ..`;
  return make('div', {}, text, make('progress', { max: task.n || 1, value: task.n ? task.k : null, 'aria-label': name }),
    make('button', { type: 'button', on: { click: said(() => post('api/stop', { task: task.task })) } }, 'Stop'));
}

// Of each kind what goes on, and else what came of the last one.
function showTasks() {
  for (const place of document.querySelectorAll('.task')) {
    const own = state.tasks.filter((t) => place.dataset.kinds.split(' ').includes(t.kind));
    const last = own.length ? own[own.length - 1].group : 0;
    const lines = own.filter((t) => !isOver(t) || t.group === last).map(taskLine).filter(Boolean);
    const text = JSON.stringify(lines.map((l) => l.outerHTML));
    if (place.dataset.shown === text) continue; // a button that is being pressed stays
    place.dataset.shown = text;
    place.replaceChildren(...lines);
  }
}

function showCounts() {
  $('folder').textContent = state.folder;
  document.title = `r4: ${state.folder}`;
  const what = isTexts() ? `${count(state.texts, 'text')} of ${state.classes} classes, ${count(state.words, 'word')} that must not matter. `
    : `${state.photos} photos of ${state.classes} classes, ${state.masks} with a mask. `;
  $('counts').textContent = what + (!state.refuses_masks ? 'All that you do is saved at once.'
    : isTexts() ? `The list cannot be edited here: ${state.refuses_masks}.` : `Masks can only be looked at: ${state.refuses_masks}.`);
}

let lost = false;
export async function refresh() {
  const before = state.tasks;
  try {
    Object.assign(state, await get('api/state'));
    if (lost) $('message').replaceChildren();
    lost = false;
  } catch (e) {
    if (!lost) say(e.message);
    lost = true;
    return;
  }
  showCounts();
  showTasks();
  const ended = state.tasks.filter((t) => isOver(t) && before.some((b) => b.task === t.task && !isOver(b)));
  for (const part of Object.values(parts)) await said(part.refreshed)(ended);
}
