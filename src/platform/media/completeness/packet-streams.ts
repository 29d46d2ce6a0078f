import type { ByteSource } from '../byte-source.ts';
import { findTransportPackets, TS_SYNC } from './frame-sequence.ts';
import { BROKEN_OFF, type Finding, readTail } from './truncation-finding.ts';

const TS_TAIL_BYTES = 65_536;
const TS_PACKET = 188;
/** Cameras and discs put a time in front of each packet. */
const M2TS_PACKET = 192;
const TIME_BYTES = 4;

/**
 * Checks MPEG transport streams: packets of one size, without a count. An incomplete frame means nothing, because
 * recordings of a broadcast begin and end anywhere.
 */
export async function checkTransportStream(file: ByteSource, size: number): Promise<Finding | undefined> {
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

/** Checks MPEG program streams: packs of packets with lengths. Many recorders leave out the end code. */
export async function checkProgramStream(file: ByteSource, size: number): Promise<Finding | undefined> {
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

/** Returns true if the bytes begin with a start code of the system, or a part of one. */
function startsPsPacket(bytes: Buffer): boolean {
  if (!PS_START.subarray(0, bytes.length).equals(bytes.subarray(0, 3))) return false;
  return bytes.length < 4 || (bytes[3] ?? 0) >= PROGRAM_END;
}

/** Returns the length of a packet; undefined if the header is incomplete. */
function psPacketLength(bytes: Buffer): number | undefined {
  if (bytes[3] !== PACK_CODE) return bytes.length < 6 ? undefined : 6 + bytes.readUInt16BE(4);
  if (bytes.length < 12) return undefined;
  const mpeg2 = (bytes[4] ?? 0) >> 6 === 1;
  if (!mpeg2) return 12;
  return bytes.length < 14 ? undefined : 14 + ((bytes[13] ?? 0) & 7);
}

const OGG_HEADER = 27;
/** A header, 255 lengths, and the bytes that these can declare. */
const LARGEST_OGG_PAGE = OGG_HEADER + 255 + 255 * 255;
const OGG_CAPTURE = Buffer.from('OggS\0', 'latin1');

/**
 * Checks Ogg: pages with lengths. A missing mark of the last page means nothing, because live recordings never have it.
 */
export async function checkOgg(file: ByteSource, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, LARGEST_OGG_PAGE + OGG_HEADER);
  const at = tail.lastIndexOf(OGG_CAPTURE);
  if (at < 0) return undefined;
  const segments = tail[at + 26];
  if (segments === undefined || at + OGG_HEADER + segments > tail.length) return BROKEN_OFF;
  const lengths = tail.subarray(at + OGG_HEADER, at + OGG_HEADER + segments);
  const end = at + OGG_HEADER + segments + lengths.reduce((sum, length) => sum + length, 0);
  return end > tail.length ? BROKEN_OFF : undefined;
}
