// Masks: which photo is next, what is proposed for it, and what a person paints. Each stroke is saved at once; a mask
// that is only proposed is saved when it is accepted or painted on.
import { $, ask, get, make, post, refresh, said, say, state } from './common.js';
import { allFindings } from './findings.js';
import { Painter, bytesOf } from './paint.js';

const PAGE = 24, ALL = '';
let painter, rows = { photos: [], total: 0, all: 0, todo: 0 }, from = 0;
let open = null; // {photo, file, base, said, proposed: it is shown and not saved}
let saving = Promise.resolve(), turn = 0, asked = 0;

const which = () => $('which').value;

// ---- The list ----

function listWhich() {
  const marked = allFindings().filter((f) => f.answer === 'irrelevant'), wanted = sessionStorage.getItem('which');
  const was = wanted ?? which(), options = [...marked.map((f) => [f.key, f.what]), [ALL, 'All photos']];
  $('which').replaceChildren(...options.map(([value, text]) => make('option', { value }, text)));
  $('which').value = options.some(([value]) => value === was) && (was || wanted) ? was : options[0][0];
  sessionStorage.removeItem('which');
}

function showList() {
  const done = rows.all - rows.todo, finding = which() !== ALL;
  $('progress').max = rows.all || 1;
  $('progress').value = done;
  $('progress-text').textContent = rows.all
    ? `${done} of ${rows.all} photos are done.${finding ? ' Those whose masks are least sure come first.' : ''}`
    : 'No photos: say in step 1 what must not matter, or look at all photos.';
  $('photos').replaceChildren(...rows.photos.map((p) => make('li', {}, make('button', {
    type: 'button', 'aria-current': p.photo === open?.photo ? 'true' : null, on: { click: said(() => openPhoto(p)) },
    'aria-label': `${p.file}, ${p.label}${p.said ? `, ${p.said}` : ''}${p.masked ? ', has a mask' : ''}`,
  }, make('img', { src: `thumb?photo=${p.photo}&side=128`, alt: '', loading: 'lazy' }), tag(p)))));
  $('page-text').textContent = rows.total > PAGE ? `${from + 1} to ${Math.min(from + PAGE, rows.total)} of ${rows.total}` : '';
  $('pages').hidden = rows.total <= PAGE;
  $('page-back').disabled = from === 0;
  $('page-on').disabled = from + PAGE >= rows.total;
  const proposed = rows.photos.some((p) => p.proposed && !p.said);
  $('accept-all').hidden = !finding || !proposed;
  $('accept-all').textContent = `Accept all ${rows.todo} that are left`;
}

function tag(p) {
  const text = p.said === 'accepted' ? 'accepted' : p.said === 'rejected' ? 'not shown' : p.masked ? 'mask' : '';
  return text ? make('span', { class: 'tag' }, text) : null;
}

async function list(at = from) {
  from = Math.max(0, at);
  const own = ++asked, finding = which() ? `&finding=${encodeURIComponent(which())}` : '';
  const got = await get(`api/photos?from=${from}&n=${PAGE}&show=${$('show').value}${finding}`);
  if (own !== asked) return null; // another list was asked for meanwhile
  rows = got;
  if (!rows.photos.length && from) return list(from - PAGE);
  showList();
  return rows;
}

// ---- One photo ----

const pixels = async (path) => {
  const answer = await ask(path);
  return { mask: await bytesOf(await answer.blob()), version: (answer.headers.get('ETag') ?? '').replaceAll('"', '') };
};

async function openPhoto(p) {
  await settled();
  const own = ++turn;
  const photo = await createImageBitmap(await (await ask(`photo?photo=${p.photo}`)).blob());
  const { mask, version } = await pixels(`mask?photo=${p.photo}`);
  const propose = which() && p.proposed && !p.said;
  if (propose) {
    const { mask: more } = await pixels(`proposal?photo=${p.photo}&finding=${encodeURIComponent(which())}`);
    for (let k = 0; k < mask.length; k++) mask[k] |= more[k];
  }
  if (own !== turn) return; // another was opened meanwhile
  open = { ...p, base: version, finding: which(), proposed: Boolean(propose) };
  painter.load(photo, mask);
  showOpen();
}

