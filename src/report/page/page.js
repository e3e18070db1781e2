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

/* ---- Two maps beside each other, of an image behind it ---- */

const controls = document.getElementById('compare');
const [left, right, map] = ['left', 'right', 'map'].map((id) => document.getElementById(id));
const views = [];

const tileOf = (example, run) =>
  example.querySelector(`.tile[data-run="${run}"][data-map="${map.value}"]`) ||
  example.querySelector(`.tile[data-run="${run}"][data-map="gradient"]`);

const choose = () => {
  for (const view of views)
    [left, right].forEach((select, k) =>
      view.sides[k].replaceChildren(...tileOf(view.example, select.value).cloneNode(true).childNodes));
};

const addView = (example) => {
  const tiles = example.querySelector('.tiles'), compare = make('div', 'compare');
  const image = example.querySelector('.tile[data-map="image"]');
  const view = { example, sides: [make('figure', 'tile'), make('figure', 'tile')] };
  if (image) compare.append(image.cloneNode(true));
  compare.append(...view.sides);
  tiles.before(compare);
  tiles.open = false;
  views.push(view);
};

if (controls) {
  all(document, '.example').forEach(addView);
  for (const select of [left, right, map]) select.addEventListener('change', choose);
  controls.hidden = false;
  choose();
}
