import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { refused } from '#platform/storage/port.ts';
import { Bytes } from './bytes.ts';
import { findEnd, LAST_BYTES, readEnd } from './end.ts';
import { DIRECTORY, nextSignature, readDirectoryEntry } from './records.ts';
import { ZIP_REFUSED } from './refusals.ts';

const READ_BYTES = 256 * 1024;
/** What Deno throws at whoever has no permission. */
const FORBIDDEN = 'NotCapable';
/** There is no folder to write to. */
const READ_ONLY: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];
const NO_FOLDER =
  'it tells the sizes of its files behind them, and this server may write to no folder in which to look that up';

/** What is left of an archive, in a file that nobody else can find, and that is gone with the process at the latest. */
export interface Spooled {
  /** The same bytes from the same offset. */
  bytes: Bytes;
  /** Of the entries in it, by the offsets of their local headers: the sizes of their content as it stands in the archive. */
  compressed: ReadonlyMap<number, number>;
  close(): Promise<void>;
}

/**
 * Writes the rest of an archive to a file and looks its entries up in the directory at its end.
 *
 * @param folder where the file is; made when absent
 * @param most bytes that may be left
 * @throws {HttpError} 400; also where the process may write to no folder
 * @throws {StorageRefused} when the disk does not take it
 */
export async function spool(
  rest: Bytes,
  { folder, most, maxEntries }: { folder: string; most: number; maxEntries: number },
): Promise<Spooled> {
  const start = rest.offset;
  const file = await openNameless(folder);
  try {
    const length = await write(file, rest, most);
    const from = (offset: number) => new Bytes(read(file, offset - start, length), offset);
    const compressed = await lookUp(from, { start, end: start + length, maxEntries });
    return { bytes: from(start), compressed, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  try {
    await mkdir(folder, { recursive: true });
    const path = join(folder, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return file;
  } catch (error) {
    throw isForbidden(error) ? ZIP_REFUSED(NO_FOLDER) : refused(error);
  }
}

function isForbidden(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === FORBIDDEN || ('code' in error && READ_ONLY.includes(error.code));
}

async function write(file: FileHandle, rest: Bytes, most: number): Promise<number> {
  let length = 0;
  for await (const chunk of rest.rest()) {
    if (length + chunk.length > most) throw ZIP_REFUSED(`it has more than ${most} bytes`);
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await file
        .write(chunk, done, chunk.length - done, length + done)
        .catch((error) => {
          throw refused(error);
        });
      done += bytesWritten;
    }
    length += chunk.length;
  }
  return length;
}

async function* read(file: FileHandle, from: number, end: number): AsyncGenerator<Buffer, void, void> {
  for (let at = from; at < end; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The directory is believed for now: when everything has been read, it is held against that. */
async function lookUp(
  from: (offset: number) => Bytes,
  { start, end, maxEntries }: { start: number; end: number; maxEntries: number },
): Promise<Map<number, number>> {
  const lastFrom = Math.max(start, end - LAST_BYTES);
  const inside = (offset: number) => {
    if (offset < start || offset > end) throw ZIP_REFUSED('its end is damaged');
    return from(offset);
  };
  const place = await readEnd(inside(findEnd(await from(lastFrom).peek(LAST_BYTES), lastFrom)));
  const directory = inside(place.offset);
  const compressed = new Map<number, number>();
  for (let count = 0; count < maxEntries && (await nextSignature(directory)) === DIRECTORY; count++) {
    const entry = await readDirectoryEntry(directory);
    compressed.set(entry.offset, entry.compressed);
  }
  return compressed;
}
