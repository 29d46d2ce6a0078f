import type { ByteSource } from '../byte-source.ts';
import { afterId3, audioFrameLength } from './frame-sequence.ts';
import { BROKEN_OFF, CUT_SHORT, type Finding, read, readTail, SHORTER_THAN_DECLARED } from './truncation-finding.ts';

/** Enough for many of the largest frames. */
const TAIL_BYTES = 65_536;
/** This many frames in a row are no coincidence. */
const FRAMES = 5;
/** Bytes of a frame at 25 and at 30 pictures a second. */
const DV_FRAME = { pal: 144_000, ntsc: 120_000 };

/** Checks sound without a container: frames with their length. Tags may follow the last one. */
export async function checkFrames(file: ByteSource, size: number): Promise<Finding | undefined> {
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

/** Checks DV: frames of one size. */
export async function checkDv(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, 4);
  const frame = ((head[3] ?? 0) & 0x80) !== 0 ? DV_FRAME.pal : DV_FRAME.ntsc;
  return size % frame !== 0 ? BROKEN_OFF : undefined;
}

/** Offsets of the Xing header, in stereo, mono and lower rates, with or without a checksum. */
const XING_PLACES: readonly number[] = [36, 38, 21, 23, 13, 15];
const VBRI_PLACE = 36;
const HAS_BYTES = 2;
const HAS_FRAMES = 1;
/** Allows for a tag that was counted and later removed. */
const TOLERANCE_BYTES = 4096;
const TOLERANCE = 0.01;

/** Checks MP3. Many encoders write the number of bytes into a first frame without sound. */
export async function checkMp3(file: ByteSource, size: number): Promise<Finding | undefined> {
  const start = afterId3(await read(file, 0, 10));
  const declared = declaredBytes(await read(file, start, 192));
  const missing = declared === undefined ? 0 : declared - (size - start);
  const end = await checkFrames(file, size);
  if (end) return missing > 0 ? CUT_SHORT : BROKEN_OFF;
  // Editors that remove frames may leave the count unchanged.
  return missing > Math.max(TOLERANCE_BYTES, (declared ?? 0) * TOLERANCE) ? SHORTER_THAN_DECLARED : undefined;
}

/** Reads the declared size from a header of Xing (also called Info) or Fraunhofer. */
function declaredBytes(frame: Buffer): number | undefined {
  for (const at of XING_PLACES) {
    if (!['Xing', 'Info'].includes(frame.toString('latin1', at, at + 4))) continue;
    const flags = frame.length < at + 16 ? 0 : frame.readUInt32BE(at + 4);
    const place = at + 8 + ((flags & HAS_FRAMES) !== 0 ? 4 : 0);
    return (flags & HAS_BYTES) !== 0 ? frame.readUInt32BE(place) : undefined;
  }
  const fraunhofer = frame.toString('latin1', VBRI_PLACE, VBRI_PLACE + 4) === 'VBRI';
  return fraunhofer && frame.length >= VBRI_PLACE + 14 ? frame.readUInt32BE(VBRI_PLACE + 10) : undefined;
}

/** Bytes searched for frames at the end of the file: the usual number, and the maximum. */
const FLAC_TAIL_BYTES = { usual: 65_536, most: 2 ** 20 };
/** Sound may look like a frame header; among this many candidates, one is a header. */
const CANDIDATES = 8;
const HEADER_BYTES = 6;
const ID3V1_BYTES = 128;
const BLOCK_SIZES: Readonly<Record<number, number>> = { 1: 192, 2: 576, 3: 1152, 4: 2304, 5: 4608 };

/**
 * Checks FLAC (RFC 9639). The header counts the samples, and each frame says which samples it holds, and has a checksum.
 * Live recordings have no count.
 */
