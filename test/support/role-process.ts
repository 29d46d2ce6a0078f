import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Role, Runtime } from '#cli/role.ts';
import { countStart } from './count-start.ts';
import { denoServe } from './deno-serve.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/cli/launch.ts', import.meta.url));

/** Ended with this process, whatever ends it. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** One line of a process's log, or what it printed that is none. */
export interface LogLine {
  level: string;
  msg: string;
  [key: string]: unknown;
}

/** What can be started: the roles of the product, and the API behind Deno's own server. */
export type Started = Role | 'edge';

/** A role of the product as a process of its own, started as `npm run` does. */
export class RoleProcess {
  readonly role: Started;
  readonly #runtime: Runtime;
  readonly #env: Record<string, string>;
  readonly #stdout: 'pipe' | number;
  #child: ChildProcess | undefined;
  /** Settles when it has ended and what it printed has been read. */
  #closed: Promise<void> = Promise.resolve();
  #output = '';

  /** @param stdout an open file instead of `output`, which then has the standard error alone */
  constructor(role: Started, runtime: Runtime, env: Record<string, string>, stdout: 'pipe' | number = 'pipe') {
    this.role = role;
    this.#stdout = stdout;
    this.#runtime = runtime;
    // On the edge there is no folder to write to.
    const { DATA_DIR, ...withoutFolder } = env;
    this.#env = role === 'edge' ? { ADMIN_PASSWORD: 'opencast', ...withoutFolder } : env;
  }

  /** Starts it, or starts it again after it ended, with more variables. Does not wait until it is ready. */
  start(env: Record<string, string> = {}): void {
    if (this.running) throw new Error(`The ${this.role} is running already.`);
    const { PATH, HOME, FFMPEG_PATH, FFPROBE_PATH, DENO_DIR, NODE_COMPILE_CACHE } = process.env;
    const shared = { PATH, HOME, FFMPEG_PATH, FFPROBE_PATH, DENO_DIR, NODE_COMPILE_CACHE };
    const environment = { ...shared, ...this.#env, ...env };
    countStart();
    const child = spawn(...this.#command(environment), {
      env: environment,
      stdio: ['ignore', this.#stdout, 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    living.add(child);
    child.once('exit', () => living.delete(child));
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()));
    this.#child = child;
  }

  #command({ PORT = '', DENO_JOBS }: NodeJS.ProcessEnv): [program: string, args: string[]] {
    if (this.role === 'edge') return denoServe(PORT, DENO_JOBS ? ['--parallel'] : []);
    return [process.execPath, [LAUNCHER, this.role, '--runtime', this.#runtime]];
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Everything that all runs of the process printed. */
  get output(): string {
    return this.#output;
  }

  /** The lines of its log; what is no JSON has the level `text`. */
  get log(): LogLine[] {
    // The last one may not have come to its end yet.
    const whole = this.#output.slice(0, this.#output.lastIndexOf('\n') + 1);
    const lines = whole.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => {
      try {
        return JSON.parse(line) as LogLine;
      } catch {
        return { level: 'text', msg: line };
      }
    });
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`The ${this.role} was not started.`);
    return pid;
  }

  /** How many files and sockets it has open; Linux only. */
  openHandles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Waits for its end, and for what it printed until then. @returns the exit code, or null when a signal ended it */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.#child?.exitCode ?? null;
  }

  /** Ends it at once, with no chance to clean up. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }
}
