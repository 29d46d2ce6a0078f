import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, CUT_SHORT, type Finding, read, readTail, SHORTER_THAN_SAID } from './finding.ts';

const HEAD_BYTES = 65_536;
/** More than the largest frame. */
const TAIL_BYTES = 8 * 2 ** 20;
const TAG_HEADER = 11;
/** Sound, pictures, data. */
const TAG_TYPES: readonly number[] = [8, 9, 18];
/** The last picture of slides stands for a while, and the last frame's duration is counted or not. */
const TOLERANCE_SECONDS = 2;
const TOLERANCE = 0.02;

/**
 * Flash video: tags with their lengths before and behind them; the first may tell the duration and the file's size.
 * Recorders of live streams write neither, or what their source said. So one sign is a doubt, and two are certain:
 * fewer bytes than said, an earlier end than said, and a last tag that is not whole.
 */
export async function checkFlv(file: FileHandle, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, HEAD_BYTES);
  const said = { bytes: numberNamed(head, 'filesize'), seconds: numberNamed(head, 'duration') };
  const tail = await readTail(file, size, TAIL_BYTES);
  const last = lastTag(tail);
  const brokenOff = last?.end !== tail.length;
  const fewer = said.bytes > size;
  const tolerance = Math.max(TOLERANCE_SECONDS, said.seconds * TOLERANCE);
  const earlier = last !== undefined && last.seconds + tolerance < said.seconds;
  const signs = [brokenOff, fewer, earlier].filter(Boolean).length;
  if (signs >= 2) return CUT_SHORT;
  if (fewer || earlier) return SHORTER_THAN_SAID;
  return brokenOff ? BROKEN_OFF : undefined;
}

/** A number of the first tag, by its name; 0 when it is not there. */
function numberNamed(head: Buffer, name: string): number {
  // AMF: the length of the name, the name, 0 for a number, eight bytes.
  const pattern = Buffer.from([0, name.length, ...Buffer.from(name), 0]);
  const at = head.indexOf(pattern);
  const value = at < 0 ? -1 : at + pattern.length;
  if (value < 0 || value + 8 > head.length) return 0;
  const number = head.readDoubleBE(value);
  return Number.isFinite(number) ? number : 0;
}

/** The last tag that is whole: where it ends with its length, and its time. */
function lastTag(tail: Buffer): { end: number; seconds: number } | undefined {
  for (let end = tail.length; end >= TAG_HEADER + 4; end--) {
    const length = tail.readUInt32BE(end - 4);
    const at = end - 4 - length;
    if (length < TAG_HEADER || at < 0) continue;
    if (!TAG_TYPES.includes(tail[at] ?? 0) || tail.readUIntBE(at + 1, 3) + TAG_HEADER !== length) continue;
    const ms = tail.readUIntBE(at + 4, 3) + (tail[at + 7] ?? 0) * 2 ** 24;
    return { end, seconds: ms / 1000 };
  }
  return undefined;
}
