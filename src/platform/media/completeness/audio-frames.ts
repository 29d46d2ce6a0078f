import type { FileHandle } from 'node:fs/promises';
import { afterId3, audioFrameLength } from './frame-sequence.ts';
import { BROKEN_OFF, CUT_SHORT, type Finding, read, readTail, SHORTER_THAN_SAID } from './truncation-finding.ts';

/** Many of the largest frames. */
const TAIL_BYTES = 65_536;
/** So many frames in a row are no accident. */
const FRAMES = 5;
/** Blocks of 80 bytes in a frame of 25 and of 30 pictures a second. */
const DV_FRAME = { pal: 144_000, ntsc: 120_000 };

/** Sound without a container: frames that say how long they are. Tags may stand behind the last one. */
export async function checkFrames(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, TAIL_BYTES);
  for (let start = 0; start < tail.length; start++) {
    const { frames, brokenOff } = followFrames(tail, start);
    if (frames >= FRAMES) return brokenOff ? BROKEN_OFF : undefined;
  }
  return undefined;
}

function followFrames(tail: Buffer, start: number): { frames: number; brokenOff: boolean } {
  let at = start;
  let frames = 0;
  while (at < tail.length) {
    const length = audioFrameLength(tail, at);
    if (length === 0) break;
    if (at + length > tail.length) return { frames, brokenOff: true };
    at += length;
    frames += 1;
  }
  return { frames, brokenOff: false };
}

/** DV: frames of one size. */
export async function checkDv(file: FileHandle, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, 4);
  const frame = ((head[3] ?? 0) & 0x80) !== 0 ? DV_FRAME.pal : DV_FRAME.ntsc;
  return size % frame !== 0 ? BROKEN_OFF : undefined;
}

/** Behind a frame's header and what follows it in stereo, mono and lower rates, with or without a checksum. */
const XING_PLACES: readonly number[] = [36, 38, 21, 23, 13, 15];
const VBRI_PLACE = 36;
const HAS_BYTES = 2;
const HAS_FRAMES = 1;
/** What was counted may have been a tag that somebody removed. */
const TOLERANCE_BYTES = 4096;
const TOLERANCE = 0.01;

/** MP3: many encoders tell the number of bytes in a first frame without sound. */
export async function checkMp3(file: FileHandle, size: number): Promise<Finding | undefined> {
  const start = afterId3(await read(file, 0, 10));
  const said = saidBytes(await read(file, start, 192));
  const missing = said === undefined ? 0 : said - (size - start);
  const end = await checkFrames(file, size);
  if (end) return missing > 0 ? CUT_SHORT : BROKEN_OFF;
  // Whoever takes frames out may have left the count as it was.
  return missing > Math.max(TOLERANCE_BYTES, (said ?? 0) * TOLERANCE) ? SHORTER_THAN_SAID : undefined;
}

/** As encoders write it: Xing (also called Info) or Fraunhofer's. */
function saidBytes(frame: Buffer): number | undefined {
  for (const at of XING_PLACES) {
    if (!['Xing', 'Info'].includes(frame.toString('latin1', at, at + 4))) continue;
    const flags = frame.length < at + 16 ? 0 : frame.readUInt32BE(at + 4);
    const place = at + 8 + ((flags & HAS_FRAMES) !== 0 ? 4 : 0);
    return (flags & HAS_BYTES) !== 0 ? frame.readUInt32BE(place) : undefined;
  }
  const fraunhofer = frame.toString('latin1', VBRI_PLACE, VBRI_PLACE + 4) === 'VBRI';
  return fraunhofer && frame.length >= VBRI_PLACE + 14 ? frame.readUInt32BE(VBRI_PLACE + 10) : undefined;
}
