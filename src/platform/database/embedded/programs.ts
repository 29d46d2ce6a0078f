import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { serviceAccount } from './account.ts';
import { locateBinaries } from './binaries.ts';
import type { EmbeddedPaths } from './paths.ts';
import { register } from './processes.ts';

const MAX_LOG_BYTES = 10 * 2 ** 20;

/**
 * Runs one of PostgreSQL's programs, as the service account, and adds what it says to the log.
 *
 * @param data the folder of PostgreSQL's data that it works in
 * @throws {Error} with what it complained about
 */
export async function run(paths: EmbeddedPaths, data: string, command: string[], input = ''): Promise<void> {
  const [program = '', ...args] = command;
  const account = serviceAccount(paths.cluster);
  const binaries = await locateBinaries(account);
  // The folder is entered before becoming another user, so it may lie below one that only root can enter.
  const PGDATA = process.platform === 'linux' ? '/proc/self/cwd' : data;
  const log = openLog(paths);
  const { size } = fstatSync(log);
  const child = spawn(join(binaries, program), args, {
    ...account,
    cwd: data,
    env: { PGDATA, PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  // It goes on when this process is killed; the next one waits for it.
  const unregister = register(paths.working, child.pid);
  // It may end without having read everything.
  child.stdin?.on('error', () => undefined).end(input);
  const [code] = await once(child, 'exit').finally(unregister);
  if (code === 0) return;
  throw new Error(`${lastComplaint(readFileSync(paths.log).subarray(size).toString())} (see ${paths.log})`);
}

/** Opens the log for appending; one that has grown large is put aside first. */
export function openLog({ log, oldLog }: EmbeddedPaths): number {
  const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > MAX_LOG_BYTES) renameSync(log, oldLog);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return openSync(log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** What a PostgreSQL program complained about last: the sentence after FATAL, or its last line. */
export function lastComplaint(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const complaint = lines.findLast((line) => /\b(FATAL|PANIC|error):/.test(line)) ?? lines.findLast(Boolean);
  return (complaint ?? 'it said nothing').replace(/^.*?\b(FATAL|PANIC|error):\s*/, '');
}
