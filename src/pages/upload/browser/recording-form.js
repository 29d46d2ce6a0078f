import { fileChooser } from './file-chooser.js';
import { guessTitle } from './file-names.js';
import { findPart, showMessage } from './page-parts.js';
import { seriesField } from './series-field.js';
import { queue } from './session.js';

/** @import { Audience, Details, QueueItem } from '../upload-types.ts' */

/** @type {HTMLFormElement} */
const form = findPart('form');
const [drop, fault, discard] = [findPart('drop'), findPart('fault'), findPart('discard')];
const [heading, submit] = [findPart('heading', form), findPart('submit', form)];
/** @type {HTMLInputElement} */
const title = findPart('title', form);
/** @type {HTMLInputElement} */
const start = findPart('start', form);
/** @type {HTMLTextAreaElement} */
const presenters = findPart('presenters', form);
/** @type {HTMLSelectElement} */
const audience = findPart('audience', form);
/** Fields that the user has filled in. Files do not change them. */
let filled = { title: false, start: false, audience: false };
/** @type {QueueItem | undefined} */
let edited;

/** Edits the details of an uploaded recording. @param {QueueItem} item */
export function editDetails(item) {
  const { details } = item.recording;
  reset(item);
  seriesField.set(details.series);
  title.value = details.title;
  start.value = localTime(new Date(details.start));
  presenters.value = details.presenters.join('\n');
  audience.value = details.audience;
  title.focus();
}

/** Empties the form for a new recording or one to edit. @param {QueueItem} [item] */
function reset(item) {
  const isEdit = item !== undefined;
  edited = item;
  filled = { title: isEdit, start: isEdit, audience: isEdit };
  fileChooser.clear();
  seriesField.set(undefined);
  title.value = start.value = presenters.value = '';
  audience.value = 'users';
  drop.hidden = isEdit;
  discard.hidden = !isEdit;
  heading.textContent = isEdit ? 'Edit recording' : 'New recording';
  submit.textContent = isEdit ? 'Save' : 'Upload';
  showMessage(fault, '');
}

/** @returns {Details | { focus: () => void, message: string }} */
function readDetails() {
  if (title.value.trim() === '') return { focus: () => title.focus(), message: 'Enter a title.' };
  if (seriesField.isUndecided()) {
    const message = 'Choose a series from the list, or leave the field empty.';
    return { focus: seriesField.focus, message };
  }
  const date = new Date(start.value);
  if (Number.isNaN(date.getTime())) {
    return { focus: () => start.focus(), message: 'Enter the start of the recording.' };
  }
  return {
    title: title.value.trim(),
    series: seriesField.value(),
    presenters: presenters.value.split('\n').flatMap((line) => line.trim() || []),
    start: date.toISOString(),
    audience: /** @type {Audience} */ (audience.value),
  };
}

/** Formats an instant as the value of a `datetime-local` field. @param {Date} date */
const localTime = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const files = fileChooser.files();
  if (!edited && files.size === 0) {
    showMessage(fault, 'Choose a file first.');
    return fileChooser.focus();
  }
  const details = readDetails();
  if ('message' in details) {
    showMessage(fault, details.message);
    return details.focus();
  }
  const refusal = edited && queue.changeDetails(edited, details);
  if (!edited) queue.add(details, files);
  reset();
  showMessage(fault, refusal ?? '');
  fileChooser.focus();
});
discard.addEventListener('click', () => {
  reset();
  fileChooser.focus();
});
for (const [name, field] of Object.entries({ title, start, audience })) {
  field.addEventListener('input', () => Object.assign(filled, { [name]: field.value !== '' }));
}
fileChooser.listen({
  onMessage: (message) => showMessage(fault, message),
  onChange: (files) => {
    if (!filled.title) title.value = guessTitle(files.map(({ name }) => name));
    const earliest = Math.min(...files.map(({ lastModified }) => lastModified));
    if (!filled.start) start.value = files.length > 0 ? localTime(new Date(earliest)) : '';
  },
});
seriesField.listen((series) => {
  // The access list of the series needs a series.
  const option = /** @type {HTMLOptionElement} */ (audience.querySelector('[value="series"]'));
  option.disabled = option.hidden = !series;
  if (!filled.audience || (!series && audience.value === 'series')) {
    audience.value = series ? 'series' : 'users';
  }
});
reset();
