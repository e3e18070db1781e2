// Findings in texts: sentences with their words, and what becomes of these. The server has texts as the network sees them:
// words and punctuation with blanks between them.
import { make, state } from './common.js';

// Which words of a sentence are those of a finding: all of a kind, or the one at the end that it is about.
function shownAt(words, f) {
  const n = f.words.length, at = [];
  for (let k = 0; n && k + n <= words.length; k++) if (f.words.every((word, j) => words[k + j] === word)) at.push(k);
  if (f.kind !== 'position' || !at.length) return at;
  return [f.where === 'the end' ? at[at.length - 1] : at[0]];
}

function sentence(f, example) {
  const words = (example.text ?? '').split(' '), at = shownAt(words, f), line = make('q');
  words.forEach((word, k) => line.append(k ? ' ' : '', at.some((from) => k >= from && k < from + f.words.length) ? make('mark', {}, word) : word));
  return make('li', {}, line, ' ', make('span', { class: 'class' }, example.label));
}

export const sentences = (f) => make('ul', { class: 'sentences', 'aria-label': 'Texts that show it' }, ...f.examples.map((e) => sentence(f, e)));

export const quoted = (words) => words.map((word) => `\u201c${word}\u201d`).join(', ');

// What the answer has done. again: puts the words on the list that somebody has taken out.
export function nextOfText(f, again) {
  if (f.answer !== 'irrelevant') return null;
  const link = make('a', { href: '#words' }, 'the list');
  const line = f.listed ? make('p', {}, `${quoted(f.words)} ${f.words.length > 1 ? 'are' : 'is'} masked in all texts, as `, link, ' says.')
    : !f.words.length || state.refuses_masks ? null
      : make('p', {}, `Not all of its words are on `, link, '. ', make('button', { type: 'button', on: { click: again } }, 'Put them there'));
  return make('div', { class: 'then' }, line, f.note ? make('p', { class: 'small' }, f.note) : null);
}
