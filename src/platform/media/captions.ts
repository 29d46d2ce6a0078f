import { indexAbove, type KeptPart, placesOf } from './cutting.ts';

/** The largest file of captions: more than the words of a whole day. */
export const MAX_CAPTION_BYTES = 2 ** 21;

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
const TIMING = new RegExp(`^\\s*${TIME}\\s*-->\\s*${TIME}(.*)$`);
const STRICT_TIME = String.raw`(?:\d+:)?[0-5]\d:[0-5]\d\.\d{3}`;
const STRICT_SETTING = '(?:align:(?:start|center|end|left|right)|(?:line|position|size):\\d\\d?%)';
/** A caption without a name, as strict parsers accept it. */
const STRICT_CUE = new RegExp(`^${STRICT_TIME} --> ${STRICT_TIME}(?: ${STRICT_SETTING})*(?:\n(?!.*-->).*)*$`);
const COMMENT = /^NOTE(?![^ \t\n])(?![\s\S]*-->)/;
const WITHOUT_CUE = /^(?:NOTE|STYLE|REGION)(?![^ \t\n])/;
const TAG = /<(?:\/?[a-z]|\d)[^<>\n]*>/gi;
const WITHIN_CUE = new RegExp(`<${TIME}>`, 'g');
/** The named characters of WebVTT, and the numbers that `strictCaptions` writes. */
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', nbsp: '\u00A0', lrm: '\u200E', rlm: '\u200F' },
  ...{ '#38': '&', '#60': '<', '#62': '>' },
};
const REFERENCE = /&(amp|lt|gt|nbsp|lrm|rlm|#38|#60|#62);/g;
const WEBVTT = /^WEBVTT(?=[ \t\n]|$)/;
/** Browsers accept captions that begin directly below the first line. */
const CROWDED_HEADER = /^(WEBVTT[^\n]*)\n(?=[^\n]*-->)/;
/**
 * SubRip extras that WebVTT lacks: colours, and positions in another format. No match continues past the beginning of
 * the next one, so that crafted lines take only linear time.
 */
const SUBRIP_EXTRAS = /\{\\[^{}]*\}|<\/?font\b[^<>]*>/gi;

/**
 * Reads captions in WebVTT or SubRip, in UTF-8, UTF-16 with a byte order mark or Windows-1252, as old programs write.
 *
 * @returns WebVTT with plain line breaks; undefined for any other format and without captions
 */
export function readCaptions(bytes: Uint8Array): string | undefined {
  const text = decode(bytes).replaceAll(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD');
  const captions = WEBVTT.test(text) ? text.replace(CROWDED_HEADER, '$1\n\n') : fromSubRip(text);
  return captions !== undefined && hasCues(captions) ? captions : undefined;
}

/**
 * Returns the reason why a text is not WebVTT, as a clause; undefined if it is. Unlike `readCaptions`, accepts a text
 * without captions.
 */
export function webVttFault(text: string): string | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  if (!WEBVTT.test(lines[0] ?? '')) return "they must be WebVTT and begin with 'WEBVTT'";
  for (const [i, line] of lines.entries()) {
    if (!line.includes('-->')) continue;
    const [, ...times] = TIMING.exec(line) ?? [];
    if (times.length === 0) return `line ${i + 1} must have times such as 00:01.000 --> 00:02.500`;
    if (ms(times.slice(4, 8)) < ms(times.slice(0, 4))) return `the caption in line ${i + 1} ends before it begins`;
  }
  return undefined;
}

/**
 * Returns captions as the parser of the Opencast editor accepts them, which opens nothing that it finds a fault with:
 * those that have one without names, settings, styles and comments, in order. Characters stand for themselves or by
 * their numbers: after a name, the editor would save the semicolon as well. Voices and formatting are left out, as it puts
 * a corrected text into the first tag.
 *
 * @param captions WebVTT with plain line breaks
 */
export function strictCaptions(captions: string): string {
  return withoutNamedCharacters(withStrictCues(captions.replaceAll(TAG, '')));
}

function withoutNamedCharacters(captions: string): string {
  return (
    captions
      .replaceAll('--&gt;', '--&#62;')
      .replaceAll(/&amp;(?=#|amp|lt|gt|nbsp|lrm|rlm)/g, '&#38;')
      // It would begin a tag.
      .replaceAll('&lt;', '&#60;')
      .replaceAll(REFERENCE, (reference, name) => (name.startsWith('#') ? reference : (CHARACTERS[name] ?? '')))
  );
}

function withStrictCues(captions: string): string {
  const [header = '', ...blocks] = captions.split(/\n{2,}/);
  if (!header.includes('\n') && areStrict(blocks)) return captions;
  const cues: NonNullable<ReturnType<typeof cueIn>>[] = [];
  for (const block of blocks) {
    const cue = cueIn(block);
    if (cue) cues.push(cue);
    else if (!WITHOUT_CUE.test(block)) {
      // An empty line in a caption. The lines below it may be too many for the arguments of one call.
      for (const line of block.split('\n')) cues.at(-1)?.text.push(line);
    }
  }
  cues.sort((a, b) => a.begin - b.begin);
  const written = cues.map(({ begin, end, text }) => {
    const lines = text.filter((line) => line !== '').map((line) => line.replaceAll('-->', '--&gt;'));
    return [`${formatTime(begin)} --> ${formatTime(Math.max(end, begin + 1))}`, ...lines].join('\n');
  });
  return `${['WEBVTT', ...written].join('\n\n')}\n`;
}

function areStrict(blocks: readonly string[]): boolean {
  let last = 0;
  return blocks.every((block) => {
    if (block === '' || COMMENT.test(block)) return true;
    const cue = STRICT_CUE.test(block) ? cueIn(block) : undefined;
    if (!cue || cue.begin < last || cue.end <= cue.begin) return false;
    last = cue.begin;
    return true;
  });
}

/**
 * Moves captions to the times of the kept parts in the cut. Captions are shortened at the edges of a part and removed
 * outside; the rest of the file stays the same.
 *
 * @param captions WebVTT from `readCaptions`
 * @returns undefined when no caption is left
 */
export function cutCaptions(captions: string, parts: readonly KeptPart[]): string | undefined {
  const moved = movedTo(parts);
  const blocks = captions.split(/\n{2,}/).flatMap((block) => {
    const cue = cueIn(block);
    if (!cue) return [block];
    const [begin, end] = [Math.round(moved(cue.begin)), Math.round(moved(cue.end))];
    if (begin >= end) return [];
    const text = cue.text.map((line) =>
      line.replaceAll(WITHIN_CUE, (...at) => `<${formatTime(moved(ms(at.slice(1, 5))))}>`),
    );
    return [[...cue.before, `${formatTime(begin)} --> ${formatTime(end)}${cue.settings}`, ...text].join('\n')];
  });
  const left = `${blocks.join('\n\n').trimEnd()}\n`;
  return hasCues(left) ? left : undefined;
}

/** A text of captions. Times are in milliseconds. */
export interface Cue {
  begin: number;
  end: number;
  text: string;
}

/** Returns the plain texts of captions, without markup. @param captions WebVTT from `readCaptions` */
export function captionCues(captions: string): Cue[] {
  return captions.split(/\n{2,}/).flatMap((block) => {
    const cue = cueIn(block);
    if (!cue) return [];
    const marked = cue.text.join('\n').replaceAll(/<[^<>]*>/g, '');
    const text = marked.replaceAll(REFERENCE, (_, name) => CHARACTERS[name] ?? '');
    const plain = text.replaceAll('\u00A0', ' ').replaceAll(/[\u200E\u200F]/g, '');
    return [{ begin: cue.begin, end: cue.end, text: plain }];
  });
}

/** Returns WebVTT with a plain text in each cue. */
export function writeCaptions(cues: readonly Cue[]): string {
  const blocks = cues.map(({ begin, end, text }) => {
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `${formatTime(begin)} --> ${formatTime(end)}\n${escaped}`;
  });
  return `${['WEBVTT', ...blocks].join('\n\n')}\n`;
}

/** Returns a function that maps a time of the recording to one of the cut. */
function movedTo(parts: readonly KeptPart[]): (at: number) => number {
  const places = placesOf(parts);
  const begins = places.map(({ begin }) => begin);
  return (at) => {
    const place = places[indexAbove(begins, at) - 1];
    return place ? place.from + Math.min(place.end, at) - place.begin : 0;
  };
}

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Converts SubRip. A line with times begins a caption; the number above it is ignored. Text may have empty lines. */
function fromSubRip(text: string): string | undefined {
  const lines = text.trimStart().split('\n');
  const starts = lines.flatMap((line, i) => (TIMING.test(line) ? [i] : []));
  if (starts[0] === undefined || starts[0] > 1) return undefined;
  const cues = starts.map((start, i) => {
    const [, ...times] = TIMING.exec(lines[start] ?? '') ?? [];
    const next = starts[i + 1] ?? lines.length;
    const end = next < lines.length && /^\s*\d+\s*$/.test(lines[next - 1] ?? '') ? next - 1 : next;
    const spoken = lines.slice(start + 1, end).flatMap((line) => (line && subRipText(line)) || []);
    return [`${formatTime(ms(times.slice(0, 4)))} --> ${formatTime(ms(times.slice(4, 8)))}`, ...spoken].join('\n');
  });
  return `WEBVTT\n\n${cues.join('\n\n')}\n`;
}

function subRipText(line: string): string {
  return line
    .replaceAll(SUBRIP_EXTRAS, '')
    .replaceAll(/&(?!(?:amp|lt|gt);)/g, '&amp;')
    .replaceAll(/<(?!\/?[biu]>)/gi, '&lt;')
    .replaceAll('-->', '--&gt;')
    .trim();
}

function hasCues(captions: string): boolean {
  return captions.split(/\n{2,}/).some((block) => cueIn(block) !== undefined);
}

/**
 * Parses a block that has its times in the first line or below its name; other blocks are undefined. Times are in
 * milliseconds.
 */
function cueIn(block: string) {
  const lines = block.split('\n');
  const at = lines.slice(0, 2).findIndex((line) => TIMING.test(line));
  const [, ...times] = TIMING.exec(lines[at] ?? '') ?? [];
  if (times.length === 0) return undefined;
  return {
    before: lines.slice(0, at),
    begin: ms(times.slice(0, 4)),
    end: ms(times.slice(4, 8)),
    settings: times[8] ?? '',
    text: lines.slice(at + 1),
  };
}

function ms([hours = '0', minutes = '0', seconds = '0', fraction = '0']: readonly (string | undefined)[]): number {
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, '0'));
}

function formatTime(milliseconds: number): string {
  const all = Math.round(milliseconds);
  const digits = (value: number, count: number) => String(Math.floor(value)).padStart(count, '0');
  const clock = [all / 3_600_000, (all / 60_000) % 60, (all / 1000) % 60].map((part) => digits(part, 2));
  return `${clock.join(':')}.${digits(all % 1000, 3)}`;
}
