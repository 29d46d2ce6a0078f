import type { ByteSource } from '../byte-source.ts';
import {
  BROKEN_OFF,
  CUT_SHORT,
  type Finding,
  read,
  readTail,
  SHORTER_THAN_DECLARED,
  UNFINISHED,
} from './truncation-finding.ts';

const ASF_HEAD_BYTES = 2 ** 20;
const ASF_FILE_PROPERTIES = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');
const ASF_DATA = Buffer.from('3626b2758e66cf11a6d900aa0062ce6c', 'hex');
const ASF_DATA_HEADER = 50;
/** The beginning of a packet, unlike that of an index. */
const ASF_PACKET_START = Buffer.from([0x82, 0, 0]);
/** The flag of a live recording, whose sizes are not valid. */
const ASF_BROADCAST = 1;

/** Checks Windows Media: the size of the file, the size of its data, and packets of one size. */
export async function checkAsf(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, ASF_HEAD_BYTES);
  const properties = head.indexOf(ASF_FILE_PROPERTIES);
  if (head.length < 30 || properties < 0 || properties + 104 > head.length) return undefined;
  const fileSize = Number(head.readBigUInt64LE(properties + 40));
  const broadcast = (head.readUInt32LE(properties + 88) & ASF_BROADCAST) !== 0;
  const [smallest, largest] = [head.readUInt32LE(properties + 92), head.readUInt32LE(properties + 96)];
  const start = Number(head.readBigUInt64LE(16));
  const data = Number.isSafeInteger(start) ? await read(file, start, 24) : Buffer.alloc(0);
  if (data.length < 24 || !data.subarray(0, 16).equals(ASF_DATA)) return start > size ? CUT_SHORT : undefined;
  if (broadcast)
    return smallest === largest ? checkLastAsfPacket(file, size, start + ASF_DATA_HEADER, smallest) : undefined;
  if (start + Number(data.readBigUInt64LE(16)) > size) return CUT_SHORT;
  return fileSize > size ? SHORTER_THAN_DECLARED : undefined;
}

async function checkLastAsfPacket(
  file: ByteSource,
  size: number,
  start: number,
  packet: number,
): Promise<Finding | undefined> {
  const rest = packet > 0 ? (size - start) % packet : 0;
  if (rest === 0) return undefined;
  const begin = await read(file, size - rest, Math.min(rest, ASF_PACKET_START.length));
  return ASF_PACKET_START.subarray(0, begin.length).equals(begin) ? BROKEN_OFF : undefined;
}

const MXF_PACK_BYTES = 128;
const MXF_RANDOM_INDEX = Buffer.from('060e2b34020501010d01020101110100', 'hex');
/** Byte 14 of the key of a partition that is rewritten when the recording is finished. */
const MXF_OPEN: readonly number[] = [1, 3];

/**
 * Checks MXF (SMPTE 377). The header of a finished recording has the position of the footer. Streamed files have none;
 * they end with a list of their parts.
 */
export async function checkMxf(file: ByteSource, size: number): Promise<Finding | undefined> {
  const header = await readMxfPartition(file, 0);
  if (!header) return undefined;
  if (header.footer > 0) {
    const footer = await readMxfPartition(file, header.footer);
    return !footer || footer.end > size ? CUT_SHORT : undefined;
  }
  return MXF_OPEN.includes(header.status) && !(await endsWithMxfIndex(file, size)) ? UNFINISHED : undefined;
}

/** Reads a partition: the position of the footer (0 when unknown), and the end of its metadata and index. */
async function readMxfPartition(file: ByteSource, at: number) {
  if (!Number.isSafeInteger(at)) return undefined;
  const bytes = await read(file, at, MXF_PACK_BYTES);
  // A key, a length of one byte or of as many as its low bits say, and the pack.
  const first = bytes[16] ?? 0;
  const start = 17 + (first > 0x80 ? first & 0x7f : 0);
  if (bytes.length < start + 48) return undefined;
  const length = first > 0x80 ? Number(`0x${bytes.toString('hex', 17, start)}`) : first;
  const long = (offset: number) => Number(bytes.readBigUInt64BE(start + offset));
  return { status: bytes[14] ?? 0, footer: long(24), end: at + start + length + long(32) + long(40) };
}

async function endsWithMxfIndex(file: ByteSource, size: number): Promise<boolean> {
  const tail = await readTail(file, size, 4);
  const length = tail.length === 4 ? tail.readUInt32BE(0) : 0;
  if (length < 20 || length > size) return false;
  return (await read(file, size - length, 16)).equals(MXF_RANDOM_INDEX);
}

const FLV_HEAD_BYTES = 65_536;
const FLV_TAIL_BYTES = 8 * 2 ** 20;
const FLV_TAG_HEADER = 11;
/** Sound, pictures and data. */
const FLV_TAG_TYPES: readonly number[] = [8, 9, 18];
/** The last picture of slides may last for long, and the last frame may or may not count. */
const TOLERANCE_SECONDS = 2;
const TOLERANCE = 0.02;

/**
 * Checks Flash video: tags with their lengths on both sides. The first may declare the duration and the size of the
 * file, but live recorders write neither, or the values of their source. So one sign is a doubt and two are certain:
 * fewer bytes than declared, an earlier end than declared, and an incomplete last tag.
 */
export async function checkFlv(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, FLV_HEAD_BYTES);
  const declared = { bytes: numberNamed(head, 'filesize'), seconds: numberNamed(head, 'duration') };
  const tail = await readTail(file, size, FLV_TAIL_BYTES);
  const last = lastFlvTag(tail);
  const brokenOff = last?.end !== tail.length;
  const fewer = declared.bytes > size;
  const tolerance = Math.max(TOLERANCE_SECONDS, declared.seconds * TOLERANCE);
  const earlier = last !== undefined && last.seconds + tolerance < declared.seconds;
  const signs = [brokenOff, fewer, earlier].filter(Boolean).length;
  if (signs >= 2) return CUT_SHORT;
  if (fewer || earlier) return SHORTER_THAN_DECLARED;
  return brokenOff ? BROKEN_OFF : undefined;
}

/** Reads a number of the first tag by its name; 0 if it is missing. */
function numberNamed(head: Buffer, name: string): number {
  // AMF: the length of the name, the name, 0 for a number, eight bytes.
  const pattern = Buffer.from([0, name.length, ...Buffer.from(name), 0]);
  const at = head.indexOf(pattern);
  const value = at < 0 ? -1 : at + pattern.length;
  if (value < 0 || value + 8 > head.length) return 0;
  const number = head.readDoubleBE(value);
  return Number.isFinite(number) ? number : 0;
}

/** Finds the last complete tag: its end, and its time. */
function lastFlvTag(tail: Buffer): { end: number; seconds: number } | undefined {
  for (let end = tail.length; end >= FLV_TAG_HEADER + 4; end--) {
    const length = tail.readUInt32BE(end - 4);
    const at = end - 4 - length;
    if (length < FLV_TAG_HEADER || at < 0) continue;
    if (!FLV_TAG_TYPES.includes(tail[at] ?? 0) || tail.readUIntBE(at + 1, 3) + FLV_TAG_HEADER !== length) continue;
    const ms = tail.readUIntBE(at + 4, 3) + (tail[at + 7] ?? 0) * 2 ** 24;
    return { end, seconds: ms / 1000 };
  }
  return undefined;
}
