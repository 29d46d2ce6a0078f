import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { embeddedPaths } from '../../../src/platform/database/embedded/embedded-paths.ts';
import { withLock } from '../../../src/platform/database/embedded/file-lock.ts';
import { startServer } from '../../../src/platform/database/embedded/postgres-server.ts';
import { run } from '../../../src/platform/database/embedded/programs.ts';
import { childrenOf } from './vitals.ts';

/** The PostgreSQL of a soak, to be stopped as an operator or a crash does. */
export interface SoakPostgres {
  /** `immediate` is what a crash leaves: it repeats what it had logged. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** All its processes. */
  pids(): number[];
}

/** @param dataDir of an embedded server that this process uses */
export function controlPostgres(dataDir: string): SoakPostgres {
  const paths = embeddedPaths(dataDir);
  let release = () => {};
  let started: Promise<unknown> = Promise.resolve();
  return {
    stop: async (mode) => {
      await started;
      await new Promise<void>((resolve, reject) => {
        // With the lock, or its keeper would start it again at once.
        started = withLock(paths.lock, async () => {
          const wanted = new Promise<void>((go) => {
            release = go;
          });
          await run(paths, paths.cluster, ['pg_ctl', '--silent', 'stop', `--mode=${mode}`]).then(resolve, reject);
          await wanted;
          await startServer(paths);
        });
      });
    },
    start: async () => {
      release();
      await started;
    },
    pids: () => {
      const postmaster = Number(readPid(join(paths.cluster, 'postmaster.pid')));
      return postmaster > 0 ? [postmaster, ...childrenOf(postmaster)] : [];
    },
  };
}

/** Lets so many processes have the connections that docs/operating.md counts for them; the server is started anew. */
export async function allowConnections(serverUrl: string, postgres: SoakPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query('ALTER SYSTEM SET max_connections = 300');
  await client.end();
  await postgres.stop('fast');
  await postgres.start();
}

function readPid(path: string): string {
  try {
    return readFileSync(path, 'utf8').split('\n')[0] ?? '';
  } catch {
    return '';
  }
}
