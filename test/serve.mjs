// The page of "r4 serve" in a browser, with mouse, touch and keyboard: node test/serve.mjs CHROMIUM FOLDER R4
// [axe.min.js]. Prints TAP. What it makes goes to FOLDER.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  box, browser, check, click, close, event, focus, heard, key, pause, press, requests, resize, runTests, send, start, tooWide, until, value,
} from './browser.mjs';
import { makeFolder } from './serve_data.mjs';
import { textTests } from './serve_texts.mjs';

const [, folder, r4, axe] = process.argv.slice(2);
const data = join(folder, 'photos'), { key: finding, shown } = makeFolder(data);
writeFileSync(join(data, 'r4.yaml'), 'data: .\ndata.mask_means: irrelevant\ndata.size: 16\nnet: flatten, dense {classes}\nbatch: 8\nepochs: 12\n');

// ---- The server ----

let server, address;
async function serve() {
  server = spawn(r4, ['serve', data], { stdio: ['ignore', 'pipe', 'inherit'] });
  address = await new Promise((done) => server.stdout.once('data', (text) => done(text.toString().trim())));
}

async function kill(signal) {
  const ended = new Promise((done) => server.on('exit', done));
  server.kill(signal);
  await ended;
}

async function open(hash = '') {
  const loaded = event('Page.loadEventFired');
  await send('Page.navigate', { url: 'about:blank' }); // another hash alone would not load it again
  await loaded;
  const again = event('Page.loadEventFired');
  await send('Page.navigate', { url: address + hash });
  await again;
  await until('the page to be filled', () => value("document.getElementById('counts')?.textContent.includes('photos')"));
}

// ---- Hands and eyes ----

