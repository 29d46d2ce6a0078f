import { withTimeout } from '../process/timeout.ts';
import type { MemoryShare } from './memory.ts';
import type { Source } from './source.ts';

const WORD_BYTES = 8;
const STEP_BYTES = 64 * 1024;
const aligned = new Uint8Array(STEP_BYTES + WORD_BYTES);

/**
 * Copies bytes into shared memory. V8 does that byte by byte, which takes ten times as long, unless both begin at the same
 * place of a word; so they go by way of a buffer where they do.
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

/** Whoever sends slowly keeps its memory for long: those who wait for some are told to come back in the end. */
const PATIENCE_MS = 600_000;
const NO_MEMORY = 'There has been no memory for the upload for ten minutes (UPLOAD_MEMORY_BYTES).';

/** A part of a source. */
export interface Block {
  block: Buffer;
  /** To be called when they are stored: others wait for the memory. */
  give(): void;
}

/**
 * The bytes of a source in blocks of one size, the last one as large as what is left; all are shown to the caller of the
 * source, at the latest when this has come to its end. While the source is quiet, it has at most the memory of one block.
 *
 * @returns no block for a source that is empty
 * @throws what the source failed with
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
      // Whoever looks at them may not lag behind by more than two, which would only take memory.
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

/** Resolves when both have. Not `Promise.all`, whose results would keep those of all before. */
export async function both(first: Promise<unknown>, second: Promise<unknown> | undefined): Promise<void> {
  await first;
  await second;
}

/** Takes no memory: somebody else has it. */
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
