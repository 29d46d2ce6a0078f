import { lstat, readdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MediaFailure } from './failure.ts';

const WATCH: Watch = {
  lookMs: 1000,
  reserve: (bytes) => Math.min(2 ** 30, bytes * 0.05),
};

/** How outputs are watched. */
export interface Watch {
  /** Between two looks. */
  lookMs: number;
  /** What a disk of so many bytes keeps free for everybody else. */
  reserve: (bytes: number) => number;
}

/** A file that is going to be written, or a folder with all that is in it. */
export interface WatchedOutput {
  path: string;
  /** More than this is no result of what was asked for. */
  maxBytes: number;
  /** What to say then, if something else than of the result of an encoder. */
  tooLarge?: string;
}

/**
 * Runs what writes a file, and aborts it when that becomes larger than it may be or fills the disk.
 *
 * @param run must end when its signal aborts
 * @throws {MediaFailure} permanent for a file that is too large, a fault of ours for a full disk
 */
export async function watched(
  output: WatchedOutput,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<unknown>,
  watch = WATCH,
): Promise<void> {
  let fault = await findFault(output, watch);
  if (fault) throw fault;
  const controller = new AbortController();
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    fault ??= await findFault(output, watch);
    looking = false;
    if (fault) controller.abort(fault);
  }, watch.lookMs);
  try {
    await run(signal ? AbortSignal.any([signal, controller.signal]) : controller.signal);
  } catch (error) {
    // A tool that is out of room may end before the next look.
    throw fault ?? (await findFault(output, watch)) ?? error;
  } finally {
    clearInterval(timer);
  }
}

async function findFault(
  { path, maxBytes, tooLarge }: WatchedOutput,
  { reserve }: Watch,
): Promise<MediaFailure | undefined> {
  if ((await sizeOf(path)) > maxBytes) {
    const message = tooLarge ?? 'The result becomes larger than a recording of its length can be.';
    return new MediaFailure(message, { permanent: true });
  }
  // Not every file system knows; then its own error has to do.
  const disk = await statfs(dirname(path)).catch(() => undefined);
  if (!disk || disk.bavail * disk.bsize >= reserve(disk.blocks * disk.bsize)) return undefined;
  return new MediaFailure('The disk of the worker is full.', { permanent: false, ours: true });
}

/** @returns how many bytes a file has, or all files of a folder; none for what is not there (any more) */
export async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return found?.size ?? 0;
  let size = 0;
  for (const name of await readdir(path).catch(() => [])) size += await sizeOf(join(path, name));
  return size;
}
