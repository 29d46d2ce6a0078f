import type { FileHandle } from 'node:fs/promises';
import { CUT_SHORT, type Finding, read, readTail, UNFINISHED } from './finding.ts';

const PACK_BYTES = 128;
const RANDOM_INDEX = Buffer.from('060e2b34020501010d01020101110100', 'hex');
/** Byte 14 of the key of a partition that will be written again when the recording is finished. */
const OPEN: readonly number[] = [1, 3];

/**
 * MXF (SMPTE 377): the header says where the footer begins, once the recording is finished. Streamed files have no such
 * place; they end with a list of their parts.
 */
export async function checkMxf(file: FileHandle, size: number): Promise<Finding | undefined> {
  const header = await readPartition(file, 0);
  if (!header) return undefined;
  if (header.footer > 0) {
    const footer = await readPartition(file, header.footer);
    return !footer || footer.end > size ? CUT_SHORT : undefined;
  }
  return OPEN.includes(header.status) && !(await endsWithIndex(file, size)) ? UNFINISHED : undefined;
}

interface Partition {
  status: number;
  /** Where the last partition begins; 0 when that is not known. */
  footer: number;
  /** Where its own metadata and index end. */
  end: number;
}

async function readPartition(file: FileHandle, at: number): Promise<Partition | undefined> {
  if (!Number.isSafeInteger(at)) return undefined;
  const bytes = await read(file, at, PACK_BYTES);
  // A key, a length of one byte or of as many as its low bits say, and the pack.
  const first = bytes[16] ?? 0;
  const start = 17 + (first > 0x80 ? first & 0x7f : 0);
  if (bytes.length < start + 48) return undefined;
  const length = first > 0x80 ? Number(`0x${bytes.toString('hex', 17, start)}`) : first;
  const long = (offset: number) => Number(bytes.readBigUInt64BE(start + offset));
  return { status: bytes[14] ?? 0, footer: long(24), end: at + start + length + long(32) + long(40) };
}

async function endsWithIndex(file: FileHandle, size: number): Promise<boolean> {
  const tail = await readTail(file, size, 4);
  const length = tail.length === 4 ? tail.readUInt32BE(0) : 0;
  if (length < 20 || length > size) return false;
  return (await read(file, size - length, 16)).equals(RANDOM_INDEX);
}
