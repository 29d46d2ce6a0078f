import type { FileHandle } from 'node:fs/promises';
import { findTransportPackets, TS_SYNC } from './frame-sequence.ts';
import { BROKEN_OFF, type Finding, readTail } from './truncation-finding.ts';

const TS_TAIL_BYTES = 65_536;
const TS_PACKET = 188;
/** Cameras and discs put a time before each packet. */
const M2TS_PACKET = 192;
const TIME_BYTES = 4;

/**
 * MPEG transport stream: packets of one size, which nobody counts. A frame that is not whole says nothing: recordings of
 * a broadcast begin and end anywhere.
 */
export async function checkTransportStream(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, TS_TAIL_BYTES);
  const packets = findTransportPackets(tail);
  if (!packets) return undefined;
  const before = packets.size === M2TS_PACKET ? TIME_BYTES : 0;
  const rest = (tail.length - packets.offset + before) % packets.size;
  if (rest === 0 || rest >= before + TS_PACKET) return undefined;
  return rest <= before || tail[tail.length - rest + before] === TS_SYNC ? BROKEN_OFF : undefined;
}

const PS_TAIL_BYTES = 2 ** 20;
const PS_PACK = Buffer.from([0, 0, 1, 0xba]);
const PS_START = Buffer.from([0, 0, 1]);
const PROGRAM_END = 0xb9;
const PACK_CODE = 0xba;

/** MPEG program stream: packs of packets with lengths. Many recorders leave out the code for the end. */
export async function checkProgramStream(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, PS_TAIL_BYTES);
  let at = tail.lastIndexOf(PS_PACK);
  if (at < 0) return undefined;
  while (at < tail.length) {
    const rest = tail.subarray(at, at + 14);
    if (!startsPsPacket(rest)) return undefined;
    if (rest[3] === PROGRAM_END) return undefined;
    const length = psPacketLength(rest);
    if (length === undefined || at + length > tail.length) return BROKEN_OFF;
    at += length;
  }
  return undefined;
}

/** Whether it begins, as far as it goes, with a start code of the system. */
function startsPsPacket(bytes: Buffer): boolean {
  if (!PS_START.subarray(0, bytes.length).equals(bytes.subarray(0, 3))) return false;
  return bytes.length < 4 || (bytes[3] ?? 0) >= PROGRAM_END;
}

/** Undefined when the header is not whole. */
function psPacketLength(bytes: Buffer): number | undefined {
  if (bytes[3] !== PACK_CODE) return bytes.length < 6 ? undefined : 6 + bytes.readUInt16BE(4);
  if (bytes.length < 12) return undefined;
  const mpeg2 = (bytes[4] ?? 0) >> 6 === 1;
  if (!mpeg2) return 12;
  return bytes.length < 14 ? undefined : 14 + ((bytes[13] ?? 0) & 7);
}

const OGG_HEADER = 27;
/** A header, 255 lengths and as many bytes as these can say. */
const LARGEST_OGG_PAGE = OGG_HEADER + 255 + 255 * 255;
const OGG_CAPTURE = Buffer.from('OggS\0', 'latin1');

/**
 * Ogg: pages with lengths. The mark of the last one says nothing when it is missing: what was recorded from a stream
 * never has it.
 */
export async function checkOgg(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, LARGEST_OGG_PAGE + OGG_HEADER);
  const at = tail.lastIndexOf(OGG_CAPTURE);
  if (at < 0) return undefined;
  const segments = tail[at + 26];
  if (segments === undefined || at + OGG_HEADER + segments > tail.length) return BROKEN_OFF;
  const lengths = tail.subarray(at + OGG_HEADER, at + OGG_HEADER + segments);
  const end = at + OGG_HEADER + segments + lengths.reduce((sum, length) => sum + length, 0);
  return end > tail.length ? BROKEN_OFF : undefined;
}
