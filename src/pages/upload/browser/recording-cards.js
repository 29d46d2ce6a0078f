import { formatFigures, formatPercent, formatState } from './card-text.js';
import { copyTemplate, findPart, showMessage } from './page-parts.js';
import { editDetails } from './recording-form.js';
import { byteTotals } from './recording-transfers.js';
import { queue } from './session.js';
import { openSignIn } from './sign-in-dialog.js';

/** @import { QueueItem } from '../upload-types.ts' */

/** @typedef {{ element: HTMLElement, announced: string, announcedAt: number }} Card */

const [section, heading, list] = [findPart('recordings'), findPart('recordings-heading'), findPart('cards')];
/** The interval at which progress is announced. Changes are announced immediately. */
const ANNOUNCE_MS = 30_000;
const ANNOUNCED_MS = 10_000;
const REDRAW_MS = 100;
/** @type {Map<QueueItem, Card>} */
const cards = new Map();
/** @type {Set<QueueItem>} */
const changed = new Set();

/** Updates or removes the card of an item. @param {QueueItem} item */
export function showCard(item) {
  const known = cards.get(item);
  if (!queue.items.includes(item)) return removeCard(item, known);
  if (!known) addCard(item);
  section.hidden = false;
  // A timer also runs in hidden windows, unlike animation frames.
  if (changed.size === 0) setTimeout(draw, known ? REDRAW_MS : 0);
  changed.add(item);
}

/** Focuses a sign-in button or the list if nothing is focused. */
export function focusCards() {
  const focused = document.activeElement;
  // A hidden element keeps the focus for a moment.
  if (focused !== document.body && !focused?.closest('[hidden], dialog:not([open])')) return;
  /** @type {HTMLElement | null} */
  const signIn = list.querySelector('[data-part="sign-in"]:not([hidden])');
  (signIn ?? heading).focus();
}

/** @param {QueueItem} item */
function addCard(item) {
  const element = copyTemplate('card');
  const { recording } = item;
  const on = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    findPart(name, element).addEventListener('click', act);
  on('pause', () => queue.pause(item));
  on('resume', () => queue.resume(item));
  on('edit', () => editDetails(item));
  on('sign-in', openSignIn);
  on('remove', () => {
    const question = `Cancel “${recording.details.title}”? Its uploaded files are deleted.`;
    if (isProcessed(item) || confirm(question)) void queue.remove(item);
  });
  /** @type {HTMLInputElement} */
  const choose = findPart('again', element);
  choose.addEventListener('change', () => {
    const refusal = queue.supplyFiles(item, [...(choose.files ?? [])]);
    choose.value = '';
    showMessage(findPart('hint', element), refusal ?? '');
  });
  choose.setAttribute('aria-label', `Choose the files of ${recording.details.title} again`);
  choose.multiple = recording.files.length > 1;
  cards.set(item, { element, announced: '', announcedAt: Number.NEGATIVE_INFINITY });
  list.prepend(element);
}

/** @param {QueueItem} item @param {Card | undefined} card */
function removeCard(item, card) {
  const next = card?.element.nextElementSibling ?? card?.element.previousElementSibling;
  card?.element.remove();
  cards.delete(item);
  // Move the focus to the next card, not to the top of the page.
  if (!section.hidden && document.activeElement === document.body) {
    (next ? findPart('title', next) : heading).focus();
  }
  section.hidden = cards.size === 0;
}

function draw() {
  for (const item of changed) {
    const card = cards.get(item);
    if (!card) continue;
    // An element loses the focus when it is hidden.
    const focused = document.activeElement;
    fillCard(card.element, item);
    keepFocus(card.element, focused);
    announce(item, card);
  }
  changed.clear();
}

/** Announces a change in a separate line, so that the next change does not replace it. @param {QueueItem} item @param {Card} card */
function announce(item, card) {
  const { recording, condition } = item;
  const news = `${recording.details.title}: ${formatState(item)}`;
  const now = performance.now();
  const isProgress = news === card.announced;
  if (isProgress && (condition !== 'uploading' || now - card.announcedAt < ANNOUNCE_MS)) return;
  const { sent, size } = byteTotals(recording.files);
  const line = document.createElement('p');
  const showsPercent = condition === 'uploading' && card.announced !== '';
  line.textContent = showsPercent ? `${news}, ${formatPercent(sent / size)}` : news;
  findPart('announcer').append(line);
  setTimeout(() => line.remove(), ANNOUNCED_MS);
  Object.assign(card, { announced: news, announcedAt: now });
}

/** @param {QueueItem} item */
const isProcessed = ({ condition }) => condition === 'over' || condition === 'processing';

/** @param {HTMLElement} element @param {QueueItem} item */
function fillCard(element, item) {
  const { recording, condition, watch } = item;
  const { title, series } = recording.details;
  const { sent, size } = byteTotals(recording.files);
  const names = recording.files.map(({ name }) => name).join(', ');
  element.dataset.condition = condition === 'over' && !watch ? 'unpublished' : condition;
  const texts = {
    title,
    facts: [series?.title, names].filter(Boolean).join(' · '),
    state: formatState(item),
    figures: formatFigures(item),
    resume: condition === 'failed' ? 'Retry' : 'Resume',
    remove: isProcessed(item) ? 'Remove from list' : 'Cancel',
  };
  for (const [name, text] of Object.entries(texts)) {
    const part = findPart(name, element);
    if (part.textContent !== text) part.textContent = text;
  }
  const visible = {
    bar: condition !== 'over',
    pause: condition === 'uploading' || condition === 'waiting' || condition === 'queued',
    resume: condition === 'paused' || condition === 'failed',
    edit: condition === 'failed' && recording.stage === 'event',
    'again-label': condition === 'needs files',
    'sign-in': condition === 'signed out',
    watch: watch !== undefined,
  };
  for (const [name, shown] of Object.entries(visible)) findPart(name, element).hidden = !shown;
  if (condition !== 'needs files') findPart('hint', element).hidden = true;
  if (watch) findPart('watch', element).setAttribute('href', watch);
  /** @type {HTMLProgressElement} */
  const bar = findPart('bar', element);
  bar.setAttribute('aria-label', `Upload of ${title}`);
  if (condition === 'creating' || condition === 'processing') bar.removeAttribute('value');
  else bar.value = sent / size;
}

/** Moves the focus from a hidden button to another one. @param {HTMLElement} element @param {Element | null} focused */
function keepFocus(element, focused) {
  if (!focused?.closest('[hidden]') || !element.contains(focused)) return;
  const names = ['watch', 'again', 'sign-in', 'resume', 'edit', 'pause'];
  const beside = names.map((name) => findPart(name, element)).find((each) => !each.closest('[hidden]'));
  (beside ?? findPart('title', element)).focus();
}
