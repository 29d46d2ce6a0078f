import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of an archive made by hand, with everything that may be wrong about it. */
export interface ZipPart {
  name: string | Buffer;
  content?: Buffer | string;
  deflated?: boolean;
  /** Sizes after the content: with a signature or bare, in 32 or 64 bits. */
  descriptor?: { signed: boolean; wide: boolean };
  /** Sizes before the content stand in the Zip64 field. */
  zip64?: boolean;
  flags?: number;
  method?: number;
  extra?: Buffer;
  /** Its kind of file and its permissions on a Unix system. */
  mode?: number;
  /** Says other things about it in the directory. */
  directory?: Partial<{ name: string; crc32: number; compressed: number; size: number; offset: number }>;
  /** Says other things about it before its content. */
  local?: Partial<{ crc32: number; compressed: number; size: number }>;
}

/** How an archive ends. */
export interface ZipEnd {
  zip64?: boolean;
  comment?: string;
  entries?: number;
  after?: Buffer;
  /** Leaves entries out of the directory, by their place. */
  without?: number[];
}

const NARROW = 0xffffffff;

/** A zip archive in memory. */
export function zipOf(parts: ZipPart[], end: ZipEnd = {}): Buffer {
  const records: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const add = (...buffers: Buffer[]) => {
    for (const buffer of buffers) {
      records.push(buffer);
      offset += buffer.length;
    }
  };
  parts.forEach((part, i) => {
    const content = Buffer.from(part.content ?? '');
    const packed = part.deflated ? deflateRawSync(content) : content;
    const found = { crc32: crc32(content), compressed: packed.length, size: content.length };
    if (!end.without?.includes(i)) directory.push(directoryEntry(part, { ...found, offset }));
    add(localHeader(part, found), packed);
    if (part.descriptor) add(descriptor(part.descriptor, found));
  });
  const begin = offset;
  add(...directory);
  const size = offset - begin;
  const entries = end.entries ?? directory.length;
  if (end.zip64) add(zip64End(entries, size, begin), zip64Locator(offset));
  const comment = Buffer.from(end.comment ?? '');
  const wide = end.zip64 ?? false;
  add(
    numbers(
      [4, 0x06054b50],
      [4, 0],
      [2, wide ? 0xffff : entries],
      [2, wide ? 0xffff : entries],
      [4, wide ? NARROW : size],
      [4, wide ? NARROW : begin],
      [2, comment.length],
    ),
    comment,
    end.after ?? Buffer.alloc(0),
  );
  return Buffer.concat(records);
}

type Sizes = { crc32: number; compressed: number; size: number };

/** The record before the content of an entry. */
export function localHeader(part: ZipPart, found: Sizes): Buffer {
  const name = Buffer.from(part.name);
  const {
    crc32: crc,
    compressed,
    size,
  } = part.descriptor ? { crc32: 0, compressed: 0, size: 0 } : { ...found, ...part.local };
  const zip64 = part.zip64 ? numbers([2, 1], [2, 16], [8, size], [8, compressed]) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
  return Buffer.concat([
    numbers(
      [4, 0x04034b50],
      [2, 45],
      [2, flagsOf(part)],
      [2, methodOf(part)],
      [4, 0],
      [4, crc],
      [4, part.zip64 ? NARROW : compressed],
      [4, part.zip64 ? NARROW : size],
      [2, name.length],
      [2, extra.length],
    ),
    name,
    extra,
  ]);
}

function directoryEntry(part: ZipPart, found: Sizes & { offset: number }): Buffer {
  const said = { ...found, ...part.directory };
  const name = Buffer.from(part.directory?.name ?? part.name);
  const zip64 = part.zip64
    ? numbers([2, 1], [2, 24], [8, said.size], [8, said.compressed], [8, said.offset])
    : Buffer.alloc(0);
  return Buffer.concat([
    numbers(
      [4, 0x02014b50],
      [2, (3 << 8) | 45],
      [2, 45],
      [2, flagsOf(part)],
      [2, methodOf(part)],
      [4, 0],
      [4, said.crc32],
      [4, part.zip64 ? NARROW : said.compressed],
      [4, part.zip64 ? NARROW : said.size],
      [2, name.length],
      [2, zip64.length],
      [6, 0],
      [4, (part.mode ?? 0o100644) * 0x10000],
      [4, part.zip64 ? NARROW : said.offset],
    ),
    name,
    zip64,
  ]);
}

function descriptor({ signed, wide }: { signed: boolean; wide: boolean }, found: Sizes): Buffer {
  const width = wide ? 8 : 4;
  const record = numbers([4, found.crc32], [width, found.compressed], [width, found.size]);
  return signed ? Buffer.concat([numbers([4, 0x08074b50]), record]) : record;
}

/** The records that say in 64 bits where the directory is. */
function zip64End(entries: number, size: number, begin: number): Buffer {
  return numbers(
    [4, 0x06064b50],
    [8, 44],
    [4, 45],
    [8, 0],
    [8, entries],
    [8, entries],
    [8, size],
    [8, begin],
  );
}

const zip64Locator = (offset: number) => numbers([4, 0x07064b50], [4, 0], [8, offset], [4, 1]);

const flagsOf = (part: ZipPart) => (part.flags ?? 0) | (part.descriptor ? 8 : 0);
const methodOf = (part: ZipPart) => part.method ?? (part.deflated ? 8 : 0);

/** Little-endian numbers, each after its width in bytes. */
function numbers(...list: [width: number, value: number][]): Buffer {
  return Buffer.concat(
    list.map(([width, value]) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigUInt64LE(BigInt(value));
      return buffer.subarray(0, width);
    }),
  );
}
