import type { Bytes } from './bytes.ts';
import type { Found } from './content.ts';
import { DESCRIPTOR, DIRECTORY, LOCAL, readWide } from './records.ts';
import { cutShort } from './refusals.ts';

const LONGEST = 24;
const SIGNATURE_BYTES = 4;

/**
 * Drops the record that follows content whose sizes do not stand before it. It comes with a signature and without one,
 * with sizes of 32 and of 64 bits, and does not say which: what fits the content is the one, if a record comes after it.
 *
 * @returns whether one fits
 * @throws {HttpError} 400 when the archive ends before
 */
export async function dropDescriptor(bytes: Bytes, found: Found): Promise<boolean> {
  const next = await bytes.peek(LONGEST + SIGNATURE_BYTES);
  for (const signed of [true, false]) {
    for (const width of [4, 8]) {
      const length = (signed ? SIGNATURE_BYTES : 0) + 4 + 2 * width;
      if (next.length < length + SIGNATURE_BYTES) continue;
      if (signed && next.readUInt32LE(0) !== DESCRIPTOR) continue;
      if (!describes(next.subarray(signed ? SIGNATURE_BYTES : 0), width, found)) continue;
      if (![LOCAL, DIRECTORY].includes(next.readUInt32LE(length))) continue;
      bytes.skip(length);
      return true;
    }
  }
  if (next.length < LONGEST + SIGNATURE_BYTES) throw cutShort();
  return false;
}

function describes(record: Buffer, width: number, { crc32, compressed, size }: Found): boolean {
  const read = (at: number) => (width === 8 ? readWide(record, at) : record.readUInt32LE(at));
  return record.readUInt32LE(0) === crc32 && read(4) === compressed && read(4 + width) === size;
}
