import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Role, Runtime } from '../../../src/cli/role.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/launch.ts', import.meta.url));
const RESTART_MS = 1_000;
/** In the log of one that has begun its work; until then it may refuse to start, for want of a database say. */
const WORKS = /the API is listening|the worker is ready/;
/** What one may take to stop, with what is added to SHUTDOWN_SECONDS. */
const STOP_MS = 45_000;
const TAIL = 4_000;

/** One of Inlet's processes with somebody who starts it again when it ends, as every production has. */
export class SoakProcess {
  readonly name: string;
  readonly role: Role;
  readonly #arguments: string[];
  readonly #env: Record<string, string>;
  readonly #log: Writable | undefined;
  #child: ChildProcess | undefined;
  #wanted = true;
  #told = false;
  #works = false;
  #tail = '';
  /** Ends that nobody asked for, with the exit code or signal and the last line that was printed. */
  readonly crashes: string[] = [];
  /** Stops that took too long. */
  readonly hangs: string[] = [];
  starts = 0;
  /** Ends that a recording has brought about on purpose. */
  poisoned = 0;
  /** How many lines of the log said that others had been dropped. */
  gaps = 0;

  /** @param options.logs the folder for a copy of its log */
  constructor(
    role: Role,
    name: string,
    { runtime, logs }: { runtime: Runtime; logs: string | undefined },
    env: Record<string, string>,
  ) {
    this.name = name;
    this.role = role;
    this.#arguments = [LAUNCHER, role, '--runtime', runtime];
    this.#env = env;
    if (logs) {
      mkdirSync(logs, { recursive: true });
      this.#log = createWriteStream(join(logs, `${name.replace(' ', '-')}.log`));
    }
    this.#start();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get tail(): string {
    return this.#tail;
  }

  /** Ends it at once; it is started again. */
  kill(): void {
    this.#told = true;
    this.#child?.kill('SIGKILL');
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.#child && !hasEnded(this.#child)) this.#child.kill(name);
  }

  /** Asks it to stop and waits; it is started again. */
  async restart(): Promise<void> {
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    this.#told = true;
    child.kill('SIGTERM');
    const late = setTimeout(() => {
      this.hangs.push(`did not stop within ${STOP_MS / 1000} s of SIGTERM`);
      child.kill('SIGKILL');
    }, STOP_MS);
    await once(child, 'exit');
    clearTimeout(late);
  }

  /** Whoever reads its log stops. */
  holdLog(): void {
    this.#child?.stdout?.pause();
    this.#child?.stderr?.pause();
  }

  releaseLog(): void {
    this.#child?.stdout?.resume();
    this.#child?.stderr?.resume();
  }

  /** Whoever reads its log goes, for as long as this process runs. */
  closeLog(): void {
    this.#child?.stdout?.destroy();
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#wanted = false;
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  #start(): void {
    this.starts += 1;
    this.#told = false;
    this.#works = false;
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, this.#arguments, {
      env: { PATH, HOME, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    }
    child.once('exit', (code, signal) => {
      if (!this.#wanted) return;
      // Nobody but a recording that kills its worker, or this soak, sends that.
      if (!this.#told && signal === 'SIGKILL' && this.role === 'worker') this.poisoned += 1;
      else if (!this.#told && this.#works) this.crashes.push(`${signal ?? `exit ${code}`}: ${lastLine(this.#tail)}`);
      setTimeout(() => this.#wanted && this.#start(), RESTART_MS);
    });
  }

  #read(text: string): void {
    this.#log?.write(text);
    this.#tail = (this.#tail + text).slice(-TAIL);
    this.#works ||= WORKS.test(text);
    this.gaps += text.split('"dropped":').length - 1;
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(0, 200) ?? '';
}