function showOpen() {
  const p = open, finding = which() !== ALL;
  $('canvas').setAttribute('aria-label', p ? `${p.file}, ${p.label}: the photo with its mask` : 'No photo is open');
  $('about').textContent = p ? `${p.file}, ${p.label}, ${p.split}. ${p.said === 'accepted' ? 'Accepted.' : p.said === 'rejected' ? 'Does not show it.'
    : p.proposed ? 'The mask is proposed: accept it, or correct it.' : finding ? 'No mask is proposed: paint one.' : ''}` : '';
  $('saved').textContent = '';
  for (const id of ['previous', 'next', 'undo', 'redo', 'clear', 'zoom-in', 'zoom-out', 'zoom-fit']) $(id).disabled = !p;
  $('accept').disabled = !p || Boolean(state.refuses_masks);
  $('accept').hidden = $('reject').hidden = !finding;
  $('reject').disabled = !p;
  showUndo();
  for (const b of document.querySelectorAll('#photos button')) b.removeAttribute('aria-current');
  const k = rows.photos.findIndex((row) => row.photo === p?.photo);
  if (k >= 0) document.querySelectorAll('#photos button')[k]?.setAttribute('aria-current', 'true');
}

function showUndo() {
  $('undo').disabled = !painter.photo || !(painter.done.length || painter.polygon.length);
  $('redo').disabled = !painter.photo || !painter.undone.length;
}

// ---- Saving ----

// One after the other; each is the mask as it is then.
function save(judge = false) {
  const p = open, own = turn;
  if (!p || state.refuses_masks) return saving;
  $('saved').textContent = 'Saving ..';
  saving = saving.then(async () => {
    if (own !== turn && !judge) return false;
    const finding = judge && p.finding ? `&finding=${encodeURIComponent(p.finding)}` : '';
    const sent = { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: await painter.png() };
    const answer = await (await ask(`mask?photo=${p.photo}&base=${p.base}${finding}`, sent)).json();
    p.base = answer.version;
    p.proposed = false;
    if (judge) p.said = 'accepted';
    $('saved').textContent = `Saved: ${answer.version === 'none' ? 'no mask' : 'the mask'} of ${p.file}.`;
    return true;
  }).catch((e) => {
    $('saved').textContent = 'Not saved.';
    if (e.status === 409) say(e.message, [['Show what is saved', said(() => openPhoto(p))], ['Keep mine', said(() => keepMine(p))]]);
    else say(e.message, [['Try again', () => save(judge)]]);
    return false;
  });
  return saving;
}

const settled = () => saving;

async function keepMine(p) {
  p.base = (await pixels(`mask?photo=${p.photo}`)).version;
  await save();
}

function painted() {
  showUndo();
  save();
}

// ---- Answers ----

async function go(by) {
  await settled();
  const k = rows.photos.findIndex((p) => p.photo === open?.photo), to = k + by;
  if (to >= 0 && to < rows.photos.length) return openPhoto(rows.photos[to]);
  const at = from + (by > 0 ? PAGE : -PAGE);
  if (at < 0 || at >= rows.total) return say(by > 0 ? 'That was the last one.' : 'This is the first one.');
  await list(at);
  return openPhoto(rows.photos[by > 0 ? 0 : rows.photos.length - 1]);
}

// The next that is to be done: of a list of those, the one that moves up.
async function advance() {
  const k = rows.photos.findIndex((p) => p.photo === open?.photo), was = open?.photo;
  await list();
  const todo = rows.photos.filter((p) => !p.said), after = rows.photos.slice(Math.max(0, k)).find((p) => !p.said && p.photo !== was);
  const to = after ?? todo.find((p) => p.photo !== was);
  await refresh();
  if (to) return openPhoto(to);
  const left = rows.todo ? '' : ' All photos of this are done: go on with another finding, or train.';
  open = null;
  painter.clear();
  showOpen();
  $('saved').textContent = `Saved.${left}`;
  return undefined;
}

async function accept() {
  if (!open || !open.finding) return;
  if (await save(true)) await advance();
}

