import { join } from 'node:path';

/** Where the embedded PostgreSQL keeps what, below the data folder. */
export function embeddedPaths(dataDir: string) {
  const at = (suffix: string) => join(dataDir, `postgres${suffix}`);
  return {
    dataDir,
    /** PostgreSQL's own data. */
    cluster: at(''),
    /** Where a new cluster is made before it gets its place. */
    newCluster: at('.new'),
    /** The password of the only role, mode 0600. */
    secret: at('.secret'),
    log: at('.log'),
    /** The log before, put aside when it had grown large. */
    oldLog: at('.log.1'),
    /** The processes that use the server. */
    users: at('.users'),
    /** The process that looks after it for them. */
    keepers: at('.keepers'),
    /** PostgreSQL's programs at work, but for the server. */
    working: at('.working'),
    /** Held by whoever starts or stops the server. */
    lock: at('.lock'),
    /** Held by the keeper as long as it lives: other containers do not see its number. */
    kept: at('.kept'),
  };
}

export type EmbeddedPaths = ReturnType<typeof embeddedPaths>;

/** What lies in the data folder for the embedded server alone; no role has any business there. */
export function privateFiles(dataDir: string): string[] {
  return Object.values(embeddedPaths(dataDir)).filter((path) => path !== dataDir);
}
