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

type Sizes = { crc32: number; compressed: number; size: number };

const NARROW = 0xffffffff;
const WIDTHS = { H: 2, I: 4, Q: 8 } as const;

/** A zip archive in memory. */
export function zipOf(parts: ZipPart[], end: ZipEnd = {}): Buffer {
  const records: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const add = (...buffers: Buffer[]) => {
    records.push(...buffers);
    for (const { length } of buffers) offset += length;
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
  // The directory in 64 bits, and where that record is.
  const at = offset;
  if (end.zip64) {
    add(struct('IQIQQQQQ', 0x06064b50, 44, 45, 0, entries, entries, size, begin));
    add(struct('IIQI', 0x07064b50, 0, at, 1));
  }
  const comment = Buffer.from(end.comment ?? '');
  const count = end.zip64 ? 0xffff : entries;
  const [narrowSize, narrowBegin] = end.zip64 ? [NARROW, NARROW] : [size, begin];
  add(struct('IIHHIIH', 0x06054b50, 0, count, count, narrowSize, narrowBegin, comment.length));
  add(comment, end.after ?? Buffer.alloc(0));
  return Buffer.concat(records);
}

/** The record before the content of an entry. */
export function localHeader(part: ZipPart, found: Sizes): Buffer {
  const name = Buffer.from(part.name);
  const said = part.descriptor ? { crc32: 0, compressed: 0, size: 0 } : { ...found, ...part.local };
  const zip64 = part.zip64 ? struct('HHQQ', 1, 16, said.size, said.compressed) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
  const sizes = part.zip64 ? [NARROW, NARROW] : [said.compressed, said.size];
  const kind = [45, flagsOf(part), methodOf(part), 0];
  const head = struct('IHHHIIIIHH', 0x04034b50, ...kind, said.crc32, ...sizes, name.length, extra.length);
  return Buffer.concat([head, name, extra]);
}

function directoryEntry(part: ZipPart, found: Sizes & { offset: number }): Buffer {
  const { crc32, size, compressed, offset } = { ...found, ...part.directory };
  const name = Buffer.from(part.directory?.name ?? part.name);
  const zip64 = part.zip64 ? struct('HHQQQ', 1, 24, size, compressed, offset) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
  const sizes = part.zip64 ? [NARROW, NARROW] : [compressed, size];
  const kind = [(3 << 8) | 45, 45, flagsOf(part), methodOf(part), 0];
  const head = struct('IHHHHIIII', 0x02014b50, ...kind, crc32, ...sizes);
  const mode = (part.mode ?? 0o100644) * 0x10000;
  const tail = struct('HHHIII', name.length, extra.length, 0, 0, mode, part.zip64 ? NARROW : offset);
  return Buffer.concat([head, tail, name, extra]);
}

function descriptor({ signed, wide }: { signed: boolean; wide: boolean }, found: Sizes): Buffer {
  const record = struct(wide ? 'IQQ' : 'III', found.crc32, found.compressed, found.size);
  return signed ? Buffer.concat([struct('I', 0x08074b50), record]) : record;
}

const flagsOf = (part: ZipPart) => (part.flags ?? 0) | (part.descriptor ? 8 : 0);
const methodOf = (part: ZipPart) => part.method ?? (part.deflated ? 8 : 0);

/** Little-endian numbers of 2, 4 and 8 bytes, by the letters that Python's struct has for them. */
function struct(format: string, ...values: number[]): Buffer {
  return Buffer.concat(
    values.map((value, i) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigUInt64LE(BigInt(value));
      return buffer.subarray(0, WIDTHS[format[i] as keyof typeof WIDTHS]);
    }),
  );
}
