import { withTimeout } from '../process/timeout.ts';
import type { MemoryShare } from './memory.ts';
import { copyToShared } from './shared-copy.ts';
import type { Source } from './source.ts';

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
