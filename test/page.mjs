// Pages of "r4 report" in a browser, one of images and one of texts: node test/page.mjs CHROMIUM FOLDER IMAGES TEXTS
// [axe.min.js]. Prints TAP. Downloads go to FOLDER.
import { existsSync, readFileSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  browser, check, click, close, event, focus, heard, key, pause, requests, resize, runTests, send, start, tooWide, until, value,
} from './browser.mjs';

const [, folder, imagesPage, textsPage, axe] = process.argv.slice(2);
const addressOf = (page) => 'file://' + resolve(page).split('/').map(encodeURIComponent).join('/');

const ground = () => value('getComputedStyle(document.body).backgroundColor');

async function downloaded(selector, ending, byMouse = false) {
  const before = new Set(readdirSync(folder));
  if (byMouse) await click(selector);
  else {
    await focus(selector);
    await key('Enter', '\r');
  }
  let name, last = 0;
  await until(`a file that ends in ${ending}`, () => { // it is there, empty, before it is written
    name = readdirSync(folder).find((n) => n.endsWith(ending) && !before.has(n));
    const size = name ? statSync(join(folder, name)).size : 0, whole = size > 0 && size === last;
    last = size;
    return whole;
  });
  const text = readFileSync(join(folder, name), 'utf8');
  unlinkSync(join(folder, name)); // the next of this name is a new one
  return text;
}

// Of every page, in this order: what is common, then its own, then what must be true after all of that.
const common = {
  'nothing is wider than the screen': async () => {
    for (const width of [390, 768, 1280]) {
      await resize(width);
      const wide = await tooWide(width);
      check(!wide, `at ${width} pixels: ${wide}`);
    }
  },
  'the theme changes by mouse and by keyboard': async () => {
    const light = await ground();
    await click('#theme');
    const dark = await ground();
    check(light !== dark, `the ground stays ${light}`);
    await focus('#theme');
    await key(' ', ' ');
    check((await ground()) === light, 'the space bar does not bring the light back');
  },
  'a dark system gets a dark page': async () => {
    await value("delete document.documentElement.dataset.theme");
    const light = await ground();
    await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    check((await ground()) !== light, 'the ground stays light');
    await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'light' }] });
  },
  'numbers open by keyboard': async () => {
    const open = () => value("document.querySelector('figure details').open");
    await focus('figure details summary');
    await key('Enter', '\r');
    check(await open(), 'Enter does not open them');
    await key('Enter', '\r');
    check(!(await open()), 'Enter does not close them');
  },
  'plots download as SVG and CSV, figures as JSON': async () => {
    const svg = await downloaded('#groups figure .get button:nth-child(1)', '.svg');
    check(await value(`new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') === null`), 'no SVG');
    check(!svg.includes('var(') && /fill="rgb/.test(svg), 'the SVG needs the style of the page');
    const csv = await downloaded('#groups figure .get button:nth-child(2)', '.csv', true);
    check(csv.startsWith('\ufeffgroup,accuracy,'), csv.slice(0, 60));
    const lines = csv.trim().split('\r\n').length;
    check(lines === await value("document.querySelectorAll('#groups figure table')[0].rows.length"), `${lines} lines`);
    const figures = JSON.parse(await downloaded('footer button', '.json'));
    check(figures.runs.length === await value("document.getElementById('left').options.length"), 'runs of the JSON');
  },
  'headings, pictures, controls and tables have names': async () => {
    const bad = await value(`(() => { const bad = [];
      let level = 0;
      for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
        const l = Number(h.tagName[1]);
        if (l > level + 1) bad.push('heading ' + h.textContent);
        level = l;
      }
      for (const e of document.querySelectorAll('img')) if (!e.alt) bad.push('img');
      for (const e of document.querySelectorAll('svg')) if (!e.getAttribute('aria-label') && !e.getAttribute('aria-hidden')) bad.push('svg');
      for (const e of document.querySelectorAll('select, input')) if (!e.labels.length) bad.push(e.id);
      for (const e of document.querySelectorAll('table')) if (!e.caption?.textContent) bad.push('table');
      for (const e of ['header', 'nav', 'main', 'footer']) if (document.querySelectorAll(e).length !== 1) bad.push(e);
      const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
      if (new Set(ids).size !== ids.length) bad.push('an id twice');
      return bad.join(', '); })()`);
    check(!bad, bad);
  },
  'it prints whole': async () => {
    await resize(680, 'print'); // A4 without its margins
    const wide = await tooWide(680);
    check(!wide, wide);
    await resize(1280);
    const pdf = Buffer.from((await send('Page.printToPDF', { preferCSSPageSize: true, paperWidth: 8.27, paperHeight: 11.69, printBackground: true })).data, 'base64');
    check(pdf.subarray(0, 5).toString() === '%PDF-' && pdf.length > 20000, 'no PDF');
    check(await value("!document.querySelector('details.tiles[open]')"), 'what was opened for paper stays open');
  },
};