const text = (selector) => value(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`);
const marks = () => JSON.parse(readFileSync(join(data, 'marks.json'), 'utf8'));
const said = (answer) => marks().photos.filter((p) => p.answer === answer).length;
const painted = () => value('painter.mask.reduce((sum, v) => sum + v, 0)');
const opened = (other = '') => until('a photo to be open', () => value(`painter.photo !== null && document.getElementById('about').textContent !== ${JSON.stringify(other)}`));
const saved = () => until('it to be saved', () => value("document.getElementById('saved').textContent.startsWith('Saved')"));
const file = () => value("document.getElementById('about').textContent.split(',')[0]");
const mask = (name) => join(data, 'masks', name);

// A point of the photo in the window.
const at = (x, y) => value(`(() => { const b = painter.canvas.getBoundingClientRect(), k = b.width / painter.canvas.width;
  return { x: b.x + k * (painter.x + painter.scale * ${x}), y: b.y + k * (painter.y + painter.scale * ${y}) }; })()`);

async function drag(x0, y0, x1, y1) {
  await box('#canvas');
  const a = await at(x0, y0), b = await at(x1, y1);
  await press(a.x, a.y, 'mousePressed');
  await press((a.x + b.x) / 2, (a.y + b.y) / 2, 'mouseMoved');
  await press(b.x, b.y, 'mouseMoved');
  await press(b.x, b.y, 'mouseReleased');
}

async function tap(x, y) {
  await box('#canvas');
  const a = await at(x, y);
  await press(a.x, a.y, 'mousePressed');
  await press(a.x, a.y, 'mouseReleased');
}

async function touch(kind, points) {
  await send('Input.dispatchTouchEvent', { type: kind, touchPoints: points });
}

async function letter(name, control = false) {
  const common = { key: name, code: /[a-z]/.test(name) ? `Key${name.toUpperCase()}` : name, windowsVirtualKeyCode: name.toUpperCase().charCodeAt(0), modifiers: control ? 2 : 0 };
  await send('Input.dispatchKeyEvent', { type: control ? 'rawKeyDown' : 'keyDown', text: control ? undefined : name, ...common });
  await send('Input.dispatchKeyEvent', { type: 'keyUp', ...common });
}

async function choose(id, option) {
  await value(`(() => { const s = document.getElementById('${id}'); s.value = ${JSON.stringify(option)}; s.dispatchEvent(new Event('change')); })()`);
}

// ---- Tests ----

const finds = {
  'the token leaves the address': async () => {
    check(!(await value('location.href')).includes('token'), await value('location.href'));
  },
  'findings have photos with boxes, and what they say is text': async () => {
    await until('two findings', async () => (await value("document.querySelectorAll('.finding').length")) === 2);
    await until('a box', () => value("document.querySelector('.finding .pic rect') !== null"));
    check((await text('.finding:nth-child(2) h3')).includes('<b>') && !(await value("document.querySelector('.finding b')")), 'markup');
    check((await text('.finding .chips')).includes('p = 6e-4'), await text('.finding .chips'));
  },
  'a finding is decided by keyboard, and kept': async () => {
    await focus('.finding:nth-child(2) input');
    await key(' ', ' ');
    await until('it to be kept', () => existsSync(join(data, 'marks.json')) && marks().findings.some((f) => f.answer === 'core'));
    check(await value("document.activeElement.matches('.finding:nth-child(2) input')"), 'the focus is lost');
  },
  'must not matter leads to its masks': async () => {
    await click('.finding:nth-child(1) input[value="irrelevant"]');
    await until('it to be kept', () => marks().findings.some((f) => f.key === finding && f.answer === 'irrelevant'));
    await until('a link', () => value("document.querySelector('.finding a[href=\"#mark\"]') !== null"));
    await click('.finding a[href="#mark"]');
    await opened();
    check((await value("document.getElementById('which').value")) === finding, 'another finding');
    check((await text('#progress-text')).startsWith(`0 of ${shown}`), await text('#progress-text'));
  },
};

const marksTests = {
  'the least sure proposal is shown, and is not saved': async () => {
    check((await painted()) > 300 && !existsSync(mask(await file())), `${await painted()} pixels`);
  },
  'Enter accepts it, and the next comes': async () => {
    const first = await file(), about = await text('#about');
    await focus('#canvas');
    await key('Enter', '\r');
    await opened(about);
    check(existsSync(mask(first)) && said('accepted') === 1, 'it is not kept');
    check((await file()) !== first, 'the same photo');
    check((await text('#progress-text')).startsWith(`1 of ${shown}`), await text('#progress-text'));
  },
  'the brush paints, undo takes it back, and both are saved': async () => {
    const name = await file(), before = await painted();
    await drag(30, 40, 50, 40);
    await saved();
    const more = await painted();
    check(more > before + 50, `${before} to ${more} pixels`);
    const size = statSync(mask(name)).mtimeMs;
    await letter('z', true);
    await until('the undo to be saved', () => statSync(mask(name)).mtimeMs !== size);
    check((await painted()) === before, 'undo is not the same as before');
    await letter('y', true);
    await saved();
    check((await painted()) === more, 'redo');
    await letter('z', true);
    await saved();
  },
  'box, eraser, polygon and fill': async () => {
    await click('#clear');
    await saved();
    check((await painted()) === 0 && !existsSync(mask(await file())), 'a mask without white stays');
    await letter('o');
    await drag(20, 20, 30, 40);
    check((await painted()) === 200, `box: ${await painted()} pixels`);
    await letter('e');
    await drag(25, 18, 25, 44);
    check((await painted()) < 200, 'the eraser erases nothing');
    await click('#clear');
    await letter('p');
    for (const [x, y] of [[20, 20], [40, 20], [40, 40], [20, 40]]) await tap(x, y);
    await key('Enter', '\r');
    check(Math.abs((await painted()) - 400) <= 40, `polygon: ${await painted()} pixels`);
    await click('#clear');
    await letter('f');
    const place = await value(`(async () => { const c = new OffscreenCanvas(painter.width, painter.height).getContext('2d'); c.drawImage(painter.photo, 0, 0);
      const d = c.getImageData(0, 0, painter.width, painter.height).data;
      for (let k = 0; k < d.length; k += 4) if (d[k] === 40 && d[k + 1] === 150) return [(k / 4) % painter.width, Math.floor(k / 4 / painter.width) + 5]; })()`);
    await tap(place[0] + 0.5, place[1] + 0.5);
    const patch = await painted();
    check(patch > 250 && patch < 330, `fill: ${patch} pixels, the patch has about 314`);
    await saved();
    await letter('b');
  },
  'two fingers zoom, one paints': async () => {
    await value('painter.fit(); 0');
    await box('#canvas');
    const scale = await value('painter.scale'), before = await painted(), a = await at(30, 50), b = await at(50, 50);
    await touch('touchStart', [{ ...a, id: 0 }]);
    await touch('touchStart', [{ ...a, id: 0 }, { ...b, id: 1 }]);
    for (let k = 1; k <= 4; k++) await touch('touchMove', [{ x: a.x - 20 * k, y: a.y, id: 0 }, { x: b.x + 20 * k, y: b.y, id: 1 }]);
    await touch('touchEnd', []);
    check((await value('painter.scale')) > 1.3 * scale, 'the photo is not larger');
    check((await painted()) === before, 'two fingers paint');
    await value('painter.fit(); 0');
    const c = await at(36, 60);
    await touch('touchStart', [{ ...c, id: 0 }]);
    await touch('touchMove', [{ x: c.x + 30, y: c.y, id: 0 }]);
    await touch('touchEnd', []);
    check((await painted()) > before, 'one finger does not paint');
    await saved();
  },
  'a photo that does not show it is passed by': async () => {
    const about = await text('#about');
    await letter('x');
    await opened(about);
    check(said('rejected') === 1, 'it is not kept');
  },
  'arrows go to the next and back': async () => {
    const first = await file(), about = await text('#about');
    await key('ArrowRight');
    await opened(about);
    check((await file()) !== first, 'the same photo');
    const next = await text('#about');
    await key('ArrowLeft');
    await opened(next);
    check((await file()) === first, await file());
  },
  'two tabs: the second is told, and chooses': async () => {
    const name = await file(), other = readFileSync(mask(JSON.parse(readFileSync(join(data, 'marks.json'), 'utf8')).photos.find((p) => p.answer === 'accepted').file));
    await drag(30, 40, 40, 40);
    await saved();
    writeFileSync(mask(name), other); // what another tab or program does
    const bytes = other.length;
    await drag(30, 50, 40, 50);
    await until('a sentence', async () => (await text('#message')).includes('changed elsewhere'));
    check(statSync(mask(name)).size === bytes, 'the other is overwritten');
    await click('#message button:nth-of-type(2)');
    await saved();
    check(!readFileSync(mask(name)).equals(other), 'mine is not kept');
    check((await text('#message')) === '', 'the sentence stays');
  },
  'the server is killed while one paints, and nothing is lost': async () => {
    const name = await file();
    await drag(20, 30, 50, 30);
    await saved();
    const before = await painted();
    await kill('SIGKILL');
    await drag(20, 50, 50, 50);
    await until('a sentence', async () => (await text('#message')).includes('does not answer'));
    await serve();
    await open('#mark');
    await opened();
    await choose('which', '');
    await choose('show', 'all');
    await until('its photo', () => value(`document.querySelector('#photos button[aria-label^="${name}"]') !== null`));
    await opened();
    await pause(300); // the first one is open: nothing moves any more
    await click(`#photos button[aria-label^="${name}"]`);
    await until(`${name} to be open`, async () => (await file()) === name).catch(async (e) => {
      throw new Error(`${e.message}, but ${await text('#about')} ${await text('#message')}`);
    });
    check((await painted()) === before, `${await painted()} pixels, ${before} were saved`);
  },
  'photos are shown in pages': async () => {
    check((await text('#page-text')) === '1 to 24 of 40', await text('#page-text'));
    await click('#page-on');
    await until('the second page', async () => (await text('#page-text')) === '25 to 40 of 40');
  },
  'all that are left are accepted at once': async () => {
    await choose('which', finding);
    await choose('show', 'todo');
    await opened();
    await until('a button', () => value("!document.getElementById('accept-all').hidden"));
    await click('#accept-all');
    await until('all to be done', async () => (await text('#progress-text')).startsWith(`${shown} of ${shown}`));
    check(said('accepted') === shown - 1 && said('rejected') === 1, `${said('accepted')} accepted`);
  },
};

