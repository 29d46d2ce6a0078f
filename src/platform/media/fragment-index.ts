import { open } from 'node:fs/promises';

/** A segment of a fragmented file, which begins with a key frame. */
export interface Segment {
  /** The first byte. */
  offset: number;
  bytes: number;
  seconds: number;
}

/** The beginning of a fragmented MP4 file: what a player needs before the first segment, and where each one lies. */
export interface FragmentIndex {
  /** The bytes before the index, which every segment needs. */
  initBytes: number;
  /** The bytes before the first segment. */
  headBytes: number;
  segments: Segment[];
  /** The codec of pictures as in RFC 6381, such as `avc1.64001f`; undefined for sound alone. */
  videoCodec: string | undefined;
}

/** The file has no index of fragments at its front. */
export class InvalidFragmentIndex extends Error {
  override name = 'InvalidFragmentIndex';
}

const BOX_HEADER = 8;
/** The bytes of an entry of an index. */
const ENTRY = 12;
/** Twenty hours of segments need a fifth of this. */
export const MAX_HEAD_BYTES = 4 * 2 ** 20;

/** Reads the index of a file, and counts the frames of its first track. @throws {InvalidFragmentIndex} */
export async function indexFile(path: string): Promise<FragmentIndex & { frames: number }> {
  const file = await open(path, 'r');
  const read = async (offset: number, bytes: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
    return buffer.subarray(0, bytesRead);
  };
  try {
    const index = parseFragmentIndex(await read(0, await headBytesOf(read)));
    let frames = 0;
    for (const { offset } of index.segments) {
      const moof = await read(offset, (await read(offset, BOX_HEADER)).readUInt32BE(0));
      frames += framesIn(moof);
    }
    return { ...index, frames };
  } finally {
    await file.close();
  }
}

/** Returns the index at the front of a file of which only the first bytes are known. @throws {InvalidFragmentIndex} */
export async function indexIn(beginning: Buffer): Promise<FragmentIndex> {
  const read = async (offset: number, bytes: number) => beginning.subarray(offset, offset + bytes);
  return parseFragmentIndex(beginning.subarray(0, await headBytesOf(read)));
}

async function headBytesOf(read: (offset: number, bytes: number) => Promise<Buffer>): Promise<number> {
  for (let offset = 0; offset <= MAX_HEAD_BYTES; ) {
    const header = await read(offset, BOX_HEADER);
    if (header.length < BOX_HEADER) throw new InvalidFragmentIndex('The file has no fragments.');
    if (header.toString('latin1', 4) === 'moof') return offset;
    offset += Math.max(header.readUInt32BE(0), BOX_HEADER);
  }
  throw new InvalidFragmentIndex('The file has no fragments near its beginning.');
}

/** Parses the bytes before the first fragment (ISO 14496-12, `sidx`). @throws {InvalidFragmentIndex} */
export function parseFragmentIndex(head: Buffer): FragmentIndex {
  for (let at = 0; at + BOX_HEADER <= head.length; ) {
    const size = head.readUInt32BE(at);
    if (size < BOX_HEADER || at + size > head.length) break;
    if (head.toString('latin1', at + 4, at + BOX_HEADER) === 'sidx') {
      const segments = segmentsOf(head.subarray(at, at + size), at + size);
      return { initBytes: at, headBytes: head.length, segments, videoCodec: videoCodecOf(head.subarray(0, at)) };
    }
    at += size;
  }
  throw new InvalidFragmentIndex('The file has no index of its fragments.');
}

/**
 * Reads the segments that a `sidx` box names; `end` is the first byte behind it.
 *
 * @throws {InvalidFragmentIndex} if it holds more than its 16-bit number counts, which ffmpeg then writes without an error
 * @throws {RangeError}
 */
export function segmentsOf(sidx: Buffer, end: number): Segment[] {
  const timescale = sidx.readUInt32BE(16);
  const wide = sidx.readUInt8(8) > 0;
  const table = wide ? 36 : 28;
  const count = sidx.readUInt16BE(table + 2);
  if (sidx.length > table + 4 + count * ENTRY) throw new InvalidFragmentIndex('The index of the file is incomplete.');
  let offset = end + (wide ? Number(sidx.readBigUInt64BE(28)) : sidx.readUInt32BE(24));
  return Array.from({ length: count }, (_, i) => {
    const entry = table + 4 + i * ENTRY;
    // The first bit says what it refers to: media.
    const bytes = sidx.readUInt32BE(entry) & 0x7fff_ffff;
    const segment = { offset, bytes, seconds: sidx.readUInt32BE(entry + 4) / timescale };
    offset += bytes;
    return segment;
  });
}

/** Reads profile, constraints and level of H.264 from its configuration record. */
function videoCodecOf(init: Buffer): string | undefined {
  const record = init.indexOf('avcC', 0, 'latin1');
  return record < 0 ? undefined : `avc1.${init.toString('hex', record + 5, record + 8)}`;
}

/** Counts the frames of the first track of a segment, by the runs of its `moof` box. */
function framesIn(moof: Buffer): number {
  const [track] = childrenOf(moof, BOX_HEADER).filter(({ type }) => type === 'traf');
  if (!track) return 0;
  const runs = childrenOf(track.box, BOX_HEADER).filter(({ type }) => type === 'trun');
  return runs.reduce((sum, { box }) => sum + box.readUInt32BE(12), 0);
}

function childrenOf(box: Buffer, from: number): { type: string; box: Buffer }[] {
  const children = [];
  for (let at = from; at + BOX_HEADER <= box.length; at += Math.max(box.readUInt32BE(at), BOX_HEADER)) {
    const child = box.subarray(at, at + box.readUInt32BE(at));
    children.push({ type: child.toString('latin1', 4, 8), box: child });
  }
  return children;
}
