// The list of words that must not matter. Each change is saved at once.
import { $, get, make, post, refresh, said, say, state } from './common.js';

let list = { words: [], version: '' };

const percent = (k, n) => `${n ? Math.round((100 * k) / n) : 0} %`;

function effect(w) {
  if (!w.known) return 'the vocabulary does not have it: it masks nothing';
  if (!w.texts) return 'in no text: it masks nothing';
  return `in ${w.texts} of ${list.all} texts: ${w.of.map((c) => `${c.texts} ${c.class}`).join(', ')}`;
}

function row(w) {
  return make('li', {}, make('b', {}, w.word), make('span', { class: w.texts ? 'small' : 'small none' }, effect(w)),
    list.refuses ? null : make('button', { type: 'button', 'aria-label': `Remove ${w.word}`, on: { click: said(() => change({ remove: w.word })) } }, 'Remove'));
}

function show() {
  $('words-text').textContent = list.refuses ? `The list cannot be edited here: ${list.refuses}.`
    : list.words.length ? `These words are masked wherever they stand as whole words, in any case: in ${list.texts} of ${list.all} texts (${percent(list.texts, list.all)}).`
      : 'No word is on the list yet: say in step 1 what must not matter, or add words here.';
  $('words').replaceChildren(...list.words.map(row));
  $('words-file').textContent = `One word in each line of ${list.file}, next to the texts. Texts cannot be painted on: what must not matter in them are words.`;
  $('word').disabled = $('add-word').disabled = Boolean(list.refuses);
}

async function load() {
  list = await get('api/words');
  show();
}

// Somebody else has changed the list: it is shown as it is now, and the change can be made all the same.
async function change(what) {
  try {
    list = await post('api/words', { ...what, base: list.version });
  } catch (e) {
    if (e.status !== 409) throw e;
    await load();
    say(`${e.message}. It is shown as it is now, without your change.`, [['Change it all the same', said(() => change(what))]]);
    return false;
  }
  show();
  await refresh();
  return true;
}

async function add(event) {
  event.preventDefault();
  const wanted = $('word').value.split(/[\s,;]+/).filter(Boolean);
  for (const word of wanted) if (!await change({ add: word })) return;
  $('word').value = '';
  $('word').focus();
}

export const words = {
  start() {
    $('words-form').addEventListener('submit', said(add));
  },
  shown: load,
  async refreshed() {
    if (!$('step-words').hidden && state.list !== list.version) await load();
  },
};
