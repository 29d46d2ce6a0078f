import type { Bytes } from './bytes.ts';
import type { Found } from './content.ts';
import { readEnd } from './end.ts';
import {
  DIRECTORY,
  type DirectoryEntry,
  type LocalHeader,
  nextSignature,
  readDirectoryEntry,
} from './records.ts';
import { entryRefused, ZIP_REFUSED } from './refusals.ts';

const SYMBOLIC_LINK = 0xa000;

/** An entry that has been read. */
export interface ReadEntry {
  header: Pick<LocalHeader, 'name' | 'nameBytes' | 'method'>;
  found: Found;
}

const disagrees = () => ZIP_REFUSED('its directory does not agree with its content');

/**
 * Reads the directory and everything to the end of the archive, and holds it against what was read before: each entry is
 * in it as it is, and nothing else.
 *
 * @param entries by the offsets of their local headers
 * @throws {HttpError} 400
 */
export async function verifyDirectory(bytes: Bytes, entries: ReadonlyMap<number, ReadEntry>): Promise<void> {
  const offset = bytes.offset;
  const left = new Map(entries);
  while ((await nextSignature(bytes)) === DIRECTORY) {
    const entry = await readDirectoryEntry(bytes);
    const read = left.get(entry.offset);
    if (!read || !isSame(entry, read)) throw disagrees();
    // Only the directory knows of links.
    if (entry.unixType === SYMBOLIC_LINK) throw entryRefused(read.header.name, 'is a symbolic link');
    left.delete(entry.offset);
  }
  if (left.size > 0) throw disagrees();
  const size = bytes.offset - offset;
  const end = await readEnd(bytes);
  if (end.entries !== entries.size || end.bytes !== size || end.offset !== offset) throw disagrees();
  if ((await bytes.peek(1)).length > 0) throw ZIP_REFUSED('it goes on after its end');
}

function isSame(entry: DirectoryEntry, { header, found }: ReadEntry): boolean {
  return (
    header.nameBytes.equals(entry.nameBytes) &&
    header.method === entry.method &&
    found.crc32 === entry.crc32 &&
    found.compressed === entry.compressed &&
    found.size === entry.size
  );
}
