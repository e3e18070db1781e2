// Findings, each with photos that show it, and what a person says of it.
import { $, get, make, post, refresh, said, say, state, isOver } from './common.js';

let known = { findings: [] }, found = null;

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
  if (f.local) list.push('in one place');
  if (f.where) list.push(f.where);
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

async function decide(f, answer) {
  try {
    Object.assign(f, await post('api/decide', { finding: f.key, answer, edit: f.edit }));
    if (answer === 'irrelevant') await post('api/propose', { finding: f.key });
  } catch (e) {
    say(e.message);
    if (e.status === 409 || e.status === 404) await load();
  }
  show();
  await refresh();
}

function next(f) {
  if (f.answer !== 'irrelevant') return null;
  const busy = state.tasks.some((t) => t.kind === 'propose' && t.about === f.key && !isOver(t));
  if (busy) return make('p', {}, 'Masks are being proposed ..');
  return make('p', {}, make('a', { href: `#mark`, on: { click: () => sessionStorage.setItem('which', f.key) } },
    `Look at the masks of its ${f.photos} photos`));
}

function card(f, k) {
  const name = `answer-${k}`;
  return make('li', { class: 'finding' }, make('h3', {}, f.what), chips(f),
    make('ul', { class: 'crops', 'aria-label': 'Photos that show it' }, ...f.examples.slice(0, 10).map(crop)),
    make('fieldset', { class: 'answers' }, make('legend', {}, 'Should a network use this?'),
      ...answers.map(([value, label]) => make('label', {}, make('input', {
        type: 'radio', name, value, checked: f.answer === value, on: { change: () => decide(f, value) },
      }), label))), next(f));
}

function show() {
  const focused = document.activeElement?.name, value = document.activeElement?.value;
  $('sentence').textContent = known.searched ? known.sentence || ''
    : 'Not searched yet. A search looks at colours, edges and places of all photos, and says which of them go with one class.';
  $('search').textContent = known.searched ? 'Search again' : 'Search';
  $('findings').replaceChildren(...known.findings.map(card));
  if (focused) document.querySelector(`#findings input[name="${CSS.escape(focused)}"][value="${CSS.escape(value)}"]`)?.focus();
}

async function load() {
  known = await get('api/find');
  show();
}

async function search() {
  await post('api/search', { net: $('with-net').checked });
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
    if (state.found !== found || ended.some((t) => t.kind === 'find' || t.kind === 'propose')) await load();
    found = state.found;
    $('search').disabled = state.tasks.some((t) => t.kind === 'find' && !isOver(t));
  },
};