export async function checkFlac(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, 42);
  if (head.length < 42) return CUT_SHORT;
  const blockSize = head.readUInt16BE(10);
  const largestFrame = head.readUIntBE(15, 3);
  const samples = ((head[21] ?? 0) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  const length = Math.min(FLAC_TAIL_BYTES.most, Math.max(FLAC_TAIL_BYTES.usual, 2 * largestFrame));
  const tail = withoutTag(await readTail(file, size, length));
  const frames = lastFrames(tail, blockSize);
  const whole = frames.find(({ at }) => remainders(tail.subarray(at)).at(-1) === 0);
  if (whole) return whole.end < samples ? CUT_SHORT : undefined;
  const last = frames.sort((a, b) => b.end - a.end).find(({ end }) => samples === 0 || end <= samples);
  if (!last) return samples > 0 && tail.length === size ? CUT_SHORT : undefined;
  if (last.end < samples) return CUT_SHORT;
  // Some programs write tags behind the last frame.
  return remainders(tail.subarray(last.at)).includes(0, HEADER_BYTES) ? undefined : BROKEN_OFF;
}

interface Frame {
  at: number;
  end: number;
}

/** Finds the last frames, last first. */
function lastFrames(tail: Buffer, blockSize: number): Frame[] {
  const frames: Frame[] = [];
  for (let at = tail.length - HEADER_BYTES; at >= 0 && frames.length < CANDIDATES; at--) {
    if (tail[at] !== 0xff || ((tail[at + 1] ?? 0) & 0xfe) !== 0xf8) continue;
    const frame = frameAt(tail, at, blockSize);
    if (frame) frames.push(frame);
  }
  return frames;
}

/** Reads a frame header; undefined if its checksum is wrong. */
function frameAt(tail: Buffer, at: number, blockSize: number): Frame | undefined {
  const sizeCode = (tail[at + 2] ?? 0) >> 4;
  const rateCode = (tail[at + 2] ?? 0) & 15;
  if (sizeCode === 0 || rateCode === 15 || (tail[at + 3] ?? 0) & 1) return undefined;
  const number = codedNumber(tail, at + 4);
  if (!number) return undefined;
  let end = number.end;
  let samples = BLOCK_SIZES[sizeCode] ?? 256 * 2 ** (sizeCode - 8);
  if (sizeCode === 6) samples = (tail[end++] ?? 0) + 1;
  if (sizeCode === 7) {
    samples = (tail[end++] ?? 0) * 256;
    samples += (tail[end++] ?? 0) + 1;
  }
  if (rateCode === 12) end += 1;
  else if (rateCode > 12) end += 2;
  if (end >= tail.length || remainder(tail.subarray(at, end + 1)) !== 0) return undefined;
  const variable = ((tail[at + 1] ?? 0) & 1) === 1;
  return { at, end: (variable ? number.value : number.value * blockSize) + samples };
}

/** Reads the number of a frame or sample, encoded like UTF-8 but with up to 36 bits. */
function codedNumber(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at] ?? 0xff;
  const length = first < 0x80 ? 1 : Math.clz32(~(first << 24));
  if (first === 0xff || (length === 1 && first >= 0x80)) return undefined;
  const rest = bytes.subarray(at + 1, at + length);
  if (rest.length < length - 1 || rest.some((byte) => byte >> 6 !== 2)) return undefined;
  const start = length === 1 ? first : first & (0x7f >> length);
  return { value: rest.reduce((value, byte) => value * 64 + (byte & 63), start), end: at + length };
}

function withoutTag(tail: Buffer): Buffer {
  const at = tail.length - ID3V1_BYTES;
  return tail.toString('latin1', at, at + 3) === 'TAG' ? tail.subarray(0, at) : tail;
}

/** Computes the CRC-8 of a frame header; 0 if the header ends with its own. */
function remainder(header: Uint8Array): number {
  let sum = 0;
  for (const byte of header) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = ((sum & 0x80) !== 0 ? (sum << 1) ^ 0x07 : sum << 1) & 0xff;
  }
  return sum;
}

const CRC_16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit++) sum = ((sum & 0x8000) !== 0 ? (sum << 1) ^ 0x8005 : sum << 1) & 0xffff;
  return sum;
});

/** Computes the CRC-16 after each byte; 0 at the end of a frame. The table keeps megabytes of it fast. */
function remainders(frame: Uint8Array): Uint16Array {
  const sums = new Uint16Array(frame.length);
  let sum = 0;
  for (let i = 0; i < frame.length; i++) {
    sum = ((sum << 8) ^ (CRC_16[(sum >> 8) ^ (frame[i] ?? 0)] ?? 0)) & 0xffff;
    sums[i] = sum;
  }
  return sums;
}
