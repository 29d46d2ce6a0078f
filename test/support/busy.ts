import { open } from 'node:fs/promises';

/**
 * Waits for what another thread does, and keeps the process from looking for a second: long after that has been done.
 * Call it in what is waited for with a limit.
 */
export async function lookLate(): Promise<void> {
  const done = open(import.meta.filename);
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  void (await done).close();
}
