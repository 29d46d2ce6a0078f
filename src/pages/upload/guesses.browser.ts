import type { Field } from './recording.ts';

/** What files tell by their names. */
export interface Guesses {
  /** As what each of one or two files is meant. */
  fields(names: readonly string[]): Field[];
  /** What a recording may be called; empty when the names tell nothing. */
  title(names: readonly string[]): string;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createGuesses(): Guesses {
  const PRESENTATION = [
    ...['presentation', 'presentations', 'slides', 'slide', 'screen', 'screencast', 'desktop'],
    ...['vga', 'hdmi', 'beamer', 'projector', 'folien', 'powerpoint', 'keynote'],
  ];
  const PRESENTER = ['presenter', 'presenters', 'camera', 'cam', 'webcam', 'speaker', 'lecturer', 'kamera'];
  const wordsOf = (name: string) => name.toLowerCase().split(/[^\p{L}]+/u);
  const has = (name: string, words: readonly string[]) => wordsOf(name).some((word) => words.includes(word));
  const shows = (name: string): Field | undefined =>
    has(name, PRESENTATION) ? 'presentation' : has(name, PRESENTER) ? 'presenter' : undefined;

  const titleOf = (name: string) => {
    const words = name
      .replace(/\.[^.]{1,5}$/, '')
      .split(/[_\s]+|\.(?=\p{L})|(?<!\d)-|-(?!\d)/u)
      .filter((word) => word !== '');
    while (words.length > 0 && shows(words.at(-1) ?? '')) words.pop();
    while (words.length > 0 && shows(words[0] ?? '')) words.shift();
    return words.join(' ');
  };

  return {
    fields: ([first = '', second]) => {
      if (second === undefined) return [shows(first) ?? 'presenter'];
      const [one, other] = [shows(first), shows(second)];
      const swapped = (one === 'presentation' && other !== 'presentation') || (!one && other === 'presenter');
      return swapped ? ['presentation', 'presenter'] : ['presenter', 'presentation'];
    },
    title: (names) => {
      const [first = '', second = first] = names.map(titleOf);
      if (first === second) return first;
      // What both begin with, if that is more than a word or two of chance.
      const words = first.split(' ');
      const differs = second.split(' ').findIndex((word, i) => word !== words[i]);
      const common = words.slice(0, differs < 0 ? words.length : differs).join(' ');
      return common.length >= 3 ? common : first || second;
    },
  };
}
