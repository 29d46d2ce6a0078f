import { InvalidXml, parseXml, type XmlElement } from '../text/xml.ts';
import type { VideoStream } from './streams.ts';

/** The flavor of the catalog that lists the kept parts of a recording. */
export const CUTTING = 'smil/cutting';

export const MAX_PARTS = 1000;
const MEDIA = ['video', 'audio', 'ref', 'media'];
/** Recorders write the largest possible number for "to the end". No recording lasts thirty years. */
const OPEN_FROM_MS = 1e12;
const UNITS = { h: 3_600_000, min: 60_000, s: 1000, ms: 1 };
const COUNTED = /^(\d+(?:\.\d*)?(?:e\+?\d{1,3})?)(h|min|s|ms)?$/i;
const CLOCK = /^(?:(\d{1,6}):)?([0-5]?\d):([0-5]?\d(?:\.\d*)?)$/;

/** A kept part of a recording. */
export interface CutPart {
  /** Milliseconds from the beginning of the recording, to a thousandth. */
  begin: number;
  /** The end, always after the beginning; undefined for the end of the recording. */
  end?: number;
}

/** A cutting catalog is invalid. The message is a clause without a full stop. */
export class InvalidCutting extends Error {
  override name = 'InvalidCutting';
}

/**
 * Reads the kept parts of a recording from SMIL: a body with one `par` per part, each with the media of every track.
 *
 * Rejects parts that overlap or go back in time. To merge or sort them would be a guess, and no recorder or editor
 * writes them.
 *
 * @returns at least one part; each begins where the previous one ends, or later
 * @throws {InvalidCutting}
 */
export function parseCutting(text: string): CutPart[] {
  const parts = partsIn(bodyOf(text));
  if (parts.length === 0) throw new InvalidCutting('it keeps no part of the recording');
  if (parts.length > MAX_PARTS) throw new InvalidCutting(`it has more than ${MAX_PARTS} parts`);
  for (const [i, { begin, end }] of parts.entries()) {
    const name = `part ${i + 1}`;
    if (end !== undefined && end <= begin) {
      throw new InvalidCutting(`${name} ends at ${seconds(end)}, not after its beginning at ${seconds(begin)}`);
    }
    const before = parts[i - 1];
    if (before && (before.end === undefined || before.end > begin)) {
      const where = before.end === undefined ? 'the end of the recording' : seconds(before.end);
      throw new InvalidCutting(`${name} begins at ${seconds(begin)}, but the one before it ends at ${where}`);
    }
  }
  return parts;
}

function bodyOf(text: string): XmlElement {
  try {
    const root = parseXml(text);
    const body = root.name === 'smil' && root.children.find(({ name }) => name === 'body');
    if (body) return body;
  } catch (error) {
    throw error instanceof InvalidXml ? new InvalidCutting(error.message) : error;
  }
  throw new InvalidCutting('it is not a SMIL document with a body');
}

/** Returns the parts in document order; everything in a `par` is one part. */
function partsIn(element: XmlElement): CutPart[] {
  return element.children.flatMap((child) => {
    if (child.name === 'par') return combine(mediaIn(child).map(partOf));
    return MEDIA.includes(child.name) ? [partOf(child)] : partsIn(child);
  });
}

function mediaIn(element: XmlElement): XmlElement[] {
  return element.children.flatMap((child) => (MEDIA.includes(child.name) ? [child] : mediaIn(child)));
}

/** Combines the clips of all tracks to one part. A track that is shorter may end earlier. */
function combine(clips: CutPart[]): CutPart[] {
  const [first, ...others] = clips;
  if (!first) return [];
  if (others.some(({ begin }) => begin !== first.begin)) {
    throw new InvalidCutting('the media of a "par" do not all begin at the same time');
  }
  const ends = clips.map(({ end }) => end ?? Number.POSITIVE_INFINITY);
  return [partFrom(first.begin, Math.max(...ends))];
}

