import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { serviceAccount } from './account.ts';
import { locateBinaries } from './binaries.ts';
import { ensureCluster, password } from './cluster.ts';
import { databaseUrl, ROLE } from './database-url.ts';
import { EmbeddedDatabaseError } from './error.ts';
import type { EmbeddedPaths } from './paths.ts';
import { freePort, type ServerSetup, startPostmaster, stopPostmaster } from './postmaster.ts';
import { type Postmaster, runningPostmaster } from './postmaster-file.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** What a crashed server leaves may hold up the next one for a moment. */
const ATTEMPTS = 5;
const PAUSE_MS = 500;
/** How long a server that another keeper left behind may take to answer. */
const ADOPTION_MS = 10_000;
const ADOPTION_POLL_MS = 50;

/** A server that is running, and stays at its port when it has to be started again. */
export interface KeptServer {
  port(): number;
  process(): ProcessIdentity;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Makes the embedded PostgreSQL run, with Inlet's empty database in it: the server a killed keeper left behind, else a
 * new one.
 *
 * @param lastPort where processes that still run expect the server
 * @throws {EmbeddedDatabaseError}
 */
export async function keepServer(
  paths: EmbeddedPaths,
  log: number,
  lastPort: number | undefined,
): Promise<KeptServer> {
  const account = serviceAccount(paths.cluster);
  const binaries = locateBinaries(account, paths.dataDir);
  await ensureCluster(paths, binaries, account);
  const setup: ServerSetup = { paths, binaries, account, log };
  let server =
    (await adopt(paths)) ??
    (await start(setup, async (attempt) => (attempt === 1 && lastPort) || freePort()));
  await createDatabase(paths, server.port);
  return {
    port: () => server.port,
    process: () => server.process,
    revive: async () => {
      const { port } = server;
      server = await start(setup, async () => port);
    },
    stop: () => stopPostmaster(server),
  };
}

async function adopt(paths: EmbeddedPaths): Promise<Postmaster | undefined> {
  const deadline = Date.now() + ADOPTION_MS;
  let last: Postmaster | undefined;
  for (;;) {
    const found = runningPostmaster(paths.cluster);
    if (!found) return undefined;
    if (found.status === 'ready' && (await answers(paths, found.port))) return found;
    last = found;
    if (Date.now() > deadline) break;
    await sleep(ADOPTION_POLL_MS);
  }
  await stopPostmaster(last);
  return undefined;
}

async function answers(paths: EmbeddedPaths, port: number): Promise<boolean> {
  try {
    await query(paths, port, 'SELECT 1');
    return true;
  } catch {
    return false;
  }
}

async function start(
  setup: ServerSetup,
  choosePort: (attempt: number) => Promise<number>,
): Promise<Postmaster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startPostmaster(setup, await choosePort(attempt));
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof EmbeddedDatabaseError)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function createDatabase(paths: EmbeddedPaths, port: number): Promise<void> {
  const found = await query(paths, port, `SELECT FROM pg_database WHERE datname = '${ROLE}'`);
  if (found === 0) await query(paths, port, `CREATE DATABASE ${ROLE}`);
}

/** @returns the number of rows */
async function query(paths: EmbeddedPaths, port: number, statement: string): Promise<number> {
  const client = new pg.Client({
    connectionString: databaseUrl(port, password(paths), 'postgres'),
    connectionTimeoutMillis: ADOPTION_MS,
    query_timeout: 60_000,
  });
  // The server may end the connection while nobody waits for an answer.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query(statement);
    return rowCount ?? 0;
  } finally {
    await client.end();
  }
}
