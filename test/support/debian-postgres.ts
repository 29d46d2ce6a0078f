import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
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
  const folder = await postgresFolder();
  const server = await new PostgresCluster(folder, 'data', await freePort()).create();
  await server.start();
  return {
    url: server.url,
    stop: async () => {
      server.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A temporary folder in which the account of PostgreSQL can write. */
export async function postgresFolder(): Promise<string> {
  const account = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'inlet-postgres-'));
  if (account) await chown(folder, account.uid, account.gid);
  return folder;
}

/** A cluster of Debian's PostgreSQL, and its server, which ends with this process. */
export class PostgresCluster {
  readonly port: number;
  readonly #data: string;
  readonly #options: { cwd: string; uid?: number; gid?: number };
  readonly #end = () => this.end();

  constructor(folder: string, name: string, port: number) {
    this.port = port;
    this.#data = join(folder, name);
    this.#options = { cwd: folder, ...unprivileged() };
  }

  get url(): string {
    return `postgres://inlet@127.0.0.1:${this.port}/postgres`;
  }

  async create(): Promise<this> {
    await this.run('initdb', '-D', this.#data, '-U', 'inlet', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync');
    return this;
  }

  /** Copies a running cluster, as its standby of that name. */
  async copy(primary: PostgresCluster, name: string): Promise<this> {
    const source = `host=127.0.0.1 port=${primary.port} user=inlet application_name=${name}`;
    await this.run('pg_basebackup', '-D', this.#data, '-d', source, '-R', '-X', 'stream', '-c', 'fast', '--no-sync');
    return this;
  }

  async start(): Promise<void> {
    const places = [`port=${this.port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
    const flags = [...places, 'max_connections=300', 'fsync=off'].map((setting) => `-c ${setting}`);
    const log = `${this.#data}.log`;
    process.once('exit', this.#end);
    await this.run('pg_ctl', 'start', '-w', '-D', this.#data, '-l', log, '-o', flags.join(' ')).catch(async (error) => {
      throw new Error(`${error.message}\n${await readFile(log, 'utf8').catch(() => '')}`);
    });
  }

  async promote(): Promise<void> {
    await this.run('pg_ctl', 'promote', '-w', '-D', this.#data);
  }

  /** Kills the server and all its processes, as the loss of its machine does. */
  async kill(): Promise<void> {
    process.off('exit', this.#end);
    const lock = join(this.#data, 'postmaster.pid');
    const [postmaster = ''] = (await readFile(lock, 'utf8')).split('\n');
    const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    const all = [postmaster, ...(children.match(/\d+/g) ?? [])];
    // Some may have ended.
    spawnSync('kill', ['-KILL', ...all]);
    await eventually(() => {
      if (all.some(isRunning)) throw new Error('The server is not gone.');
    });
    // Of a dead server whose parent does not ask for it.
    await rm(lock);
  }

  end(): void {
    process.off('exit', this.#end);
    spawnSync(join(binaries(), 'pg_ctl'), ['stop', '-m', 'immediate', '-D', this.#data], this.#options);
  }

  async run(program: string, ...args: string[]): Promise<void> {
    await promisify(execFile)(join(binaries(), program), args, this.#options);
  }
}

function isRunning(pid: string): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !readFileSync(status, 'utf8').includes('State:\tZ');
}

function binaries(): string {
  const bin = programs();
  if (!bin) throw new Error(MISSING);
  return bin;
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
