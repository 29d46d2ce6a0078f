import type { Bytes } from './bytes.ts';
import { END, IN_64_BITS, nextSignature, readWide } from './records.ts';
import { cutShort, ZIP_REFUSED } from './refusals.ts';

const ZIP64_END = 0x06064b50;
const ZIP64_END_BYTES = 56;
/** The bytes that the size in that record does not count. */
const ZIP64_END_LEAD = 12;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const END_BYTES = 22;
const COUNT_IN_64_BITS = 0xffff;

/** Of the Zip64 record, what makers may add to it. */
const MAX_EXTENSION = 64 * 1024;

/** The most that the last record and the locator before it have, with a comment. */
export const LAST_BYTES = ZIP64_LOCATOR_BYTES + END_BYTES + 0xffff;

/** Where the directory is, as the records after it say. Sizes in bytes, offsets from the beginning of the archive. */
export interface DirectoryPlace {
  entries: number;
  bytes: number;
  offset: number;
}

const damaged = () => ZIP_REFUSED('its end is damaged');

/** Reads the records after the directory. @throws {HttpError} 400 */
export async function readEnd(bytes: Bytes): Promise<DirectoryPlace> {
  const begin = bytes.offset;
  const wide = (await nextSignature(bytes)) === ZIP64_END ? await readZip64End(bytes) : undefined;
  if (wide) {
    const locator = await bytes.take(ZIP64_LOCATOR_BYTES);
    if (locator.readUInt32LE(0) !== ZIP64_LOCATOR || readWide(locator, 8) !== begin) throw damaged();
  }
  const end = await bytes.take(END_BYTES);
  if (end.readUInt32LE(0) !== END) throw damaged();
  const short = {
    entries: end.readUInt16LE(10),
    bytes: end.readUInt32LE(12),
    offset: end.readUInt32LE(16),
  };
  // A comment, which nobody reads.
  await bytes.take(end.readUInt16LE(20));
  if (!wide) return short;
  const agrees =
    [wide.entries, COUNT_IN_64_BITS].includes(short.entries) &&
    [wide.bytes, IN_64_BITS].includes(short.bytes) &&
    [wide.offset, IN_64_BITS].includes(short.offset);
  if (!agrees) throw damaged();
  return wide;
}

async function readZip64End(bytes: Bytes): Promise<DirectoryPlace> {
  const end = await bytes.take(ZIP64_END_BYTES);
  const extension = readWide(end, 4) + ZIP64_END_LEAD - ZIP64_END_BYTES;
  if (extension < 0 || extension > MAX_EXTENSION) throw damaged();
  const place = { entries: readWide(end, 32), bytes: readWide(end, 40), offset: readWide(end, 48) };
  await bytes.take(extension);
  return place;
}

/**
 * Where the records after the directory begin.
 *
 * @param last the last bytes of the archive, `LAST_BYTES` where it has as many
 * @param offset of them
 */
export function findEnd(last: Buffer, offset: number): number {
  for (let at = last.length - END_BYTES; at >= 0; at--) {
    if (last.readUInt32LE(at) !== END || at + END_BYTES + last.readUInt16LE(at + 20) !== last.length)
      continue;
    const locator = at - ZIP64_LOCATOR_BYTES;
    const wide = locator >= 0 && last.readUInt32LE(locator) === ZIP64_LOCATOR;
    return wide ? readWide(last, locator + 8) : offset + at;
  }
  throw cutShort();
}
