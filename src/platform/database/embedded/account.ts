import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** An account of the operating system. */
export type Account = { uid: number; gid: number };

/**
 * Whom to run PostgreSQL as: undefined for this process's own account. It refuses to run as root, so root hands it to
 * the owner of an existing cluster, else to an account that has nothing else to lose.
 */
export function serviceAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) => Number(spawnSync('id', [option, name]).stdout));
    if (uid && gid) return { uid, gid };
  }
  throw new Error('it does not run as root, and there is no account postgres or nobody to run it as');
}
