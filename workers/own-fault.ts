import { isDatabaseOutage } from '#platform/database/outage.ts';
import { mayPass } from '#platform/database/retry.ts';
import { StagingExpired } from '#platform/storage/staging-entries.ts';
import { StorageFault } from './workspace.ts';

const DEPTH = 5;

const NO_ROOM = 'There is no room left on a disk of the service.';
/** What of the operating system's errors is said of disks and limits of ours, whatever the recording is. */
const SYSTEM: ReadonlyMap<unknown, string> = new Map([
  ...['ENOSPC', 'EDQUOT'].map((code) => [code, NO_ROOM] as const),
  ...['EIO', 'EROFS', 'ESTALE', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM'].map(
    (code) => [code, 'A disk of the service cannot be read or written.'] as const,
  ),
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'].map(
    (code) => [code, 'The machine of the worker has no more files, memory or processes to give.'] as const,
  ),
]);

/**
 * Which part of our own is to blame for a fault (object storage, database, disk, media tools): it says nothing about the
 * recording.
 *
 * @returns a sentence for people, or undefined when none of them is
 */
export function ownFault(error: unknown, depth = DEPTH): string | undefined {
  if (!(error instanceof Error) || depth === 0) return undefined;
  const system = systemFault(error);
  if (system) return system;
  if ('ours' in error && error.ours === true) return error.message;
  if (error instanceof StorageFault) return systemFault(error.cause) ?? error.message;
  if (error instanceof StagingExpired) return 'What was stored was removed before it was complete.';
  // The storage's errors look like the database's, and are wrapped as its own by now.
  if (isDatabaseOutage(error) || mayPass(error)) return 'The database does not answer.';
  return ownFault(error.cause, depth - 1);
}

function systemFault(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? SYSTEM.get(error.code) : undefined;
}
