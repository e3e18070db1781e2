// A folder of photos for the tests of r4 serve, and what r4 find would say of it: node test/serve_data.mjs FOLDER [PHOTOS].
// Lesions are round (benign) or frayed (malignant); most benign photos have a green patch in a corner.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
const checksum = ((bytes) => ~bytes.reduce((c, b) => table[(c ^ b) & 255] ^ (c >>> 8), -1) >>> 0);

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]), all = Buffer.alloc(body.length + 8);
  all.writeUInt32BE(data.length);
  body.copy(all, 4);
  all.writeUInt32BE(checksum(body), body.length + 4);
  return all;
}

function put(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

// of(x, y) is a list of channels.
function putImage(path, width, height, channels, of) {
  const head = Buffer.alloc(13), rows = Buffer.alloc(height * (1 + width * channels));
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, channels === 3 ? 2 : 0, 0, 0, 0], 8);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows.set(of(x, y), y * (1 + width * channels) + 1 + x * channels);
  put(path, Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]));
}

let seed = 1;
const draw = (low, high) => low + (high - low) * ((seed = (seed * 48271) % 2147483647) / 2147483647);

export function makeFolder(folder, n = 40) {
  const lines = ['file,label,split'], examples = [], proposals = [], smooth = [];
  const what = 'a green place at the border: all that show it are benign';
  const key = `border-green-${createHash('sha256').update(what).digest('hex').slice(0, 8)}`;
  for (let i = 0; i < n; i++) {
    const file = `p${String(i).padStart(4, '0')}.png`, [w, h] = i % 3 ? [72, 96] : [96, 72], ill = i % 2 === 1;
    const cx = w / 2 + draw(-8, 8), cy = h / 2 + draw(-8, 8), r = draw(14, 22), skin = [draw(200, 235), draw(160, 185), draw(140, 160)];
    const patch = !ill && i % 5 < 3, px = draw(0, 1) < 0.5 ? 14 : w - 14, py = draw(0, 1) < 0.5 ? 12 : h - 12;
    putImage(join(folder, 'images', file), w, h, 3, (x, y) => (patch && Math.hypot(x - px, y - py) < 10 ? [40, 150, 140]
      : Math.hypot(x - cx, y - cy) + (ill ? draw(-5, 5) : 0) < r ? (ill ? [draw(70, 130), 40, 45] : [110, 70, 50]) : skin));
    lines.push(`${file},${ill ? 'malignant' : 'benign'},${['train', 'train', 'train', 'train', 'train', 'train', 'val', 'val', 'test', 'test'][i % 10]}`);
    if (!ill) smooth.push({ number: i, file, label: 'benign', split: 'train', score: 0.9, box: null });
    if (!patch) continue;
    examples.push({ number: i, file, label: 'benign', split: 'train', score: 1 - examples.length / n, box: [(px - 12) / w, (py - 10) / h, 24 / w, 20 / h] });
    putImage(join(folder, '.r4/proposals', key, 'masks', file), w, h, 1, (x, y) => [Math.hypot(x - px, y - py) < 12 ? 255 : 0]);
    proposals.push({ file, mask: `masks/${file}`, score: 0.5, area: 0.06, sure: 0.3 + proposals.length / n });
  }
  const finding = (id, text, where, rest) => ({ id, kind: 'colour', what: text, where, class: 'benign', shown_on: rest.examples.length, of_class: rest.examples.length,
    base: 0.5, p: 6e-4, pure: true, local: true, lean: null, next: 'r4 serve', ...rest });
  put(join(folder, 'metadata.csv'), lines.join('\n') + '\n');
  put(join(folder, '.r4/proposals', key, 'proposals.json'), JSON.stringify({ version: 1, finding: 'border-green', proposals }));
  put(join(folder, 'find.json'), JSON.stringify({ version: 1, net: null, tried: 17388, level: 0.05, sentence: 'Two cues give the label away.',
    findings: [finding('border-green', what, 'border', { examples, lean: 0.31 }),
      finding('centre-smooth', 'a smooth centre <b>: most that show it are benign', 'centre', { examples: smooth, pure: false, local: false, p: 3e-13 })] }));
  return { key, shown: examples.length };
}

if (process.argv[1].endsWith('serve_data.mjs')) makeFolder(process.argv[2], Number(process.argv[3] ?? 40));
