// Functions that the scripts of all pages share.
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

const counted = (number) => number.toLocaleString("en");

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Repeated parts are stored once: runs of lines, runs of equal cells.
function unpacked(columns) {
  const whole = columns.map(({ cells, runs, lengths }) =>
    cells || runs.flatMap((cell, at) => Array(lengths[at]).fill(cell)));
  return whole.length ? whole[0].map((_, row) => whole.map((cells) => cells[row])) : [];
}
