import { Readable } from 'node:stream';
import type { ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { detectTrackType } from '#platform/media/signature.ts';
import type { ZipEntry } from './zip/read-zip.ts';
import { readZip, type ZipOptions } from './zip/read-zip.ts';

/** Up to here a file may be the manifest or a catalog, and is kept as it is until the manifest says what it is. */
const SMALL_BYTES = 2 ** 20;
/** Of all small documents together, and of all others; what comes after them is stored at once. */
const ALL_SMALL_BYTES = 16 * 2 ** 20;
/** What the manifest, catalogs and policies are called; hundreds of pictures before them are not to take their room. */
const DOCUMENT = /\.(xml|smil|json)$/i;

/** The files of an archive by their names. */
export interface Unpacked {
  small: Map<string, Buffer>;
  stored: Map<string, ReceivedFile>;
}

/**
 * Unpacks an archive while it arrives: what is large streams into storage.
 *
 * @throws {HttpError} 400 as `readZip`
 */
export async function unpack(
  source: AsyncIterable<Uint8Array>,
  options: ZipOptions,
  staged: StagedFiles,
): Promise<Unpacked> {
  const unpacked: Unpacked = { small: new Map(), stored: new Map() };
  const left = { documents: ALL_SMALL_BYTES, others: ALL_SMALL_BYTES };
  await readZip(source, options, async ({ name, size, stream }: ZipEntry) => {
    staged.requireAll();
    const kind = DOCUMENT.test(name) ? 'documents' : 'others';
    const { head, rest } = await split(stream, Math.min(SMALL_BYTES, left[kind]));
    if (!rest) {
      left[kind] -= head.length;
      unpacked.small.set(name, head);
      return;
    }
    const file = {
      field: name,
      filename: safeFilename(name, 'file'),
      expectedBytes: size ?? options.maxBytes,
    };
    unpacked.stored.set(name, await staged.store({ ...file, stream: rest, detect: detectTrackType }));
  });
  return unpacked;
}

/** A small file as a track or an attachment after all. */
export function storeSmall(name: string, content: Buffer, staged: StagedFiles): Promise<ReceivedFile> {
  return staged.store({
    field: name,
    filename: safeFilename(name, 'file'),
    stream: Readable.from([content]),
    expectedBytes: content.length,
    detect: detectTrackType,
  });
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** All that comes, if that is not more than `most` bytes; else what has come and a stream of everything. */
async function split(stream: Readable, most: number): Promise<{ head: Buffer; rest?: Readable }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    chunks.push(next.value);
    bytes += next.value.length;
    if (bytes > most) return { head: Buffer.alloc(0), rest: Readable.from(all(chunks, iterator)) };
  }
  return { head: Buffer.concat(chunks) };
}

async function* all(chunks: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
}
