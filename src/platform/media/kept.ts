import type { CutPart } from './cutting.ts';
import type { VideoStream } from './streams.ts';

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