const trains = {
  'training shows how far it is, goes on without the page, and is found again': async () => {
    await value("location.hash = '#train'; 0");
    await until('the step', () => value("!document.getElementById('step-train').hidden"));
    await click('#train');
    await until('it to be busy', async () => (await text('#step-train .task')).includes('Training'));
    await send('Page.navigate', { url: 'about:blank' });
    await pause(500);
    await open('#train');
    for (let k = 0; k < 12 && !(await value("document.querySelectorAll('#runs a').length === 1")); k++) await pause(2000);
    check(await value("document.querySelectorAll('#runs a').length === 1"), `${await text('#runs')} | ${await text('#step-train .task')}`);
    await until('curves', async () => (await value("document.querySelectorAll('#curves figure').length")) >= 2);
    await until('a curve of the second run', async () => (await value("document.querySelectorAll('#curves path.c1').length")) > 0);
    await until('the settings', async () => (await text('#settings')).includes('epochs: 12'));
  },
  'the report has before and after': async () => {
    const page = await value("fetch(document.querySelector('#runs a').href).then((r) => r.text())");
    check(page.includes('before') && page.includes('after-1'), page.slice(0, 200));
    const policy = await value("fetch(document.querySelector('#runs a').href).then((r) => r.headers.get('Content-Security-Policy'))");
    check(policy.startsWith('sandbox allow-scripts'), policy);
  },
  'training that fails says why': async () => {
    writeFileSync(join(data, 'r4.yaml'), 'data: .\ndata.mask_means: irrelevant\nepochs: many\n');
    await click('#train');
    await until('why', async () => /r4.yaml.*epochs/.test(await text('#step-train .failed')));
  },
};

