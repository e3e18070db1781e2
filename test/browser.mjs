// Chromium for the tests of pages: PROGRAM CHROMIUM FOLDER .. Talks to it through pipes (the DevTools protocol); its
// profile, and what it downloads, go to FOLDER.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';

// ---- The protocol ----

const [chromium, folder] = process.argv.slice(2);
const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--no-first-run',
  '--disable-component-update', '--disable-background-networking', `--user-data-dir=${join(resolve(folder), 'profile')}`];
export const browser = spawn(chromium, [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const waiting = new Map(), listeners = [];
let last = 0, rest = Buffer.alloc(0);
browser.stdio[4].on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
    const message = JSON.parse(rest.subarray(0, end).toString());
    if (message.id) {
      const { done, fail } = waiting.get(message.id);
      waiting.delete(message.id);
      message.error ? fail(new Error(message.error.message)) : done(message.result);
    } else listeners.forEach((listen) => listen(message.method, message.params));
  }
});
let session;
export const send = (method, params = {}, own = session) => new Promise((done, fail) => {
  waiting.set(++last, { done, fail });
  browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId: own }) + '\0');
});
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
export const event = (name) => new Promise((done) => listeners.push((method) => method === name && done()));

export async function value(expression) {
  const got = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
  if (got.exceptionDetails) throw new Error(got.exceptionDetails.exception?.description ?? expression);
  return got.result.value;
}

export async function until(what, expression) {
  for (let k = 0; k < 50; k++, await pause(100)) if (await expression()) return;
  throw new Error(`waited in vain: ${what}`);
}

// ---- Hands ----

export async function key(name, text) {
  const common = { key: name, code: name === ' ' ? 'Space' : name, windowsVirtualKeyCode: { Enter: 13, ' ': 32, ArrowRight: 39, ArrowLeft: 37, Home: 36, Tab: 9 }[name] };
  await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...common });
  await send('Input.dispatchKeyEvent', { type: 'keyUp', ...common });
}

// Where it is once the page has come to rest: a change of focus scrolls smoothly, and may go on.
export const box = (selector) => value(`(async () => { const e = document.querySelector(${JSON.stringify(selector)});
  for (let last;;) {
    e.scrollIntoView({ block: 'center', behavior: 'instant' });
    const b = e.getBoundingClientRect(), now = JSON.stringify({ x: b.x, y: b.y, width: b.width, height: b.height });
    if (now === last) return JSON.parse(now);
    last = now;
    await new Promise((done) => setTimeout(done, 150));
  } })()`);

export async function press(x, y, kind) {
  await send('Input.dispatchMouseEvent', { type: kind, x, y, button: 'left', buttons: kind === 'mouseReleased' ? 0 : 1, clickCount: 1 });
}

export async function click(selector) {
  const b = await box(selector), x = b.x + b.width / 2, y = b.y + b.height / 2;
  await press(x, y, 'mousePressed');
  await press(x, y, 'mouseReleased');
}

export const focus = (selector) => value(`document.querySelector(${JSON.stringify(selector)}).focus()`);

export async function resize(width, media = '') {
  await send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await send('Emulation.setEmulatedMedia', { media });
  await pause(100);
}

// ---- Checks ----

export const check = (good, what) => { if (!good) throw new Error(what); };
export const heard = [], requests = [];
listeners.push((method, p) => {
  if (method === 'Runtime.consoleAPICalled') heard.push(p.args.map((a) => a.value).join(' '));
  if (method === 'Runtime.exceptionThrown') heard.push(`${p.exceptionDetails.text} ${p.exceptionDetails.exception?.description ?? ''}`.trim());
  if (method === 'Log.entryAdded') heard.push(p.entry.text);
  if (method === 'Network.requestWillBeSent') requests.push(p.request.url);
});

// What is wider than the page, by its tag and class.
export const tooWide = (width) => value(`(() => { const root = document.documentElement;
  if (root.scrollWidth <= ${width}) return '';
  return [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > ${width} + 1 &&
    !e.closest('.scroll, pre')).slice(0, 3).map((e) => e.outerHTML.slice(0, 80)).join(' | ') || 'scrollWidth ' + root.scrollWidth; })()`);

export async function start() {
  const { targetInfos } = await send('Target.getTargets', {}, undefined);
  const target = targetInfos.find((t) => t.type === 'page');
  ({ sessionId: session } = await send('Target.attachToTarget', { targetId: target.targetId, flatten: true }, undefined));
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  await send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: resolve(folder) }, undefined);
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'light' }] });
}

// ---- Tests ----

// Tests by name, in order; true if all of them pass.
let number = 0;
export async function runTests(kind, tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok ${++number} - ${kind}: ${name}`);
    } catch (error) {
      failed++;
      console.log(`not ok ${++number} - ${kind}: ${name}\n# ${String(error.message).replace(/\n/g, '\n# ')}`);
    }
  }
  return !failed;
}

export async function close() {
  const ended = new Promise((done) => browser.on('exit', done));
  await send('Browser.close', {}, undefined).catch(() => {});
  await Promise.race([ended, pause(5000)]);
}
