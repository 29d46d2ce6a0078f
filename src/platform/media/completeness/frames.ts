import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, type Finding, read, readTail } from './finding.ts';
import { audioFrameLength } from './frame-sequence.ts';

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
