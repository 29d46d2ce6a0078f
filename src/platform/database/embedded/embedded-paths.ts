import { join } from 'node:path';

/** The embedded PostgreSQL cannot run. The message is one line for the terminal. */
export class EmbeddedDatabaseError extends Error {
  override name = 'EmbeddedDatabaseError';
}

export function embeddedPaths(dataDir: string) {
  const at = (suffix: string) => join(dataDir, `postgres${suffix}`);
  return {
    dataDir,
    cluster: at(''),
    /** A new cluster is created here, then renamed. */
    newCluster: at('.new'),
    /** The password of the only role, mode 0600. */
    secret: at('.secret'),
    log: at('.log'),
    /** The previous log, set aside because it was large. */
    oldLog: at('.log.1'),
    /** Entries of the processes that use the server. */
    users: at('.users'),
    /** Entry of the keeper process. */
    keepers: at('.keepers'),
    /** Entries of running PostgreSQL programs, except the server. */
    working: at('.working'),
    /** Held while the server starts or stops. */
    lock: at('.lock'),
    /** Held by the keeper while it lives: other containers do not see its process ID. */
    kept: at('.kept'),
  };
}

export type EmbeddedPaths = ReturnType<typeof embeddedPaths>;

/** Returns the files in the data folder that no role of Inlet (api, worker, main) may read or write. */
export function privateFiles(dataDir: string): string[] {
  return Object.values(embeddedPaths(dataDir)).filter((path) => path !== dataDir);
}
