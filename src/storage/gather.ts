import type { MemoryShare } from './memory.ts';
import type { Source } from './source.ts';

/** A part of a source. */
export interface Block {
  block: Buffer;
  /** To be called when nobody needs the bytes any more: others wait for the memory. */
  give(): void;
}

/**
 * The bytes of a source in blocks of one size, the last one as large as what is left. While the source is quiet, it has
 * at most the memory of one block.
 *
 * @returns no block for a source that is empty
 * @throws what the source failed with
 */
export async function* gather(
  source: Source,
  blockBytes: number,
  memory: MemoryShare,
): AsyncGenerator<Block, void, void> {
  let buffer: Buffer | undefined;
  let filled = 0;
  const blockOf = (whole: Buffer): Block => ({
    block: whole.subarray(0, filled),
    give: () => memory.give(whole),
  });
  for await (const chunk of source.chunks()) {
    for (let taken = 0; taken < chunk.length; ) {
      buffer ??= await source.orFailure(memory.take(blockBytes));
      const part = chunk.subarray(taken, taken + blockBytes - filled);
      buffer.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < blockBytes) continue;
      yield blockOf(buffer);
      buffer = undefined;
      filled = 0;
    }
  }
  if (buffer) yield blockOf(buffer);
}