const images = {
  'photo, before and after stand beside each other, each with its caption': async () => {
    const said = (k) => value(`document.querySelector('.compare').children[${k}].querySelector('figcaption').textContent`);
    check((await value("document.querySelector('.compare').children.length")) === 3, 'three pictures');
    check((await said(0)).startsWith('image'), await said(0));
    const names = JSON.parse(await value("JSON.stringify(['left', 'right'].map((id) => document.getElementById(id).selectedOptions[0].text))"));
    for (const k of [0, 1]) check((await said(k + 1)).startsWith(`${names[k]}, gradient`), await said(k + 1));
    check((await value("new Set(Array.from(document.querySelectorAll('.example h4'), (h) => /label ([^:]*):/.exec(h.textContent)[1])).size")) > 1, 'examples of one class');
  },
  'other nets and maps can be chosen': async () => {
    const picture = () => value("document.querySelector('.compare').children[1].querySelector('img').src");
    const set = (id, v) => value(`(() => { const s = document.getElementById('${id}'); s.value = '${v}';
      s.dispatchEvent(new Event('change')); })()`);
    const seen = new Set([await picture()]);
    await set('left', '1');
    seen.add(await picture());
    await set('map', 'bounds');
    seen.add(await picture());
    check(seen.size === 3, `${seen.size} pictures, expected 3`);
    check((await value("document.querySelector('.compare').children[1].querySelector('figcaption').textContent")).includes('width of the bounds'), 'the caption stays');
  },
  'ablations have bands, cells, numbers and downloads': async () => {
    const count = (what) => value(`document.querySelectorAll('#ablations ${what}').length`);
    check((await count('figure[data-file]')) === 3, 'figures');
    check((await count('.band')) === 2 && (await count('.cell')) === 4, 'bands or cells');
    check((await value("document.querySelector('#ablations figcaption').textContent")) === '<b>fixed: worst group, in per cent', 'a name');
    const svg = await downloaded('#ablations .pairs .get button:nth-child(1)', '.svg');
    check(!svg.includes('var(') && svg.includes('fill-opacity="0.16"'), 'the SVG has no band');
    const csv = await downloaded('#ablations .pairs .get button:nth-child(2)', '.csv');
    check(csv.startsWith('\ufeffdata.keep_masks,R3 <i>\r\n0,'), csv.slice(0, 60));
    const figures = JSON.parse(await value("document.getElementById('figures').textContent"));
    check(figures.ablations[0].lines[0].name === 'R3 <i>' && figures.ablations[0].lines[0].points.length === 2, 'ablations of the JSON');
  },
};

const texts = {
  'words of two nets stand side by side': async () => {
    const side = (k) => value(`document.querySelectorAll('.compare')[0].children[${k}].textContent`);
    const set = (id, v) => value(`(() => { const s = document.getElementById('${id}'); s.value = '${v}';
      s.dispatchEvent(new Event('change')); })()`);
    const before = [await side(0), await side(1)];
    check(before[0] !== before[1] && before[0].includes('erm, effect'), before.join(' | '));
    await set('left', '1');
    check((await side(0)) === before[1], 'another net on the left');
    await set('map', 'bounds');
    check((await side(0)).includes('width of the bounds'), 'another map');
    await set('left', '0');
    await set('map', 'gradient');
    await resize(390);
    const stacked = await value("(() => { const [a, b] = document.querySelector('.compare').children; return b.getBoundingClientRect().top >= a.getBoundingClientRect().bottom; })()");
    await resize(1280);
    check(stacked, 'on a phone they do not stand below each other');
  },
  'words have colours, and masked ones a line': async () => {
    const ground = (what) => value(`getComputedStyle(document.querySelector('.compare ${what}')).backgroundColor`);
    check((await value("getComputedStyle(document.querySelector('.compare u')).textDecorationLine")) === 'underline', 'no line');
    check((await ground('.r5, .compare .b5')) !== 'rgba(0, 0, 0, 0)', 'no colour');
  },
  'their numbers download as CSV': async () => {
    const csv = await downloaded('.numbers .get button', '.csv');
    check(csv.startsWith('\ufefftoken,masked,erm: effect,'), csv.slice(0, 60));
  },
  'no name is a formula or markup': async () => {
    const csv = await downloaded('#groups figure .get button:nth-child(2)', '.csv');
    check(csv.includes("\r\n'=1+1,") && csv.includes("\r\n'-2+3 <i onclick=x>,"), csv);
    check((await value("document.querySelectorAll('[onclick], i i').length")) === 0, 'markup');
  },
};

const after = {
  'nothing was said, and nothing was fetched': async () => {
    check(!heard.length, heard.join(' | '));
    const others = requests.filter((r) => !r.startsWith('data:') && !r.startsWith('blob:') && r !== address);
    check(!others.length, others.join(' '));
  },
};

if (axe) after['axe finds nothing'] = async () => {
  await value(readFileSync(axe, 'utf8') + '; 0');
  for (const scheme of ['light', 'dark']) {
    await value(`document.documentElement.dataset.theme = '${scheme}'`);
    const found = await value(`axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) =>
      n.html.slice(0, 120) + ' ' + (n.any[0]?.message ?? '')).join(' | ')).join('\\n'))`);
    check(!found, `${scheme}: ${found}`);
  }
};

let address;
async function open(page) {
  check(existsSync(page), `no ${page}`);
  address = addressOf(page);
  requests.length = heard.length = 0;
  const loaded = event('Page.loadEventFired');
  await send('Page.navigate', { url: address });
  await loaded;
}

let good = true;
const guard = setTimeout(() => { console.log('Bail out! the browser does not answer'); browser.kill(); process.exit(1); }, 120000);
await start();
const pages = [['images', imagesPage, { ...common, ...images, ...after }], ['texts', textsPage, { ...common, ...texts, ...after }]];
console.log(`1..${pages.reduce((sum, [, , tests]) => sum + Object.keys(tests).length, 0)}`);
for (const [kind, page, tests] of pages) {
  await open(page);
  good = await runTests(kind, tests) && good;
}
clearTimeout(guard);
await close();
process.exit(good ? 0 : 1);
