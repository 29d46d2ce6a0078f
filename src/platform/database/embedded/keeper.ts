/**
 * The keeper: a separate process that restarts the embedded PostgreSQL after a crash, and stops it when its last user
 * is gone. It has its own session, so Ctrl-C in a terminal does not reach it. Argument: the data folder.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { embeddedPaths } from './embedded-paths.ts';
import { withLock } from './file-lock.ts';
import { startServer, stopUnused } from './postgres-server.ts';
import { registered, runningPostmaster } from './process-register.ts';

const POLL_MS = 500;
/** Commands that follow each other closely find the server still running. */
const LINGER_MS = 1_000;

const paths = embeddedPaths(process.argv[2] ?? '');
const used = () => registered(paths.users).length > 0;
// A signal to all processes also stops the users of the server; the keeper exits after them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

await withLock(paths.kept, keep);

async function keep(): Promise<void> {
  let unusedMs = 0;
  while (unusedMs < LINGER_MS || !(await withLock(paths.lock, () => stopUnused(paths)))) {
    await sleep(POLL_MS);
    unusedMs = used() ? 0 : unusedMs + POLL_MS;
    if (unusedMs > 0 || runningPostmaster(paths.cluster)) continue;
    await withLock(paths.lock, async () => used() && (await startServer(paths))).catch(logError);
  }
}

function logError(error: Error): void {
  process.stderr.write(`${error.stack}\n`);
}
