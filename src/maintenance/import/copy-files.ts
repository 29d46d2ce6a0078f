import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidFragmentIndex, indexIn, MAX_HEAD_BYTES } from '#platform/media/fragment-index.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import { putMeasured } from '#platform/storage/put-measured.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { type ItemSource, SourceError } from './catalogue-source.ts';
import { isPlaylist } from './plan-files.ts';
import type { PlannedFile } from './planned-file.ts';

/** A copied file that no row names yet. */
export interface CopiedFile {
  objectKey: string;
  /** In bytes. */
  size: number;
  /** In hexadecimal. */
  sha256: string;
  /** The text of captions and playlists. */
  text: string | undefined;
  /** The bytes before the first fragment of a file that can be streamed; undefined for other files. */
  headBytes: number | undefined;
}

export interface CopyServices {
  source: ItemSource;
  storage: ObjectStorage;
  staging: StagingLedger;
  signal: AbortSignal;
  /** The first pause before a download is repeated, in milliseconds; pauses grow. */
  retryMs?: number;
}

const ATTEMPTS = 4;
/** The bytes may have been replaced while they were read. */
const ATTEMPTS_FOR_WRONG_BYTES = 2;
const FIRST_PAUSE_MS = 500;

/**
 * Copies a file into the storage, and enters it in the staging ledger. A broken download is repeated.
 *
 * @throws {SourceError} if the source does not have the file, or its bytes are not those that the source promises
 */
export async function copyFile(file: PlannedFile, services: CopyServices): Promise<CopiedFile> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await copyOnce(file, services);
    } catch (error) {
      services.signal.throwIfAborted();
      if (error instanceof SourceError && !(error instanceof WrongBytes)) throw error;
      if (attempt === (error instanceof WrongBytes ? ATTEMPTS_FOR_WRONG_BYTES : ATTEMPTS)) throw error;
      const { retryMs = FIRST_PAUSE_MS, signal } = services;
      await delay(retryMs * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}

/** The bytes of a file differ from what the source promises. */
class WrongBytes extends SourceError {
  override name = 'WrongBytes';
}

async function copyOnce(file: PlannedFile, { source, storage, staging, signal }: CopyServices): Promise<CopiedFile> {
  const { stream, size: told } = await source.open(file.url, signal);
  // An error before the storage reads is reported by its first read.
  stream.on('error', () => undefined);
  try {
    const objectKey = await staging.stage('element');
    try {
      // Servers rewrite the addresses in playlists, and show the size and the checksum of the original.
      const facts: Partial<PlannedFile> = isPlaylist(file.mediatype) ? {} : file;
      const expectedBytes = facts.size ?? told;
      const sum = facts.checksum && createHash(facts.checksum.algorithm);
      const bytes = isPlaylist(file.mediatype) ? unsigned(stream) : stream;
      const { size, sha256, head } = await putMeasured(storage, objectKey, sum ? hashed(bytes, sum) : bytes, {
        mediatype: file.mediatype,
        signal,
        headBytes: isText(file) || isFragmented(file) ? MAX_HEAD_BYTES : 0,
        onDoubt: () => staging.doubt(objectKey),
        ...(expectedBytes !== undefined && { expectedBytes }),
      });
      requireBytes(facts, { size, hex: sum?.digest('hex') });
      const text = isText(file) ? head.toString() : undefined;
      return { objectKey, size, sha256, text, headBytes: text === undefined ? await headBytesIn(head) : undefined };
    } catch (error) {
      await staging.discard([objectKey]);
      throw error;
    }
  } finally {
    stream.destroy();
  }
}

const isText = ({ mediatype }: PlannedFile) => mediatype === CAPTIONS_TYPE || isPlaylist(mediatype);
/** True for a file that may have fragments. */
const isFragmented = ({ mediatype }: PlannedFile) => /^(video|audio)\/mp4$/.test(mediatype);

async function headBytesIn(head: Buffer): Promise<number | undefined> {
  try {
    return (await indexIn(head)).headBytes;
  } catch (error) {
    if (error instanceof InvalidFragmentIndex || error instanceof RangeError) return undefined;
    throw error;
  }
}

const MAX_PLAYLIST_BYTES = 2 ** 20;

/** Removes the signatures that a server has added to the addresses in a playlist. */
function unsigned(stream: Readable): Readable {
  return Readable.from(
    (async function* () {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of stream) {
        size += chunk.length;
        if (size > MAX_PLAYLIST_BYTES) throw new SourceError(`The playlist has more than ${MAX_PLAYLIST_BYTES} bytes.`);
        chunks.push(chunk);
      }
      yield Buffer.from(
        Buffer.concat(chunks)
          .toString()
          .replaceAll(/^([^#?\n]+)\?[^\n]*$/gm, '$1'),
      );
    })(),
  );
}

function hashed(stream: Readable, sum: ReturnType<typeof createHash>): Readable {
  return Readable.from(
    (async function* () {
      for await (const chunk of stream) {
        sum.update(chunk);
        yield chunk;
      }
    })(),
  );
}

function requireBytes(
  { size: promised, checksum }: Partial<PlannedFile>,
  { size, hex }: { size: number; hex?: string | undefined },
) {
  if (promised !== undefined && promised !== size) {
    throw new WrongBytes(`The source promises ${promised} bytes, and sends ${size}.`);
  }
  if (checksum && checksum.hex !== hex)
    throw new WrongBytes(`The bytes do not match their ${checksum.algorithm} checksum.`);
}
