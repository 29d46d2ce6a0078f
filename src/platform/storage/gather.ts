import { withTimeout } from '../process/timeout.ts';
import type { MemoryShare } from './memory.ts';
import type { Source } from './source.ts';

const WORD_BYTES = 8;
const STEP_BYTES = 64 * 1024;
const aligned = new Uint8Array(STEP_BYTES + WORD_BYTES);

/**
 * Copies bytes into shared memory. V8 copies byte by byte, ten times slower, unless both begin at the same offset
 * within a word; a buffer in between aligns them.
 */
export function copyToShared(bytes: Uint8Array, target: Uint8Array, at: number): void {
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    const step = bytes.subarray(from, from + STEP_BYTES);
    const place = (target.byteOffset + at + from) % WORD_BYTES;
    if (step.byteOffset % WORD_BYTES === place) target.set(step, at + from);
    else {
      aligned.set(step, place);
      target.set(aligned.subarray(place, place + step.length), at + from);
    }
  }
}

/** A slow upload keeps its memory for long; uploads that wait for memory fail after this time. */
const PATIENCE_MS = 600_000;
const NO_MEMORY = 'No memory was free for the upload for ten minutes (UPLOAD_MEMORY_BYTES).';

/** A part of a source. */
export interface Block {
  block: Buffer;
  /** Call this after the block is stored: other uploads wait for its memory. */
  give(): void;
}

/**
 * Reads a source in blocks of one size; the last one may be smaller. All blocks are shown to the caller of the source
 * before this ends. While the source is idle, it holds the memory of at most one block.
 *
 * @returns no block for an empty source
 * @throws the error of the source
 */
export async function* gather(
  source: Source,
  blockBytes: number,
  memory: MemoryShare,
): AsyncGenerator<Block, void, void> {
  if (source.whole) return yield* slices(source, source.whole, blockBytes);
  let buffer: Buffer | undefined;
  let filled = 0;
  let shown: Promise<unknown> = Promise.resolve();
  let before: Promise<unknown> = shown;
  const blockOf = (whole: Buffer): Block => {
    const block = whole.subarray(0, filled);
    const looking = source.show(block);
    shown = both(shown, looking);
    return { block, give: () => void Promise.resolve(looking).then(() => memory.give(whole)) };
  };
  for await (const chunk of source.chunks()) {
    for (let taken = 0; taken < chunk.length; ) {
      buffer ??= await source.orFailure(withTimeout(memory.take(blockBytes), PATIENCE_MS, NO_MEMORY));
      const part = chunk.subarray(taken, taken + blockBytes - filled);
      copyToShared(part, buffer, filled);
      taken += part.length;
      filled += part.length;
      if (filled < blockBytes) continue;
      // The caller may lag behind by at most two blocks; more would only use memory.
      await source.orFailure(before);
      before = shown;
      yield blockOf(buffer);
      buffer = undefined;
      filled = 0;
    }
  }
  if (buffer) yield blockOf(buffer);
  await shown;
}

/** Resolves when both have. Not `Promise.all`, whose results would retain those of all earlier calls. */
export async function both(first: Promise<unknown>, second: Promise<unknown> | undefined): Promise<void> {
  await first;
  await second;
}

/** Uses no upload memory: the bytes are in memory already. */
async function* slices(
  source: Source,
  { buffer, byteOffset, length }: Uint8Array,
  blockBytes: number,
): AsyncGenerator<Block, void, void> {
  for (let at = 0; at < length; at += blockBytes) {
    const block = Buffer.from(buffer, byteOffset + at, Math.min(blockBytes, length - at));
    const looking = source.show(block);
    yield { block, give: () => undefined };
    await looking;
  }
}
