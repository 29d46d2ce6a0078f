import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, type Finding, readTail } from './finding.ts';

const TAIL_BYTES = 2 ** 20;
const PACK = Buffer.from([0, 0, 1, 0xba]);
const START = Buffer.from([0, 0, 1]);
const PROGRAM_END = 0xb9;
const PACK_CODE = 0xba;

/** MPEG program stream: packs of packets with lengths. Many recorders leave out the code for the end. */
export async function checkProgramStream(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, TAIL_BYTES);
  let at = tail.lastIndexOf(PACK);
  if (at < 0) return undefined;
  while (at < tail.length) {
    const rest = tail.subarray(at, at + 14);
    if (!startsPacket(rest)) return undefined;
    if (rest[3] === PROGRAM_END) return undefined;
    const length = packetLength(rest);
    if (length === undefined || at + length > tail.length) return BROKEN_OFF;
    at += length;
  }
  return undefined;
}

/** Whether it begins, as far as it goes, with a start code of the system. */
function startsPacket(bytes: Buffer): boolean {
  if (!START.subarray(0, bytes.length).equals(bytes.subarray(0, 3))) return false;
  return bytes.length < 4 || (bytes[3] ?? 0) >= PROGRAM_END;
}

/** Undefined when the header is not whole. */
function packetLength(bytes: Buffer): number | undefined {
  if (bytes[3] !== PACK_CODE) return bytes.length < 6 ? undefined : 6 + bytes.readUInt16BE(4);
  if (bytes.length < 12) return undefined;
  const mpeg2 = (bytes[4] ?? 0) >> 6 === 1;
  if (!mpeg2) return 12;
  return bytes.length < 14 ? undefined : 14 + ((bytes[13] ?? 0) & 7);
}
