/* The script of "r4 report": theme, downloads, and two nets side by side. The page is whole without it. */
'use strict';
const root = document.documentElement;
const all = (where, what) => Array.from(where.querySelectorAll(what));
const make = (name, kind, text) => {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text) element.textContent = text;
  return element;
};

/* ---- Theme ---- */

const theme = document.getElementById('theme');
const dark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches);
const showTheme = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
theme.hidden = false;
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  showTheme();
});
dark.addEventListener('change', showTheme);
showTheme();

/* ---- Downloads ---- */

const save = (text, type, name) => {
  const link = make('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

/* What begins like a formula would run in a spreadsheet; numbers are left as they are. */
const csvCell = (text) => {
  const isNumber = /^-?\d[\d.]*(e[+-]?\d+)?( ± [\d.]+(e[+-]?\d+)?)?$/i.test(text);
  const safe = /^\s*[=+@-]/.test(text) && !isNumber ? `'${text}` : text;
  return /[",;\n\r\t]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};
const csvOf = (table) =>
  all(table, 'tr').map((row) => all(row, 'th, td').map((cell) => csvCell(cell.textContent)).join(',') + '\r\n').join('');

/* As it looks now, without the style of the page. */
const svgOf = (svg) => {
  const copy = svg.cloneNode(true), from = all(svg, '*');
  all(copy, '*').forEach((element, k) => {
    const style = getComputedStyle(from[k]);
    for (const name of ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size'])
      element.setAttribute(name, style.getPropertyValue(name));
  });
  const [, , width, height] = svg.getAttribute('viewBox').split(' ');
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  ground.setAttribute('width', width);
  ground.setAttribute('height', height);
  ground.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
  copy.prepend(ground);
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
};

for (const figure of all(document, 'figure[data-file]')) {
  const get = make('p', 'get'), name = figure.dataset.file;
  const about = figure.querySelector('figcaption').textContent;
  const add = (kind, work) => {
    const button = make('button', '', kind);
    button.type = 'button';
    button.setAttribute('aria-label', `Download ${about} as ${kind}`);
    button.addEventListener('click', work);
    get.append(button);
  };
  if (figure.querySelector('svg.plot')) add('SVG', () => save(svgOf(figure.querySelector('svg.plot')), 'image/svg+xml', `${name}.svg`));
  add('CSV', () => save('\ufeff' + csvOf(figure.querySelector('table')), 'text/csv', `${name}.csv`));
  figure.append(get);
}

const figures = document.getElementById('figures'), footer = document.querySelector('footer');
const getAll = make('button', '', 'All figures as JSON');
getAll.type = 'button';
getAll.addEventListener('click', () => save(figures.textContent, 'application/json', 'figures.json'));
footer.append(make('p', 'get'));
footer.lastChild.append(getAll);

/* ---- Two maps: images over each other with a slider, texts beside each other ---- */

const controls = document.getElementById('compare');
const [left, right, map, wipe] = ['left', 'right', 'map', 'wipe'].map((id) => document.getElementById(id));
const views = [];

const tileOf = (example, run) =>
  example.querySelector(`.tile[data-run="${run}"][data-map="${map.value}"]`) ||
  example.querySelector(`.tile[data-run="${run}"][data-map="gradient"]`);

const nameOf = (select) => select.options[select.selectedIndex].text;

const slide = () => {
  if (!wipe) return;
  for (const view of views) {
    view.over.style.clipPath = `inset(0 0 0 ${wipe.value}%)`;
    view.edge.style.left = `${wipe.value}%`;
  }
  wipe.setAttribute('aria-valuetext', `${wipe.value} % ${nameOf(left)}, ${100 - wipe.value} % ${nameOf(right)}`);
};

const copyCaption = (tile, to, side) => {
  to.replaceChildren(make('span', '', `${side}: `), ...Array.from(tile.querySelector('figcaption').cloneNode(true).childNodes));
};

const choose = () => {
  for (const view of views) {
    const one = tileOf(view.example, left.value), two = tileOf(view.example, right.value);
    if (!wipe) {
      view.sides.forEach((side, k) => side.replaceChildren(...(k ? two : one).cloneNode(true).childNodes));
      continue;
    }
    for (const [img, tile] of [[view.under, one], [view.over, two]]) {
      img.src = tile.querySelector('img').src;
      img.alt = tile.querySelector('img').alt;
    }
    copyCaption(one, view.says[0], 'left');
    copyCaption(two, view.says[1], 'right');
  }
  slide();
};

const drag = (pic) => {
  const move = (event) => {
    const box = pic.getBoundingClientRect();
    wipe.value = Math.round((100 * (event.clientX - box.left)) / box.width);
    slide();
  };
  pic.addEventListener('pointerdown', (event) => {
    pic.setPointerCapture(event.pointerId);
    move(event);
  });
  pic.addEventListener('pointermove', (event) => { if (event.buttons) move(event); });
};

const addTexts = (example) => {
  const tiles = example.querySelector('.tiles'), compare = make('div', 'compare');
  const view = { example, sides: [make('figure', 'tile'), make('figure', 'tile')] };
  compare.append(...view.sides);
  tiles.before(compare);
  tiles.open = false;
  views.push(view);
};

const addImages = (example) => {
  const tiles = example.querySelector('.tiles'), compare = make('div', 'compare');
  const image = example.querySelector('.tile[data-map="image"] .pic').cloneNode(true);
  const pic = example.querySelector('.tile[data-run] .pic').cloneNode(true);
  const view = { example, under: pic.querySelector('img'), over: make('img', 'over'), edge: make('span', 'edge') };
  view.says = [make('p'), make('p')];
  view.under.draggable = view.over.draggable = false;
  view.under.after(view.over);
  pic.append(view.edge);
  pic.classList.add('wipeable');
  drag(pic);
  compare.append(image, pic, ...view.says);
  tiles.before(compare);
  tiles.open = false;
  views.push(view);
};

if (controls) {
  all(document, '.example').forEach(wipe ? addImages : addTexts);
  for (const select of [left, right, map]) select.addEventListener('change', choose);
  if (wipe) wipe.addEventListener('input', slide);
  controls.hidden = false;
  choose();
}

/* ---- Paper: all maps, as nobody can slide there ---- */

let opened = [];
addEventListener('beforeprint', () => {
  opened = all(document, 'details.tiles:not([open])');
  for (const details of opened) details.open = true;
});
addEventListener('afterprint', () => { for (const details of opened) details.open = false; });