async function reject() {
  if (!open || !open.finding) return;
  await settled();
  await post('api/judge', { finding: open.finding, photo: open.photo, answer: 'rejected' });
  await advance();
}

// In parts, so that the server answers others meanwhile, and it can be seen how far it is.
async function acceptAll() {
  await settled();
  const finding = which();
  $('accept-all').disabled = true;
  try {
    for (;;) {
      const { photos, todo } = await get(`api/photos?n=50&show=todo&finding=${encodeURIComponent(finding)}`);
      const proposed = photos.filter((p) => p.proposed).map((p) => p.photo);
      if (!proposed.length) break;
      await post('api/accept', { finding, photos: proposed });
      $('progress').value = $('progress').max - todo + proposed.length;
    }
  } finally {
    $('accept-all').disabled = false;
  }
  await advance();
}

// ---- Tools and keys ----

function choose(tool) {
  painter.tool = tool;
  painter.dropPolygon();
  for (const b of document.querySelectorAll('[data-tool]')) b.setAttribute('aria-pressed', String(b.dataset.tool === tool));
  $('size-name').textContent = tool === 'fill' ? 'Tolerance' : 'Size';
  $('canvas').style.cursor = tool === 'hand' ? 'grab' : 'crosshair';
}

function resize(by) {
  $('size').value = Number($('size').value) + by;
  painter.size = Number($('size').value);
}

const undo = () => (painter.undo(), showUndo());
const redo = () => (painter.redo(), showUndo());
const enter = () => (painter.polygon.length ? painter.closePolygon() : said(accept)());
const keys = {
  ArrowLeft: () => said(go)(-1), ArrowRight: () => said(go)(1), Enter: enter, x: said(reject), Escape: () => painter.dropPolygon(),
  b: () => choose('brush'), e: () => choose('eraser'), o: () => choose('box'), p: () => choose('polygon'), f: () => choose('fill'),
  h: () => choose('hand'), '[': () => resize(-5), ']': () => resize(5), '+': () => painter.zoom(1.25), '=': () => painter.zoom(1.25),
  '-': () => painter.zoom(0.8), 0: () => painter.fit(),
};

function pressed(e) {
  const at = e.target, control = e.ctrlKey || e.metaKey;
  if ($('step-mark').hidden || at.closest('select, input, summary') || e.altKey) return;
  if (at.closest('button, a') && ['Enter', ' '].includes(e.key)) return; // it is the button's
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  const f = control ? { z: e.shiftKey ? redo : undo, y: redo }[key] : keys[key];
  if (!f) return;
  e.preventDefault();
  f();
}

async function openFirst() {
  open = null;
  painter.clear();
  if (!(await list(0))) return;
  showOpen();
  if (rows.photos.length) await openPhoto(rows.photos[0]);
}

export const mark = {
  start() {
    painter = new Painter($('canvas'), painted);
    window.painter = painter; // for tests
    for (const b of document.querySelectorAll('[data-tool]')) b.addEventListener('click', () => choose(b.dataset.tool));
    const clicks = {
      undo, redo, clear: () => painter.photo && painter.replace(new Uint8Array(painter.mask.length)),
      'zoom-in': () => painter.zoom(1.25), 'zoom-out': () => painter.zoom(0.8), 'zoom-fit': () => painter.fit(),
      previous: () => go(-1), next: () => go(1), accept, reject, 'accept-all': acceptAll,
      'page-back': () => list(from - PAGE), 'page-on': () => list(from + PAGE),
    };
    for (const [id, f] of Object.entries(clicks)) $(id).addEventListener('click', said(async () => f()));
    $('size').addEventListener('input', () => resize(0));
    for (const id of ['which', 'show']) $(id).addEventListener('change', said(openFirst));
    addEventListener('keydown', pressed);
  },
  async shown() {
    listWhich();
    if (which() === ALL && $('show').value === 'todo' && !open) $('show').value = 'all';
    await openFirst();
  },
  async refreshed(ended) {
    if ($('step-mark').hidden || !ended.some((t) => t.kind === 'propose' && t.about === which())) return;
    await list();
    if (!open && rows.photos.length) await openPhoto(rows.photos[0]);
  },
};
