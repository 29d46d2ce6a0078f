import type { Segment } from './transcript.ts';

/** The transcript of a part of a recording. Times are in milliseconds of the recording. */
export interface TranscribedPart {
  begin: number;
  end: number;
  segments: readonly Segment[];
}

/** A word with the space and punctuation behind it. */
interface Word {
  /** For comparisons. */
  key: string;
  text: string;
  /** Estimated from its place in the segment. */
  begin: number;
  end: number;
  segment: number;
}

/** Fewer equal words may be chance. */
const LEAST_COMMON_WORDS = 3;
/** Far more than anyone says in an overlap; recognizers may repeat words endlessly. */
const MOST_COMPARED = 1000;
/** The same words are not further apart in two transcripts. */
const DRIFT_MS = 6000;

/**
 * Joins the transcripts of parts in the order of time. Where two parts overlap, the transcript changes in the middle of
 * the longest run of words that both have; without one, in the middle of the overlap. So a sentence at a border, which a
 * part may have cut off, is neither doubled nor lost.
 */
export function joinTranscripts(parts: readonly TranscribedPart[]): Segment[] {
  let joined: Segment[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const part of parts) {
    joined = part.begin < end ? joinOverlap(joined, part, end) : [...joined, ...part.segments];
    end = Math.max(end, part.end);
  }
  return joined;
}

function joinOverlap(before: readonly Segment[], { begin, segments }: TranscribedPart, end: number): Segment[] {
  const first = before.findIndex((segment) => segment.end > begin);
  const settled = first < 0 ? before : before.slice(0, first);
  const last = segments.findLastIndex((segment) => segment.begin < end);
  const head = wordsOf(first < 0 ? [] : before.slice(first));
  const tail = wordsOf(segments.slice(0, last + 1));
  const common = longestCommonRun(
    head.filter((word) => word.end > begin).slice(-MOST_COMPARED),
    tail.filter((word) => word.begin < end).slice(0, MOST_COMPARED),
  );
  const middle = (begin + end) / 2;
  const kept = common ? head.slice(0, head.indexOf(common.left) + 1) : head.filter((word) => centre(word) < middle);
  const added = common ? tail.slice(tail.indexOf(common.right) + 1) : tail.filter((word) => centre(word) >= middle);
  return [...settled, ...segmentsOf(kept), ...segmentsOf(added), ...segments.slice(last + 1)];
}

function centre({ begin, end }: Word): number {
  return (begin + end) / 2;
}

/** Finds the longest run of words that both have, and returns the word in its middle from each. */
function longestCommonRun(left: readonly Word[], right: readonly Word[]): { left: Word; right: Word } | undefined {
  let best = { length: LEAST_COMMON_WORDS - 1, at: -1, in: -1 };
  let above = new Uint32Array(right.length + 1);
  for (const [i, one] of left.entries()) {
    const row = new Uint32Array(right.length + 1);
    for (const [j, other] of right.entries()) {
      if (one.key !== other.key || Math.abs(one.begin - other.begin) > DRIFT_MS) continue;
      const length = (above[j] ?? 0) + 1;
      row[j + 1] = length;
      if (length > best.length) best = { length, at: i, in: j };
    }
    above = row;
  }
  const back = Math.floor(best.length / 2);
  const [one, other] = [left[best.at - back], right[best.in - back]];
  return best.at >= 0 && one && other ? { left: one, right: other } : undefined;
}

/** Divides segments into words. Works for scripts without spaces, too. */
function wordsOf(segments: readonly Segment[]): Word[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  return segments.flatMap(({ begin, end, text }, segment) => {
    const rate = (end - begin) / Math.max(1, text.length);
    const words: Word[] = [];
    for (const { segment: piece, index, isWordLike } of segmenter.segment(text)) {
      const word = words.at(-1);
      const until = begin + (index + piece.length) * rate;
      if (isWordLike || !word) {
        words.push({ key: piece.toLowerCase(), text: piece, begin: begin + index * rate, end: until, segment });
      } else Object.assign(word, { text: word.text + piece, end: until });
    }
    return words;
  });
}

function segmentsOf(words: readonly Word[]): Segment[] {
  return [...Map.groupBy(words, ({ segment }) => segment).values()].map((group) => ({
    begin: Math.round(group[0]?.begin ?? 0),
    end: Math.round(group.at(-1)?.end ?? 0),
    text: group
      .map(({ text }) => text)
      .join('')
      .trim(),
  }));
}
