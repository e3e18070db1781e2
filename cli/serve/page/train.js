// Training: how far it is, curves of each run, and the report.
import { $, ask, make, post, refresh, said, state, isOver, isTexts, withOrWithout } from './common.js';

const texts = new Map(); // run: its log as it was drawn

const svg = (tag, attributes, ...children) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
};

// ---- Curves ----

const WIDTH = 420, HEIGHT = 220, LEFT = 46, BOTTOM = 28;

function ticks(low, high) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((s) => (high - low) / s <= 5) ?? high - low;
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) list.push(Number(v.toPrecision(6)));
  return list;
}

function path(points, x, y) {
  return points.map(([a, b], k) => `${k ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');
}

// lines: [{name, points: [[epoch, value], ..]}]
function plot(title, lines, low, high) {
  const last = Math.max(2, ...lines.flatMap((l) => l.points.map((p) => p[0])));
  const x = (v) => LEFT + (v - 1) / (last - 1) * (WIDTH - LEFT - 10), y = (v) => HEIGHT - BOTTOM - (v - low) / (high - low || 1) * (HEIGHT - BOTTOM - 12);
  const says = lines.map((l) => `${l.name}: ${l.points.length ? l.points[l.points.length - 1][1].toPrecision(3) : 'nothing yet'}`).join('; ');
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `${title} over epochs. At the end, ${says}` });
  for (const v of ticks(low, high)) {
    drawing.append(svg('path', { class: 'axis', d: `M${LEFT} ${y(v)}H${WIDTH - 10}` }),
      svg('text', { x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end' }, String(v)));
  }
  drawing.append(svg('text', { x: LEFT, y: HEIGHT - 8, 'text-anchor': 'middle' }, '1'),
    svg('text', { x: WIDTH - 10, y: HEIGHT - 8, 'text-anchor': 'end' }, `epoch ${last}`));
  lines.forEach((l, k) => drawing.append(svg('path', { class: `c${k}`, d: path(l.points, x, y) })));
  const legend = make('div', { class: 'legend' }, ...lines.map((l, k) => make('span', {},
    svg('svg', { viewBox: '0 0 28 10', 'aria-hidden': 'true' }, svg('path', { class: `c${k}`, d: 'M0 5H28' })), l.name)));
  return make('figure', {}, make('figcaption', {}, title), drawing, legend);
}

const parse = (text) => text.split('\n').filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));

async function curves() {
  const names = state.runs.map((r) => r.name), last = names.filter((n) => n.startsWith('after-')).pop();
  const shown = ['before', last].filter((n) => names.includes(n));
  let changed = false;
  for (const name of shown) {
    const text = await ask(`api/log?run=${name}`).then((a) => a.text()).catch(() => '');
    changed ||= texts.get(name) !== text;
    texts.set(name, text);
  }
  if (!changed) return;
  const of = (value) => shown.map((name) => ({ name: withOrWithout(name), points: parse(texts.get(name)).map((e) => [e.epoch, value(e)]).filter(([, v]) => Number.isFinite(v)) }));
  const loss = of((e) => e.loss), most = Math.max(0.01, ...loss.flatMap((l) => l.points.map((p) => p[1])));
  const accuracy = of((e) => 100 * e.accuracy), val = of((e) => 100 * e.val?.worst);
  const figures = [plot('Loss', loss, 0, most), plot('Accuracy in training, %', accuracy, 0, 100)];
  if (val.some((l) => l.points.length)) figures.push(plot('Validation, worst group, %', val, 0, 100));
  $('curves').replaceChildren(...figures);
}

// ---- Runs ----

function called(run) {
  const text = withOrWithout(run.name) + (run.name === 'before' ? '' : `, ${run.name.replace('after-', 'run ')}`);
  return text[0].toUpperCase() + text.slice(1);
}

// What training will do.
function intent() {
  if (isTexts())
    return state.masks
      ? 'Trains a network on the texts as they are, to compare with, and one for which the words of the list must not matter. Then both are measured.'
      : 'The list masks nothing yet: this trains the usual network, which shows how well it does.';
  return state.masks
    ? `Trains a network without masks, to compare with, and one for which what the ${state.masks} masks cover must not matter. Then both are measured.`
    : 'There are no masks yet: this trains the usual network, which shows how well it does, and which a search can ask.';
}

function showRuns() {
  const lines = state.runs.map((run) => make('li', {}, `${called(run)}: `, run.report
    ? make('a', { href: `report?run=${run.name}`, target: '_blank', rel: 'noopener' }, run.name === 'before' ? 'the report' : 'the report, before and after')
    : run.done ? 'trained, no report' : 'not finished'));
  $('runs').replaceChildren(...(lines.length ? lines : [make('li', {}, 'Nothing has been trained yet.')]));
}

async function show() {
  $('train-text').textContent = intent();
  $('train').disabled = state.tasks.some((t) => t.kind === 'train' && !isOver(t));
  showRuns();
  await curves();
  const text = await ask('api/settings').then((a) => a.text()).catch(() => '');
  if (text && $('settings').textContent !== text) $('settings').textContent = text;
}

async function begin() {
  await post('api/train', {});
  await refresh();
}

export const train = {
  start() {
    $('train').addEventListener('click', said(begin));
  },
  shown: show,
  async refreshed() {
    if (!$('step-train').hidden) await show();
  },
};
