import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, CUT_SHORT, type Finding, read, readTail } from './truncation-finding.ts';

const SEGMENT_ID = 0x18538067;
const CLUSTER_ID = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
/** What stands in a cluster, and what may follow one: a block, a group, times, padding; index, tags, a cluster. */
const IN_CLUSTERS: readonly number[] = [0xa3, 0xa0, 0xe7, 0xa7, 0xab, 0xec, 0xbf];
const BEHIND_CLUSTERS: readonly number[] = [0x1c53bb6b, 0x1254c367, 0x1f43b675];
const HEAD_BYTES = 4096;
/** Browsers begin a cluster at least every few seconds. */
const TAIL_BYTES = 8 * 2 ** 20;

/**
 * Matroska and WebM: a segment that has a length, or none where it was written as it was recorded. Then blocks and,
 * but for those of browsers, clusters have lengths, and the last ones must be whole.
 */
export async function checkMatroska(file: FileHandle, size: number): Promise<Finding | undefined> {
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
    // Only a cluster may be of unknown length; its content follows.
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

/** A number of variable length; undefined when it says "unknown", as live recordings do. */
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
