import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

const CHUNK = 64 * 1024;

/** The same bytes for the same seed and length, different everywhere. */
export function bytes(length: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0, state = seed; i < words.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words[i] = state;
  }
  return Buffer.from(words.buffer, 0, length);
}

export const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** What happens to a source after its bytes. */
export type Ending = 'end' | 'stall' | Error;

/** A stream of the bytes in chunks as they come from a socket. */
export function source(data: Buffer, ending: Ending = 'end'): Readable {
  let position = 0;
  return new Readable({
    read() {
      if (position < data.length) {
        position += CHUNK;
        this.push(data.subarray(position - CHUNK, position));
      } else if (ending === 'end') this.push(null);
      else if (ending !== 'stall') this.destroy(ending);
    },
  });
}

/** Everything a web stream has. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
