/** The records of a zip archive beside its content, as PKWARE's APPNOTE has them. Numbers are little-endian. */
import type { Bytes } from './bytes.ts';
import { entryName } from './names.ts';
import { entryRefused, ZIP_REFUSED } from './refusals.ts';

export const LOCAL = 0x04034b50;
export const DIRECTORY = 0x02014b50;
export const DESCRIPTOR = 0x08074b50;
export const END = 0x06054b50;

export const STORED = 0;
export const DEFLATED = 8;

/** In place of a size or an offset that stands, in 64 bits, in an extra field. */
export const IN_64_BITS = 0xffffffff;

const ENCRYPTED = 1 | (1 << 6) | (1 << 13);
const SIZES_FOLLOW = 1 << 3;
const PATCH = 1 << 5;
const UTF8 = 1 << 11;

const ZIP64_FIELD = 1;
const UNICODE_PATH_FIELD = 0x7075;

const HEADER_BYTES = 30;
const DIRECTORY_BYTES = 46;

/** What stands before the content of an entry. Sizes in bytes. */
export interface LocalHeader {
  /** Of this record, in the archive. */
  offset: number;
  name: string;
  nameBytes: Buffer;
  method: number;
  /** Of the content as it stands in the archive, and as it is; undefined where they follow it. */
  known: { crc32: number; compressed: number; size: number } | undefined;
}

/** What the directory at the end says about an entry. */
export interface DirectoryEntry {
  /** Of its local header. */
  offset: number;
  nameBytes: Buffer;
  method: number;
  crc32: number;
  compressed: number;
  size: number;
  /** The kind of file that it is on a Unix system; 0 where that is not said. */
  unixType: number;
}

/** The signature of the record that is next; undefined where there is none. */
export async function nextSignature(bytes: Bytes): Promise<number | undefined> {
  const next = await bytes.peek(4);
  return next.length === 4 ? next.readUInt32LE(0) : undefined;
}

/** Whether an archive is next: one of its entries, or the end of one without any. */
export async function beginsArchive(bytes: Bytes): Promise<boolean> {
  const signature = await nextSignature(bytes);
  return signature === LOCAL || signature === END;
}

/** Whether the entry that is next is stored as it is, and does not say where it ends. */
export async function endIsUnknown(bytes: Bytes): Promise<boolean> {
  const head = await bytes.peek(HEADER_BYTES);
  if (head.length < HEADER_BYTES) return false;
  return head.readUInt16LE(8) === STORED && (head.readUInt16LE(6) & SIZES_FOLLOW) !== 0;
}

/** Reads a local header. @throws {HttpError} 400 for what no entry may be */
export async function readLocalHeader(bytes: Bytes): Promise<LocalHeader> {
  const { offset } = bytes;
  const head = await bytes.take(HEADER_BYTES);
  const flags = head.readUInt16LE(6);
  const method = head.readUInt16LE(8);
  const nameBytes = Buffer.from(await bytes.take(head.readUInt16LE(26)));
  const extra = extraFields(await bytes.take(head.readUInt16LE(28)));
  const utf8 = (flags & UTF8) !== 0;
  const name = entryName({ bytes: nameBytes, utf8, unicodePath: extra.get(UNICODE_PATH_FIELD) });
  if (flags & ENCRYPTED) throw entryRefused(name, 'is encrypted');
  if (flags & PATCH) throw entryRefused(name, 'is a patch');
  if (method !== STORED && method !== DEFLATED) {
    throw entryRefused(name, `has the compression method ${method}; allowed are 0 (stored) and 8 (deflated)`);
  }
  const header = { offset, name, nameBytes, method };
  if (flags & SIZES_FOLLOW) return { ...header, known: undefined };
  const wide = wideNumbers(extra.get(ZIP64_FIELD));
  const sizeIsWide = head.readUInt32LE(22) === IN_64_BITS;
  const size = widened(head.readUInt32LE(22), wide[0]);
  // In a local header both sizes stand in the field, even if one of them has room outside.
  const compressed = widened(head.readUInt32LE(18), wide[sizeIsWide || wide.length > 1 ? 1 : 0]);
  return { ...header, known: { crc32: head.readUInt32LE(14), size, compressed } };
}

/** Reads an entry of the directory. */
export async function readDirectoryEntry(bytes: Bytes): Promise<DirectoryEntry> {
  const head = await bytes.take(DIRECTORY_BYTES);
  const nameBytes = Buffer.from(await bytes.take(head.readUInt16LE(28)));
  const wide = wideNumbers(extraFields(await bytes.take(head.readUInt16LE(30))).get(ZIP64_FIELD));
  await bytes.take(head.readUInt16LE(32));
  // The field has only those, in this order, that have no room outside.
  const next = (narrow: number) => widened(narrow, narrow === IN_64_BITS ? wide.shift() : undefined);
  const size = next(head.readUInt32LE(24));
  const compressed = next(head.readUInt32LE(20));
  const offset = next(head.readUInt32LE(42));
  return {
    offset,
    nameBytes,
    method: head.readUInt16LE(10),
    crc32: head.readUInt32LE(16),
    compressed,
    size,
    unixType: (head.readUInt32LE(38) >>> 16) & 0xf000,
  };
}

/** A number of 64 bits; more than any archive has bytes where it is too large to be exact. */
export function readWide(record: Buffer, at: number): number {
  return Number(record.readBigUInt64LE(at));
}

function wideNumbers(field: Buffer | undefined): number[] {
  if (!field) return [];
  return Array.from({ length: Math.floor(field.length / 8) }, (_, i) => readWide(field, i * 8));
}

function widened(narrow: number, wide: number | undefined): number {
  if (narrow !== IN_64_BITS) return narrow;
  if (wide === undefined) throw ZIP_REFUSED('a size in it is missing');
  return wide;
}

/** The last of each kind; what is no field at the end is left out, as all programs do. */
function extraFields(extra: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) break;
    fields.set(extra.readUInt16LE(at), extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
