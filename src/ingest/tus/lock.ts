import type { Held, Holder, Locks } from '#platform/database/locks.ts';

/** How long whoever writes to an upload may take to let go of it. */
const LOCK_MS = 5_000;

/** Takes the lock of whoever writes to an upload. @returns undefined when somebody else does not let go of it */
export function lockUpload(locks: Locks, id: string, holder: Holder): Promise<Held | undefined> {
  return locks.take(`upload ${id}`, holder, LOCK_MS);
}
