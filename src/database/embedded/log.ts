import { constants, openSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 10 * 2 ** 20;

/** Opens the server's log for appending; one that has grown large is put aside first. */
export function openLog(path: string): number {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > MAX_BYTES) renameSync(path, `${path}.1`);
  return openSync(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  );
}
