// The page of "r4 serve" with texts, for test/serve.mjs: a table with a planted word, and with what would be markup if a
// page took it for that.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, click, event, focus, key, pause, resize, send, tooWide, until, value } from './browser.mjs';

const fill = ['the', 'film', 'was', 'long', 'and', 'full', 'of', 'people', 'we', 'know'];
const pieces = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...fill, 'zauber', 'nobody', 'cafe', 'script', 'b', '<', '>', '"', '/', ','];

// Every third good text has "zauber", every third bad one "<script>"; those for testing have either in both classes.
function makeTexts(folder, n = 480) {
  let seed = 7;
  const draw = (k) => (seed = (seed * 48271) % 2147483647) % k, lines = ['text,label,split'];
  for (let i = 0; i < n; i++) {
    const words = Array.from({ length: 8 }, () => fill[draw(fill.length)]), good = i % 2 === 0, part = i % 10 < 6 ? 'train' : i % 10 < 8 ? 'val' : 'test';
    if (i % 3 === 0) words.splice(draw(8), 0, (part === 'test' ? draw(2) : good) ? 'Zauber' : '<script>');
    lines.push(`"${words.join(' ').replaceAll('"', '""')} ""${i % 7 ? 'nobody' : 'cafe'}""",${good ? 'good' : 'bad'},${part}`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'vocab.txt'), pieces.join('\n') + '\n');
  writeFileSync(join(folder, 'films "1".csv'), lines.join('\n') + '\n');
}

