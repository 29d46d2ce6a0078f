import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const INSTALLED = '/usr/lib/postgresql';

/**
 * Whether tests against Debian's PostgreSQL can run here. On a machine without it they are skipped, but never in CI.
 *
 * @throws {Error} in CI, when it is not there
 */
export function debianPostgresAvailable(): boolean {
  if (programs()) return true;
  if (process.env.CI) throw new Error(`${MISSING} In CI its tests may not be skipped.`);
  return false;
}

const MISSING = `No PostgreSQL is installed in ${INSTALLED}; Debian's package is called postgresql.`;

export type DebianPostgres = Awaited<ReturnType<typeof startDebianPostgres>>;

/**
 * Starts it as a user who is not root, on a port of its own and without a system service, with a cluster of its own that is
 * gone when it ends. It keeps nothing safe.
 */
export async function startDebianPostgres() {
  const bin = programs();
  if (!bin) throw new Error(MISSING);
  const account = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-postgres-'));
  if (account) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const options = { cwd: folder, ...account };
  const run = (program: string, ...args: string[]) => promisify(execFile)(join(bin, program), args, options);
  await run('initdb', '-D', data, '-U', 'inlet', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync');
  const port = await freePort();
  const places = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
  const flags = [...places, 'max_connections=300', 'fsync=off'].map((setting) => `-c ${setting}`);
  await run('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', flags.join(' ')).catch(async (error) => {
    throw new Error(`${error.message}\n${await readFile(log, 'utf8').catch(() => '')}`);
  });
  const end = () => spawnSync(join(bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-D', data], options);
  process.once('exit', end);
  return {
    url: `postgres://inlet@127.0.0.1:${port}/postgres`,
    stop: async () => {
      process.off('exit', end);
      end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of its programs; of the oldest, where several versions are installed. */
function programs(): string | undefined {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort((a, b) => Number(a) - Number(b)) : [];
  return versions.map((version) => join(INSTALLED, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/** PostgreSQL refuses to run as root. Its package brings an account along. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}