function partOf(clip: XmlElement): CutPart {
  const at = (name: string, older: string) => clip.attributes.get(name) ?? clip.attributes.get(older);
  const begin = at('clipBegin', 'clip-begin');
  const end = at('clipEnd', 'clip-end');
  const from = begin === undefined ? 0 : timeOf(begin);
  if (from >= OPEN_FROM_MS) throw new InvalidCutting(`a part begins at ${shown(begin ?? '')}`);
  return partFrom(from, end === undefined ? Number.POSITIVE_INFINITY : timeOf(end));
}

function partFrom(begin: number, end: number): CutPart {
  return end >= OPEN_FROM_MS ? { begin } : { begin, end };
}

/** Converts a SMIL clock value to milliseconds: `1.5s`, `1500ms`, `1:02.5`, `00:01:02.5`, `npt=3`. */
function timeOf(value: string): number {
  const text = value.trim().replace(/^npt\s*=\s*/i, '');
  const counted = COUNTED.exec(text);
  if (counted) {
    const unit = (counted[2] ?? 's').toLowerCase() as keyof typeof UNITS;
    return toThousandth(Number(counted[1]) * UNITS[unit]);
  }
  const clock = CLOCK.exec(text);
  if (!clock) throw new InvalidCutting(`a part has the invalid time ${shown(value)}`);
  const [, hours = '0', minutes, rest] = clock;
  return toThousandth((Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)) * 1000);
}

function toThousandth(ms: number): number {
  return ms >= OPEN_FROM_MS ? ms : Math.round(ms * 1000) / 1000;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 40));
}

/** Shorter than one picture, and inaudible. */
const SHORTEST_MS = 40;

/** A kept part of a track, in milliseconds from the beginning of its file. */
export interface KeptPart {
  begin: number;
  end: number;
}

/** Limits the parts to the duration of a track, in milliseconds, and joins parts that touch. */
export function partsWithin(parts: readonly CutPart[], duration: number): KeptPart[] {
  const kept: KeptPart[] = [];
  for (const { begin, end = duration } of parts) {
    if (begin >= duration) break;
    const part = { begin, end: Math.min(end, duration) };
    const before = kept.at(-1);
    if (before?.end === begin) before.end = part.end;
    else kept.push(part);
  }
  return lengthOf(kept) < SHORTEST_MS ? [] : kept;
}

/** Returns true if the parts are the whole track, whose duration is in milliseconds. */
export function keepsAll([first, ...more]: readonly KeptPart[], duration: number): boolean {
  return first !== undefined && more.length === 0 && first.begin === 0 && first.end >= duration;
}

/** Returns the total length in milliseconds. */
export function lengthOf(parts: readonly KeptPart[]): number {
  return parts.reduce((sum, { begin, end }) => sum + end - begin, 0);
}

/** Returns the end of the last part, behind which nothing is read. */
export function endOf(parts: readonly KeptPart[]): number {
  return parts.at(-1)?.end ?? 0;
}

/** Shortens a recording to what must be read for its parts, with a proportional number of frames. */
export function readFor<Info extends { duration: number; video: VideoStream | undefined }>(
  info: Info,
  parts: readonly KeptPart[],
): Info {
  const { video } = info;
  const duration = Math.min(info.duration, endOf(parts));
  const frames = video?.frameCount ?? null;
  const frameCount = frames && Math.ceil((frames * duration) / info.duration);
  return { ...info, duration, video: video && { ...video, frameCount } };
}

/** Returns the parts with the time at which each begins in the result, where they follow one another. */
export function placesOf(parts: readonly KeptPart[]): (KeptPart & { from: number })[] {
  let length = 0;
  return parts.map((part) => {
    const from = length;
    length += part.end - part.begin;
    return { ...part, from };
  });
}

/** Returns the index of the first value above a limit, by binary search. */
export function indexAbove(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
