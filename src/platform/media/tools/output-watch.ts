import { lstat, readdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MediaFailure } from './media-failure.ts';

/** The limits that apply to all outputs; `reserve` is the number of bytes to keep free on a disk of a given size. */
const WATCH = { intervalMs: 1000, reserve: (bytes: number) => Math.min(2 ** 30, bytes * 0.05) };

export type Watch = typeof WATCH;

/** The file or folder that is being written. */
export interface OutputLimit {
  path: string;
  maxBytes: number;
  /** The error message for a larger output. */
  tooLarge?: string;
}

/**
 * Runs a function that writes a file or folder. Aborts it when the output grows too large or fills the disk.
 *
 * @param run must stop when its signal aborts
 * @throws {MediaFailure} permanent for an output that is too large; a failure of the service for a full disk
 */
export async function watched(
  output: OutputLimit,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<unknown>,
  watch = WATCH,
): Promise<void> {
  let fault = await findFault(output, watch);
  if (fault) throw fault;
  const controller = new AbortController();
  let checking = false;
  const timer = setInterval(async () => {
    if (checking) return;
    checking = true;
    fault ??= await findFault(output, watch);
    checking = false;
    if (fault) controller.abort(fault);
  }, watch.intervalMs);
  try {
    await run(signal ? AbortSignal.any([signal, controller.signal]) : controller.signal);
  } catch (error) {
    // A tool may fail for lack of space before the next check.
    throw fault ?? (await findFault(output, watch)) ?? error;
  } finally {
    clearInterval(timer);
  }
}

async function findFault(
  { path, maxBytes, tooLarge }: OutputLimit,
  { reserve }: Watch,
): Promise<MediaFailure | undefined> {
  if ((await sizeOf(path)) > maxBytes) {
    const message = tooLarge ?? 'The result is larger than a recording of its duration can be.';
    return new MediaFailure(message, { permanent: true });
  }
  // Some file systems cannot tell; then their own error has to do.
  const disk = await statfs(dirname(path)).catch(() => undefined);
  if (!disk || disk.bavail * disk.bsize >= reserve(disk.blocks * disk.bsize)) return undefined;
  return new MediaFailure('The disk of the worker is full.', { permanent: false, ours: true });
}

/** Returns the size of a file, or of all files in a folder; 0 if it does not exist. */
export async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return found?.size ?? 0;
  let size = 0;
  for (const name of await readdir(path).catch(() => [])) size += await sizeOf(join(path, name));
  return size;
}
