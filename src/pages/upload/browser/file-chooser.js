import { formatSize } from './card-text.js';
import { guessFields } from './file-names.js';
import { copyTemplate, findPart } from './page-parts.js';

/** @import { TrackField } from '../upload-types.ts' */

/** @typedef {{ file: File, field: TrackField, isDecided: boolean }} ChosenFile isDecided: the user chose the field */

const MAX_FILES = 2;
const [drop, list] = [findPart('drop'), findPart('chosen')];
/** @type {HTMLInputElement} */
const input = findPart('choose');
/** @type {ChosenFile[]} */
let chosen = [];
/** @type {{ onChange: (files: readonly File[]) => void, onMessage: (message: string) => void }} */
let listeners = { onChange: () => undefined, onMessage: () => undefined };

/** The chosen or dropped files of a new recording. */
export const fileChooser = {
  /** @param {typeof listeners} on the message may be empty */
  listen: (on) => {
    listeners = on;
  },
  /** @returns {ReadonlyMap<TrackField, File>} */
  files: () => new Map(chosen.map(({ file, field }) => [field, file])),
  clear: () => show([]),
  focus: () => input.focus(),
};

/** @param {readonly File[]} files */
function add(files) {
  const { onMessage } = listeners;
  if (drop.hidden) return onMessage('Save or discard the changes to this recording first.');
  const empty = files.find(({ size }) => size === 0);
  if (empty) return onMessage(`“${empty.name}” is empty or a folder.`);
  const known = chosen.map(({ file }) => file);
  const all = [...known, ...files.filter((file) => !known.some((each) => isSameFile(each, file)))];
  if (all.length > MAX_FILES) {
    return onMessage('A recording has one or two files. Upload this recording before you choose the next.');
  }
  onMessage('');
  const guessed = guessFields(all.map(({ name }) => name));
  const decided = chosen.find(({ isDecided }) => isDecided);
  show(
    all.map((file, i) => {
      if (!decided) return { file, field: guessed[i] ?? 'presenter', isDecided: false };
      const field = (file === decided.file) === (decided.field === 'presenter') ? 'presenter' : 'presentation';
      return { file, field, isDecided: true };
    }),
  );
}

/** @param {ChosenFile[]} files */
function show(files) {
  chosen = files;
  list.replaceChildren(...files.map(makeRow));
  list.hidden = files.length === 0;
  listeners.onChange(files.map(({ file }) => file));
}

/** @param {ChosenFile} entry */
function makeRow(entry) {
  const row = copyTemplate('chosen-file');
  const { name, size } = entry.file;
  findPart('name', row).textContent = name;
  findPart('size', row).textContent = formatSize(size);
  /** @type {HTMLSelectElement} */
  const select = findPart('field', row);
  select.value = entry.field;
  select.setAttribute('aria-label', `Content of ${name}`);
  select.addEventListener('change', () => decideField(entry, select.value === 'presenter'));
  const remove = findPart('remove', row);
  remove.setAttribute('aria-label', `Remove ${name}`);
  remove.addEventListener('click', () => {
    show(chosen.filter((each) => each !== entry));
    input.focus();
  });
  return row;
}

/** Gives a file its field and another file the other field. @param {ChosenFile} entry @param {boolean} isPresenter */
function decideField(entry, isPresenter) {
  for (const [i, each] of chosen.entries()) {
    each.field = (each === entry) === isPresenter ? 'presenter' : 'presentation';
    each.isDecided = true;
    const select = list.querySelectorAll('select')[i];
    if (select) select.value = each.field;
  }
}

/** @param {File} a @param {File} b */
const isSameFile = (a, b) => a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;

input.addEventListener('change', () => {
  add([...(input.files ?? [])]);
  // The same file can be chosen again.
  input.value = '';
});

// The whole page accepts files: a browser would leave the page for a file dropped elsewhere.
let inside = 0;
const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') === true;
const highlight = (/** @type {number} */ change) => {
  inside = Math.max(0, inside + change);
  drop.classList.toggle('over', inside > 0);
};
addEventListener('dragenter', (event) => hasFiles(event) && highlight(1));
addEventListener('dragleave', (event) => hasFiles(event) && highlight(-1));
addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
addEventListener('drop', (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  highlight(-inside);
  add([...(event.dataTransfer?.files ?? [])]);
});