const looks = {
  'nothing is wider than the screen, in any step': async () => {
    for (const step of ['find', 'mark', 'train']) {
      await value(`location.hash = '#${step}'; 0`);
      await pause(500);
      for (const width of [390, 768, 1280]) {
        await resize(width);
        const wide = await tooWide(width);
        check(!wide, `${step} at ${width} pixels: ${wide}`);
      }
    }
  },
  'light and dark': async () => {
    const ground = () => value('getComputedStyle(document.body).backgroundColor'), light = await ground();
    await click('#theme');
    check((await ground()) !== light, 'the ground stays');
    await click('#theme');
    check((await ground()) === light, 'light does not come back');
  },
  'controls have names': async () => {
    const bad = await value(`[...document.querySelectorAll('button, input, select, canvas, img')].filter((e) => !e.hidden && !(e.textContent.trim() ||
      e.getAttribute('aria-label') || e.labels?.length || e.getAttribute('alt') !== null)).map((e) => e.outerHTML.slice(0, 80)).join(', ')`);
    check(!bad, bad);
  },
  'nothing left the machine, and nothing was complained of': async () => {
    const own = (url) => /^(http:\/\/127\.0\.0\.1:|about:|blob:|data:)/.test(url);
    check(requests.every(own), requests.filter((url) => !own(url)).join(' '));
    check(requests.length > 50, 'no requests were seen');
    const odd = heard.filter((line) => !/409 \(Conflict\)|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(line)); // two tabs, and the killed server
    check(!odd.length, odd.join(' | '));
  },
};

if (!axe) looks['axe finds nothing serious # SKIP AXE names no axe.min.js (npm pack axe-core)'] = async () => {};
else looks['axe finds nothing serious'] = async () => {
  await send('Page.setBypassCSP', { enabled: true }); // for axe alone
  await open();
  await value(readFileSync(axe, 'utf8') + '; 0');
  for (const theme of ['light', 'dark'])
    for (const step of ['find', 'mark', 'train']) {
      await value(`document.documentElement.dataset.theme = '${theme}'; location.hash = '#${step}'; 0`);
      await pause(800);
      const bad = await value(`axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' +
        v.nodes.slice(0, 3).map((n) => n.html.slice(0, 90)).join(' ')).join(' | '))`);
      check(!bad, `${step}, ${theme}: ${bad}`);
    }
};

const back = { 'the photos are still served': async () => open() };
const all = [['find', finds], ['mark', marksTests], ['train', trains], ['texts', textTests(folder, r4, axe)], ['texts', back], ['page', looks]];
const guard = setTimeout(() => { console.log('Bail out! the browser does not answer'); browser.kill(); server?.kill('SIGKILL'); process.exit(1); }, 240000);
await serve();
await start();
await open();
console.log(`1..${all.reduce((sum, [, tests]) => sum + Object.keys(tests).length, 0)}`);
let good = true;
for (const [kind, tests] of all) good = await runTests(kind, tests) && good;
clearTimeout(guard);
await close();
await kill('SIGTERM');
process.exit(good ? 0 : 1);