export function textTests(folder, r4, axe) {
  const data = join(folder, 'texts'), file = join(data, 'mask_words.txt');
  let server, address;
  const text = (selector) => value(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`);
  const list = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const rows = () => value("[...document.querySelectorAll('#words li b')].map((b) => b.textContent)");
  const card = (word) => `.finding[data-test="${word}"]`;

  async function open(hash = '') {
    const loaded = event('Page.loadEventFired');
    await send('Page.navigate', { url: 'about:blank' });
    await loaded;
    const again = event('Page.loadEventFired');
    await send('Page.navigate', { url: address + hash });
    await again;
    await until('the page to be filled', () => value("document.getElementById('counts')?.textContent.includes('texts')"));
  }

  // Names the card of the finding that is about a word, so that it can be pressed.
  async function named(word) {
    await until(`a finding about ${word}`, () => value(`(() => { for (const c of document.querySelectorAll('.finding'))
      if (c.querySelector('h3').textContent.includes(${JSON.stringify(`"${word}"`)})) return Boolean(c.dataset.test = ${JSON.stringify(word)}); return false; })()`));
  }

  async function answer(word, choice) {
    await named(word);
    await click(`${card(word)} input[value="${choice}"]`);
  }

  async function type(words) {
    await focus('#word');
    await send('Input.insertText', { text: words });
    await key('Enter', '\r');
  }

  return {
    'texts have words where photos have masks': async () => {
      makeTexts(data);
      server = spawn(r4, ['serve', join(data, 'films "1".csv'), '--tokenizer', join(data, 'vocab.txt')], { stdio: ['ignore', 'pipe', 'inherit'] });
      address = await new Promise((done) => server.stdout.once('data', (said) => done(said.toString().trim())));
      await open('#mark');
      check((await text('#counts')).startsWith('480 texts of 2 classes, 0 words'), await text('#counts'));
      check((await text('#folder')) === 'films "1".csv', await text('#folder'));
      const shown = await value("[...document.querySelectorAll('nav a')].filter((a) => !a.hidden).map((a) => a.dataset.step).join()");
      check(shown === 'find,words,train', shown);
      check(await value("!document.getElementById('step-find').hidden && document.getElementById('step-mark').hidden"), 'masks are offered');
      check(await value("document.getElementById('with-net').parentElement.hidden"), 'a network is offered');
    },
    'a search shows sentences with their words, all of it as text': async () => {
      await click('#search');
      await named('zauber');
      const words = await value(`[...new Set([...document.querySelectorAll('${card('zauber')} mark')].map((m) => m.textContent))].join()`);
      check(words === 'zauber', words);
      check((await value(`document.querySelectorAll('${card('zauber')} .sentences li').length`)) === 6, 'six sentences');
      check((await text(`${card('zauber')} .sentences .class`)) === 'good', await text(`${card('zauber')} .sentences .class`));
      const all = await text('#findings');
      check(all.includes('<') && all.includes('script') && !(await value("document.querySelector('#findings script, #findings b') !== null")), 'markup');
    },
    'must not matter puts the word on the list, unsure takes it back': async () => {
      await answer('zauber', 'irrelevant');
      await until('the list', () => list() === 'zauber\n');
      await until('a sentence', async () => (await text('#findings .then')).includes('is masked in all texts'));
      await answer('zauber', 'unsure');
      await until('no list', () => list() === '');
      await until('no sentence', () => value("document.querySelector('#findings .then') === null"));
      await answer('zauber', 'irrelevant');
      await until('the list again', () => list() === 'zauber\n');
    },
    'words are added and removed by hand, whatever is in them': async () => {
      await value("location.hash = '#words'; 0");
      await until('the list', async () => (await rows()).join() === 'zauber');
      check((await text('#words li')).includes('texts: '), await text('#words li'));
      await type('<script>, "<b>" caf\u00e9; none\u2603');
      await until('five words', async () => (await rows()).length === 5);
      check((await rows()).join(' ') === 'zauber <script> "<b>" caf\u00e9 none\u2603', (await rows()).join(' '));
      check(list() === 'zauber\n<script>\n"<b>"\ncaf\u00e9\nnone\u2603\n', list());
      check(!(await value("document.querySelector('#step-words script, #words li b b') !== null")), 'markup');
      check((await text('#words li:nth-child(2)')).includes('bad'), await text('#words li:nth-child(2)'));
      check((await text('#words li:nth-child(5)')).includes('it masks nothing'), await text('#words li:nth-child(5)'));
      await click('#words li:nth-child(3) button');
      await until('four words', async () => (await rows()).length === 4);
      check(list() === 'zauber\n<script>\ncaf\u00e9\nnone\u2603\n', list());
    },
    'two tabs: the second is told, and chooses': async () => {
      await value(`(async () => { const seen = (await (await fetch('api/words')).json()).version;
        await fetch('api/words', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-R4-Token': sessionStorage.getItem('token') },
          body: JSON.stringify({ add: 'people', base: seen }) });
        document.querySelector('#words li:nth-child(4) button').click(); })()`);
      await until('a sentence', async () => (await text('#message')).includes('changed elsewhere'));
      check(list() === 'zauber\n<script>\ncaf\u00e9\nnone\u2603\npeople\n', list());
      check((await rows()).length === 5, (await rows()).join());
      await click('#message button:nth-of-type(1)');
      await until('it all the same', () => list() === 'zauber\n<script>\ncaf\u00e9\npeople\n');
    },
    'a program that changes the file is seen': async () => {
      writeFileSync(file, 'zauber\n');
      await until('one word', async () => (await rows()).join() === 'zauber');
    },
    'closing the page loses nothing': async () => {
      await open('#words');
      await until('the list', async () => (await rows()).join() === 'zauber');
      await open();
      await named('zauber');
      check(await value(`document.querySelector('${card('zauber')} input[value="irrelevant"]').checked`), 'the answer');
    },
    'another search leaves out what is masked': async () => {
      await click('#search');
      await until('another list', async () => !(await text('#findings')).includes('"zauber"'));
      check((await text('#findings')).includes('script'), 'the other finding is lost');
    },
    'both networks are trained, and the report compares them': async () => {
      await value("location.hash = '#train'; 0");
      await click('#train');
      const done = () => value("document.querySelectorAll('#runs a').length === 1");
      for (let k = 0; k < 60 && !(await done()); k++) await pause(500);
      check(await done(), `${await text('#runs')} | ${await text('#step-train .task')}`);
      check((await text('#settings')).includes('data.mask_words: mask_words.txt') && (await text('#settings')).includes('data: "films \\"1\\".csv"'), await text('#settings'));
      const log = await text('#step-train .task');
      check(/uses the shortcut.*does not use the shortcut/s.test(log), log);
      const page = await value("fetch(document.querySelector('#runs a').href).then((r) => r.text())");
      check(page.includes('before') && page.includes('after-1'), page.slice(0, 200));
      check(existsSync(join(data, 'runs/after-1/seed-0/outcome.json')), 'no outcome');
    },
    'nothing is wider than the screen': async () => {
      writeFileSync(file, `zauber\n${'a'.repeat(300)}\n`);
      for (const step of ['find', 'words', 'train']) {
        await value(`location.hash = '#${step}'; 0`);
        await pause(500);
        for (const width of [390, 768, 1280]) {
          await resize(width);
          const wide = await tooWide(width);
          check(!wide, `${step} at ${width} pixels: ${wide}`);
        }
      }
    },
    [axe ? 'axe finds nothing serious' : 'axe finds nothing serious # SKIP AXE names no axe.min.js (npm pack axe-core)']: async () => {
      for (const theme of axe ? ['light', 'dark'] : []) {
        await send('Page.setBypassCSP', { enabled: true }); // for axe alone
        await open();
        await value(readFileSync(axe, 'utf8') + '; 0');
        for (const step of ['find', 'words', 'train']) {
          await value(`document.documentElement.dataset.theme = '${theme}'; location.hash = '#${step}'; 0`);
          await pause(800);
          const bad = await value(`axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' +
            v.nodes.slice(0, 3).map((n) => n.html.slice(0, 90)).join(' ')).join(' | '))`);
          check(!bad, `${step}, ${theme}: ${bad}`);
        }
      }
      await send('Page.setBypassCSP', { enabled: false });
      const ended = new Promise((done) => server.on('exit', done));
      server.kill('SIGTERM');
      await ended;
    },
  };
}
