import { toRequestError } from './api.js';
import { findPart } from './page-parts.js';
import { api } from './session.js';

/** @import { Series } from '../upload-types.ts' */

const PAUSE_MS = 200;
const MAX_FOUND = 20;
/** @type {HTMLInputElement} */
const input = findPart('series');
const [list, clear, status] = [findPart('series-list'), findPart('series-clear'), findPart('series-said')];

/** @type {Series | undefined} */
let chosen;
/** @type {Series[]} */
let found = [];
let active = -1;
let search = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {(series: Series | undefined) => void} */
let onChange = () => undefined;

/** A combobox for series, after the ARIA Authoring Practices. */
export const seriesField = {
  /** @param {typeof onChange} listener */
  listen: (listener) => {
    onChange = listener;
  },
  value: () => chosen,
  /** Returns true if the text is not a chosen series. */
  isUndecided: () => !chosen && input.value.trim() !== '',
  set: choose,
  focus: () => input.focus(),
};

/** @param {Series | undefined} series */
function choose(series) {
  chosen = series;
  input.value = series?.title ?? '';
  clear.hidden = !series;
  status.textContent = '';
  close();
  onChange(series);
}

function close() {
  clearTimeout(timer);
  search.abort();
  list.hidden = true;
  mark(-1);
  input.setAttribute('aria-expanded', 'false');
}

async function searchNow() {
  search.abort();
  search = new AbortController();
  const { signal } = search;
  try {
    const series = await api.searchSeries(input.value.trim(), signal);
    if (!signal.aborted && document.activeElement === input) show(series);
  } catch (error) {
    if (signal.aborted) return;
    close();
    const { status: code, message } = toRequestError(error);
    status.textContent = code === 403 ? 'This account may not search series.' : message;
  }
}

/** @param {Series[]} series */
function show(series) {
  found = series;
  const options = series.map((each, i) => {
    const option = document.createElement('li');
    option.id = `series-${i}`;
    option.setAttribute('role', 'option');
    option.textContent = each.title || each.id;
    option.addEventListener('click', () => choose(each));
    return option;
  });
  list.replaceChildren(...options);
  mark(-1);
  list.hidden = series.length === 0;
  input.setAttribute('aria-expanded', String(series.length > 0));
  const count = series.length === MAX_FOUND ? `The first ${MAX_FOUND}` : series.length;
  status.textContent = series.length === 0 ? 'No series found.' : `${count} found.`;
}

/** Marks a series. @param {number} index none if negative */
function mark(index) {
  active = index;
  for (const [i, option] of [...list.children].entries()) {
    option.setAttribute('aria-selected', String(i === index));
    if (i === index) option.scrollIntoView({ block: 'nearest' });
  }
  const option = list.children[index];
  if (option) input.setAttribute('aria-activedescendant', option.id);
  else input.removeAttribute('aria-activedescendant');
}

/** Marks the next or previous series; the last one precedes the first. @param {1 | -1} by */
function step(by) {
  mark(active < 0 && by < 0 ? found.length - 1 : (active + by + found.length) % found.length);
}

/** @param {KeyboardEvent} event */
function handleKey(event) {
  const { key, altKey } = event;
  const isOpen = !list.hidden;
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    event.preventDefault();
    if (!isOpen) void searchNow();
    else if (!altKey) step(key === 'ArrowDown' ? 1 : -1);
    else if (key === 'ArrowUp') close();
  } else if (key === 'Enter' && isOpen) {
    event.preventDefault();
    if (active >= 0 || found.length === 1) choose(found[Math.max(0, active)]);
  } else if (key === 'Escape') {
    event.preventDefault();
    if (isOpen) close();
    else choose(undefined);
  } else if (key === 'Tab' && isOpen && active >= 0) choose(found[active]);
}

input.addEventListener('input', () => {
  // The list belongs to the previous text.
  close();
  if (chosen) {
    chosen = undefined;
    clear.hidden = true;
    onChange(undefined);
  }
  timer = setTimeout(() => void searchNow(), PAUSE_MS);
});
input.addEventListener('click', () => {
  if (list.hidden && !chosen) void searchNow();
});
input.addEventListener('keydown', handleKey);
input.addEventListener('blur', close);
// The field keeps the focus, and the list stays open.
list.addEventListener('mousedown', (event) => event.preventDefault());
clear.addEventListener('click', () => {
  choose(undefined);
  input.focus();
});
