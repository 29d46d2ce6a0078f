/** @import { TrackField } from '../upload-types.ts' */

const PRESENTATION = [
  ...['presentation', 'presentations', 'slides', 'slide', 'screen', 'screencast', 'desktop'],
  ...['vga', 'hdmi', 'beamer', 'projector', 'folien', 'powerpoint', 'keynote'],
];
const PRESENTER = ['presenter', 'presenters', 'camera', 'cam', 'webcam', 'speaker', 'lecturer', 'kamera'];
/** Shorter common prefixes of two names are ignored. */
const SHORTEST_TITLE = 3;

/** Guesses the fields of one or two files from their names. @param {readonly string[]} names @returns {TrackField[]} */
export function guessFields([first = '', second]) {
  if (second === undefined) return [fieldOf(first) ?? 'presenter'];
  const [one, other] = [fieldOf(first), fieldOf(second)];
  const swapped = (one === 'presentation' && other !== 'presentation') || (!one && other === 'presenter');
  return swapped ? ['presentation', 'presenter'] : ['presenter', 'presentation'];
}

/** Guesses the title of a recording; may be empty. @param {readonly string[]} names */
export function guessTitle(names) {
  const [first = '', second = first] = names.map(titleOf);
  const words = first.split(' ');
  const differs = second.split(' ').findIndex((word, i) => word !== words[i]);
  const common = words.slice(0, differs < 0 ? words.length : differs).join(' ');
  return first === second || common.length < SHORTEST_TITLE ? first || second : common;
}

/** @param {string} name @returns {TrackField | undefined} */
function fieldOf(name) {
  const words = name.toLowerCase().split(/[^\p{L}]+/u);
  if (words.some((word) => PRESENTATION.includes(word))) return 'presentation';
  return words.some((word) => PRESENTER.includes(word)) ? 'presenter' : undefined;
}

/** @param {string} name */
function titleOf(name) {
  const words = name
    .replace(/\.[^.]{1,5}$/, '')
    .split(/[_\s]+|\.(?=\p{L})|(?<!\d)-|-(?!\d)/u)
    .filter((word) => word !== '');
  while (words.length > 0 && fieldOf(words.at(-1) ?? '')) words.pop();
  while (words.length > 0 && fieldOf(words[0] ?? '')) words.shift();
  return words.join(' ');
}
