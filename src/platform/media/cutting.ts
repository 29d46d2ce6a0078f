import { parseXml, type XmlElement, XmlFault } from '../text/xml.ts';
import type { VideoStream } from './streams.ts';

/** The flavor of the catalog that says which parts of a recording are kept. */
export const CUTTING = 'smil/cutting';

const MAX_PARTS = 1000;
const MEDIA = ['video', 'audio', 'ref', 'media'];
/** Recorders write the largest number there is for "to the end"; nobody records for thirty years. */
const OPEN_FROM_MS = 1e12;
const UNITS = { h: 3_600_000, min: 60_000, s: 1000, ms: 1 };
const COUNTED = /^(\d+(?:\.\d*)?(?:e\+?\d{1,3})?)(h|min|s|ms)?$/i;
const CLOCK = /^(?:(\d{1,6}):)?([0-5]?\d):([0-5]?\d(?:\.\d*)?)$/;

/** A part of a recording that is kept. */
export interface CutPart {
  /** Milliseconds from the beginning of the recording, to a thousandth. */
  begin: number;
  /** Where it ends, always after its beginning; without it, at the end of the recording. */
  end?: number;
}

/** A catalog does not say what to keep; the message says why, in words that follow "because". */
export class CuttingFault extends Error {
  override name = 'CuttingFault';
}

/**
 * Reads which parts of a recording are kept: SMIL whose body has one `par` after the other, each with what is to be seen
 * and heard of every track at the same time.
 *
 * Parts that overlap or go back in time are refused: to merge or sort them would be a guess, and no recorder or editor
 * writes them.
 *
 * @returns at least one part; each begins where the one before it ends, or later
 * @throws {CuttingFault}
 */
export function parseCutting(text: string): CutPart[] {
  const parts = partsIn(bodyOf(text));
  if (parts.length === 0) throw new CuttingFault('it keeps no part of the recording');
  if (parts.length > MAX_PARTS) throw new CuttingFault(`it has more than ${MAX_PARTS} parts`);
  for (const [i, { begin, end }] of parts.entries()) {
    const name = `part ${i + 1}`;
    if (end !== undefined && end <= begin) {
      throw new CuttingFault(`${name} ends at ${seconds(end)}, not after its beginning at ${seconds(begin)}`);
    }
    const before = parts[i - 1];
    if (before && (before.end === undefined || before.end > begin)) {
      const where = before.end === undefined ? 'the end of the recording' : seconds(before.end);
      throw new CuttingFault(`${name} begins at ${seconds(begin)}, but the one before it ends at ${where}`);
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
    throw error instanceof XmlFault ? new CuttingFault(error.message) : error;
  }
  throw new CuttingFault('it is no SMIL document with a body');
}

/** The parts in the order of the document; what is in a `par` is one part, whatever else stands in it. */
function partsIn(element: XmlElement): CutPart[] {
  return element.children.flatMap((child) => {
    if (child.name === 'par') return together(mediaIn(child).map(partOf));
    return MEDIA.includes(child.name) ? [partOf(child)] : partsIn(child);
  });
}

function mediaIn(element: XmlElement): XmlElement[] {
  return element.children.flatMap((child) => (MEDIA.includes(child.name) ? [child] : mediaIn(child)));
}

/** One part of all tracks. A track that is shorter than the others may say that its own ends earlier. */
function together(clips: CutPart[]): CutPart[] {
  const [first, ...others] = clips;
  if (!first) return [];
  if (others.some(({ begin }) => begin !== first.begin)) {
    throw new CuttingFault('it has a "par" in which not everything begins at the same time');
  }
  const ends = clips.map(({ end }) => end ?? Number.POSITIVE_INFINITY);
  return [partFrom(first.begin, Math.max(...ends))];
}

function partOf(clip: XmlElement): CutPart {
  const at = (name: string, older: string) => clip.attributes.get(name) ?? clip.attributes.get(older);
  const begin = at('clipBegin', 'clip-begin');
  const end = at('clipEnd', 'clip-end');
  const from = begin === undefined ? 0 : timeOf(begin);
  if (from >= OPEN_FROM_MS) throw new CuttingFault(`a part begins at ${shown(begin ?? '')}`);
  return partFrom(from, end === undefined ? Number.POSITIVE_INFINITY : timeOf(end));
}

function partFrom(begin: number, end: number): CutPart {
  return end >= OPEN_FROM_MS ? { begin } : { begin, end };
}

/** Milliseconds of a SMIL clock value: `1.5s`, `1500ms`, `1:02.5`, `00:01:02.5`, `npt=3`. */
function timeOf(value: string): number {
  const text = value.trim().replace(/^npt\s*=\s*/i, '');
  const counted = COUNTED.exec(text);
  if (counted) {
    const unit = (counted[2] ?? 's').toLowerCase() as keyof typeof UNITS;
    return toThousandth(Number(counted[1]) * UNITS[unit]);
  }
  const clock = CLOCK.exec(text);
  if (!clock) throw new CuttingFault(`a part has the unknown time ${shown(value)}`);
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

/** Less than this is no picture, and nothing to be heard. */
const SHORTEST_MS = 40;

/** A part of a track that is kept, in milliseconds from the beginning of the track's file. */
export interface KeptPart {
  begin: number;
  end: number;
}

/** What of the parts there is in a track of a duration in milliseconds; parts that touch are one. */
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

/** Whether parts are all of a track of a duration in milliseconds. */
export function keepsAll([first, ...more]: readonly KeptPart[], duration: number): boolean {
  return first !== undefined && more.length === 0 && first.begin === 0 && first.end >= duration;
}

/** How long parts last one after the other, in milliseconds. */
export function lengthOf(parts: readonly KeptPart[]): number {
  return parts.reduce((sum, { begin, end }) => sum + end - begin, 0);
}

/** Where the last part ends: nothing behind that is read. */
export function endOf(parts: readonly KeptPart[]): number {
  return parts.at(-1)?.end ?? 0;
}

/** A recording as far as it has to be read for its parts, with as many pictures as that makes of those it has. */
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
