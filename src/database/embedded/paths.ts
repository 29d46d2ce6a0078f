import { join } from 'node:path';

/** Where the embedded PostgreSQL keeps what, below the data folder. */
export interface EmbeddedPaths {
  /** The data folder itself, DATA_DIR. */
  dataDir: string;
  /** PostgreSQL's own data. */
  cluster: string;
  /** Where a new cluster is made before it gets its name; followed by random letters. */
  newCluster: string;
  /** The password of the only role, mode 0600. */
  secret: string;
  log: string;
  /** One empty file per process that uses the server. */
  users: string;
  /** What the keeper last said about itself. */
  keeper: string;
  /** Locked as long as a keeper lives. */
  lock: string;
}

export function embeddedPaths(dataDir: string): EmbeddedPaths {
  return {
    dataDir,
    cluster: join(dataDir, 'postgres'),
    newCluster: join(dataDir, 'postgres.new-'),
    secret: join(dataDir, 'postgres.secret'),
    log: join(dataDir, 'postgres.log'),
    users: join(dataDir, 'postgres.users'),
    keeper: join(dataDir, 'postgres.keeper'),
    lock: join(dataDir, 'postgres.lock'),
  };
}

/** What lies in the data folder for the embedded server alone; no role has any business there. */
export function privateFiles(dataDir: string): string[] {
  const { cluster, secret, log, users, keeper, lock } = embeddedPaths(dataDir);
  return [cluster, secret, log, users, keeper, lock];
}
