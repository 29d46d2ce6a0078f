import type { ByteSource } from '../byte-source.ts';
import { segmentsOf } from '../fragment-index.ts';
import { BROKEN_OFF, CUT_SHORT, type Finding, NO_INDEX, read, readTail } from './truncation-finding.ts';

const MAX_BOXES = 2_000_000;
/** Asking an object storage for each of a thousand fragments takes minutes. */
const MAX_REMOTE_FRAGMENTS = 200;
/** The largest index of fragments. */
const MAX_INDEX_BYTES = 2 ** 20;

/**
 * Checks MP4 and QuickTime: boxes with lengths, one of which is the index. Of an object in a storage, only the first
 * fragments are checked if no index names them.
 */
export async function checkIso(file: ByteSource, size: number): Promise<Finding | undefined> {
  let at = 0;
  let index = false;
  let fragments = 0;
  for (let boxes = 0; boxes < MAX_BOXES && size - at >= 8; boxes++) {
    const header = await read(file, at, 16);
    const type = header.toString('latin1', 4, 8);
    const short = header.readUInt32BE(0);
    const length = short === 0 ? size - at : short === 1 ? longBoxLength(header) : short;
    // Padding or garbage behind the last box does no harm.
    if (length < 8) break;
    if (type === 'moov') index = true;
    if (type === 'moof') fragments += 1;
    if (file.isRemote && fragments > MAX_REMOTE_FRAGMENTS) return undefined;
    if (at + length > size && (type === 'moov' || type === 'moof' || type === 'mdat')) return CUT_SHORT;
    at += length;
    if (type !== 'sidx' || !index) continue;
    const end = endOfFragments(await read(file, at - length, Math.min(length, MAX_INDEX_BYTES)), at);
    if (end <= size) at = end;
  }
  return index ? undefined : NO_INDEX;
}

/** Returns the end of the last fragment that an index names; infinity for an unreadable one. */
function endOfFragments(sidx: Buffer, end: number): number {
  try {
    return segmentsOf(sidx, end).reduce((sum, { offset, bytes }) => Math.max(sum, offset + bytes), end);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function longBoxLength(header: Buffer): number {
  return header.length < 16 ? 0 : Number(header.readBigUInt64BE(8));
}

/** Recorders write sizes from here on while the size is unknown. */
const PLACEHOLDER = 0x7fff_0000;
/** Usually, a segment has a gigabyte. */
const MAX_SEGMENTS = 10_000;
const MAX_CHUNKS = 1000;

/** Checks WAV and AVI: one chunk with a length holds everything, or (AVI over a gigabyte) several in a row. */
export async function checkRiff(file: ByteSource, size: number): Promise<Finding | undefined> {
  let at = 0;
  for (let segments = 0; segments < MAX_SEGMENTS; segments++) {
    const head = await read(file, at, 36);
    const form = head.toString('latin1', 0, 4);
    if (head.length < 8 || (form !== 'RIFF' && form !== 'RF64')) return undefined;
    const length = form === 'RF64' ? rf64Length(head) : head.readUInt32LE(4);
    if (form === 'RIFF' && length >= PLACEHOLDER) return undefined;
    // Sizes are even, but not every recorder writes the padding byte.
    if (at + length + 8 > size + 1) return CUT_SHORT;
    at += length + 8 + (length % 2);
  }
  return undefined;
}

/** Reads the length from the first chunk of a file over 4 GB; 0 if it is missing. */
function rf64Length(head: Buffer): number {
  return head.length >= 28 && head.toString('latin1', 12, 16) === 'ds64' ? Number(head.readBigUInt64LE(20)) : 0;
}

export async function checkAiff(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, 8);
  if (head.length < 8) return undefined;
  const length = head.readUInt32BE(4);
  return length < PLACEHOLDER && length + 8 > size + 1 ? CUT_SHORT : undefined;
}

/** Checks Core Audio: chunks with lengths of eight bytes; that of the sound is -1 while it is unknown. */
export async function checkCaf(file: ByteSource, size: number): Promise<Finding | undefined> {
  let at = 8;
  for (let chunks = 0; chunks < MAX_CHUNKS && size - at >= 12; chunks++) {
    const header = await read(file, at, 12);
    const length = Number(header.readBigInt64BE(4));
    if (length < 0) return undefined;
    at += 12 + length;
    if (at > size) return header.toString('latin1', 0, 4) === 'data' ? CUT_SHORT : undefined;
  }
  return undefined;
}

const SEGMENT_ID = 0x18538067;
const CLUSTER_ID = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
/** The contents of a cluster (block, group, times, padding), and what may follow one (index, tags, cluster). */
const IN_CLUSTERS: readonly number[] = [0xa3, 0xa0, 0xe7, 0xa7, 0xab, 0xec, 0xbf];
const BEHIND_CLUSTERS: readonly number[] = [0x1c53bb6b, 0x1254c367, 0x1f43b675];
const HEAD_BYTES = 4096;
/** Browsers start a cluster every few seconds. */
const TAIL_BYTES = 8 * 2 ** 20;

/**
 * Checks Matroska and WebM: a segment with a length, or without one in live recordings. There, blocks and (except from
 * browsers) clusters have lengths, and the last ones must be complete.
 */
export async function checkMatroska(file: ByteSource, size: number): Promise<Finding | undefined> {
  const head = await read(file, 0, HEAD_BYTES);
  const headerLength = vint(head, 4);
  if (!headerLength) return undefined;
  const at = headerLength.end + headerLength.value;
  if (at + 12 > head.length || head.readUInt32BE(at) !== SEGMENT_ID) return undefined;
  const segment = vint(head, at + 4);
  if (segment) return segment.end + segment.value > size ? CUT_SHORT : undefined;
  return checkLastCluster(await readTail(file, size, TAIL_BYTES));
}

function checkLastCluster(tail: Buffer): Finding | undefined {
  let at = tail.lastIndexOf(CLUSTER_ID);
  if (at < 0) return undefined;
  while (at < tail.length) {
    const id = idAt(tail, at);
    if (!IN_CLUSTERS.includes(id.value) && !BEHIND_CLUSTERS.includes(id.value)) return undefined;
    const length = vint(tail, id.end);
    // Only a cluster may have an unknown length; its content follows.
    if (!length) {
      if (id.value !== BEHIND_CLUSTERS[2]) return undefined;
      at = id.end + vintLength(tail, id.end);
      continue;
    }
    if (length.end + length.value > tail.length) return BROKEN_OFF;
    at = length.end + length.value;
  }
  return undefined;
}

function idAt(bytes: Buffer, at: number): { value: number; end: number } {
  const end = at + vintLength(bytes, at);
  return { value: bytes.subarray(at, end).reduce((value, byte) => value * 256 + byte, 0), end };
}

function vintLength(bytes: Buffer, at: number): number {
  return Math.clz32(bytes[at] ?? 0) - 23;
}

/** Reads a number of variable length; undefined for "unknown", as in live recordings. */
function vint(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at] ?? 0;
  const length = vintLength(bytes, at);
  if (first === 0 || at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  let unknown = value === 0xff >> length;
  for (const byte of bytes.subarray(at + 1, at + length)) {
    value = value * 256 + byte;
    unknown &&= byte === 0xff;
  }
  return unknown ? undefined : { value, end: at + length };
}
