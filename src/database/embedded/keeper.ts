/**
 * The keeper: a small process of its own that starts the embedded PostgreSQL, starts it again when it dies, and stops
 * it a moment after its last user is gone. Its own session, so Ctrl-C in a terminal does not reach it. At most one
 * per data folder. Argument: the data folder.
 */
import { closeSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedDatabaseError } from './error.ts';
import { readKeeperState, writeKeeperState } from './keeper-state.ts';
import { type Lock, tryLock } from './lock.ts';
import { openLog } from './log.ts';
import { type EmbeddedPaths, embeddedPaths } from './paths.ts';
import { isAlive } from './process-identity.ts';
import { type KeptServer, keepServer } from './server.ts';
import { hasUsers } from './users.ts';

const POLL_MS = 200;
/** Commands that follow each other closely find the server still running. */
const LINGER_MS = 1_000;

const paths = embeddedPaths(process.argv[2] ?? '');
let hurried = false;
// The processes that use the server are told as well and go first; then the keeper goes at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => (hurried = true));

const lock = await takeOver();
if (lock) process.exitCode = await keep(lock);

/** Waits for a keeper that is ending; gives undefined when one is there to stay. */
async function takeOver(): Promise<Lock | undefined> {
  for (;;) {
    const lock = tryLock(paths.lock);
    if (lock) return lock;
    const other = readKeeperState(paths);
    if (other?.alive && (other.phase === 'starting' || other.phase === 'ready')) return undefined;
    await sleep(POLL_MS / 4);
  }
}

async function keep(lock: Lock): Promise<number> {
  const log = openLog(paths.log);
  try {
    const last = readKeeperState(paths);
    writeKeeperState(paths, { phase: 'starting' });
    // Only a keeper that was killed leaves "ready" behind.
    const server = await keepServer(paths, log, last?.phase === 'ready' ? last.port : undefined);
    try {
      await watch(server);
    } finally {
      await server.stop();
    }
    return 0;
  } catch (error) {
    if (!existsSync(paths.dataDir)) return 0;
    const reason =
      error instanceof EmbeddedDatabaseError
        ? error.message
        : `The embedded PostgreSQL cannot be kept: ${error instanceof Error ? error.message : error}`;
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    writeKeeperState(paths, { phase: 'failed', reason });
    return 1;
  } finally {
    closeSync(log);
    lock.release();
  }
}

/** Returns when nobody uses the server any more. */
async function watch(server: KeptServer): Promise<void> {
  writeKeeperState(paths, { phase: 'ready', port: server.port() });
  let unusedSince: number | undefined;
  for (;;) {
    if (!isAlive(server.process())) await revive(server, paths);
    if (hasUsers(paths.users)) unusedSince = undefined;
    else unusedSince ??= performance.now();
    if (unusedSince !== undefined && (hurried || performance.now() - unusedSince >= LINGER_MS)) {
      // Said before the last look: whoever entered before reading this is seen, whoever reads it waits.
      writeKeeperState(paths, { phase: 'stopping' });
      if (!hasUsers(paths.users)) return;
      writeKeeperState(paths, { phase: 'ready', port: server.port() });
    }
    await sleep(POLL_MS);
  }
}

async function revive(server: KeptServer, paths: EmbeddedPaths): Promise<void> {
  writeKeeperState(paths, { phase: 'starting' });
  await server.revive();
  writeKeeperState(paths, { phase: 'ready', port: server.port() });
}
