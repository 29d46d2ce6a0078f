import { crc32, createInflateRaw } from 'node:zlib';
import type { Bytes } from './bytes.ts';
import { DEFLATED, type LocalHeader } from './records.ts';
import { entryRefused } from './refusals.ts';

/** Of compressed content at a time; what it becomes is at most about a thousand times as large. */
const COMPRESSED_BYTES = 64 * 1024;
const INFLATED_BYTES = 64 * 1024;
const STORED_BYTES = 256 * 1024;

/** Media hardly shrink, text to a tenth; a bomb is zeros, which shrink to a thousandth. Silence at the beginning is none. */
const BOMB_RATIO = 200;
const BOMB_BYTES = 4 * 2 ** 20;

/** What the content of an entry was found to be, so far. Sizes in bytes. */
export interface Found {
  crc32: number;
  compressed: number;
  size: number;
}

/** What content is read from, and how much of it there may be. */
export interface ContentSource {
  bytes: Bytes;
  header: Pick<LocalHeader, 'name' | 'method'>;
  /** As the archive says; undefined where that follows the content. Deflated content knows its end itself. */
  compressed: number | undefined;
  /** Told of the bytes before they are handed out. */
  onBytes: (count: number) => void;
}

/**
 * The content of an entry as it was before it was put into the archive, measured on the way.
 *
 * @throws {HttpError} 400 when it is damaged, cut short or a bomb
 */
export async function* readContent(source: ContentSource, found: Found): AsyncGenerator<Buffer, void, void> {
  const chunks = source.header.method === DEFLATED ? inflated(source, found) : stored(source, found);
  for await (const chunk of chunks) {
    source.onBytes(chunk.length);
    found.size += chunk.length;
    found.crc32 = crc32(chunk, found.crc32);
    yield chunk;
  }
}

async function* stored({ bytes, compressed = 0 }: ContentSource, found: Found) {
  while (found.compressed < compressed) {
    const chunk = await bytes.available(Math.min(STORED_BYTES, compressed - found.compressed));
    bytes.skip(chunk.length);
    found.compressed += chunk.length;
    yield chunk;
  }
}

async function* inflated({ bytes, header, compressed = Infinity }: ContentSource, found: Found) {
  const inflate = createInflateRaw({ chunkSize: INFLATED_BYTES });
  let fault: unknown;
  let wanting = true;
  let made = 0;
  let happened = Promise.withResolvers<void>();
  const wake = () => happened.resolve();
  inflate.on('readable', wake);
  inflate.on('end', wake);
  inflate.on('error', (error) => {
    fault = error;
    wake();
  });
  // What the engine has not used when it comes to the end belongs to what follows.
  const settle = () => {
    bytes.skip(inflate.bytesWritten - found.compressed);
    found.compressed = inflate.bytesWritten;
  };
  try {
    while (!inflate.readableEnded) {
      happened = Promise.withResolvers();
      const chunk: Buffer | null = inflate.read();
      if (chunk) {
        made += chunk.length;
        if (made > BOMB_BYTES && made > BOMB_RATIO * inflate.bytesWritten) {
          throw entryRefused(header.name, `becomes more than ${BOMB_RATIO} times as large as it is packed`);
        }
        yield chunk;
        continue;
      }
      if (fault) throw entryRefused(header.name, 'is damaged');
      if (wanting) {
        settle();
        const more = Math.min(COMPRESSED_BYTES, compressed - found.compressed);
        if (more === 0) inflate.end();
        else
          inflate.write(await bytes.available(more), () => {
            wanting = true;
            wake();
          });
        wanting = false;
        continue;
      }
      await happened.promise;
    }
    settle();
  } finally {
    inflate.destroy();
  }
}
