import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { EmbeddedDatabaseError } from './error.ts';

/** The operating system account that the server runs as. */
export interface Account {
  uid: number;
  gid: number;
}

const CANDIDATES = ['postgres', 'nobody'];

/**
 * Whom to run the server as: undefined for this process's own account. PostgreSQL refuses to run as root, so root
 * hands it to the owner of an existing cluster, else to an account that has nothing else to lose.
 */
export function serviceAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of CANDIDATES) {
    const account = lookUp(name);
    if (account) return account;
  }
  throw new EmbeddedDatabaseError(
    `PostgreSQL does not run as root, and there is no account ${CANDIDATES.join(' or ')} to run it as; set DATABASE_URL, or start Inlet as another user.`,
  );
}

function lookUp(name: string): Account | undefined {
  try {
    const [uid, gid] = ['-u', '-g'].map((option) =>
      Number(execFileSync('id', [option, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })),
    );
    return uid && gid !== undefined ? { uid, gid } : undefined;
  } catch {
    return undefined;
  }
}
