import type { FileHandle } from 'node:fs/promises';
import { BROKEN_OFF, type Finding, readTail } from './finding.ts';

const HEADER = 27;
/** A header, 255 lengths and as many bytes as these can say. */
const LARGEST_PAGE = HEADER + 255 + 255 * 255;
const CAPTURE = Buffer.from('OggS\0', 'latin1');

/**
 * Ogg: pages with lengths. The mark of the last one says nothing when it is missing: what was recorded from a stream
 * never has it.
 */
export async function checkOgg(file: FileHandle, size: number): Promise<Finding | undefined> {
  const tail = await readTail(file, size, LARGEST_PAGE + HEADER);
  const at = tail.lastIndexOf(CAPTURE);
  if (at < 0) return undefined;
  const segments = tail[at + 26];
  if (segments === undefined || at + HEADER + segments > tail.length) return BROKEN_OFF;
  const lengths = tail.subarray(at + HEADER, at + HEADER + segments);
  const end = at + HEADER + segments + lengths.reduce((sum, length) => sum + length, 0);
  return end > tail.length ? BROKEN_OFF : undefined;
}
