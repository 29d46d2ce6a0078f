import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename, isAbsolute } from 'node:path';
import { runAfter } from '../../process/timeout.ts';
import { traced } from '../../telemetry/tracing.ts';
import { type ExitStatus, failureFromLog, MediaFailure, notStarted } from './media-failure.ts';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'] as const;

const LOG_BYTES = 4096;
/** ffmpeg reports the end of each answer of a `RangeReader`. Its faults stop the operation. */
const RECONNECTED = /^\[http @ [^\n]*\n/gm;
const OUTPUT_BYTES = 64 * 2 ** 20;

/**
 * The whole environment of a tool. Statically linked builds of ffmpeg crash when they load the character set converters
 * of a newer C library (for every MPEG-TS), so GCONV_PATH names a folder without any.
 */
const ENVIRONMENT = { LC_ALL: 'C', GCONV_PATH: '/nonexistent' };

/** Sends signals to process groups, where it may be run. */
export const KILL_PROGRAM = '/usr/bin/kill';

/** Limits of one run of a tool. */
export interface RunLimits {
  /** Stops the tool; the run then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  timeLimitMs: number;
}

export interface RunOptions extends RunLimits {
  /** Receives standard output; without it, the output is collected. */
  onOutput?: (chunk: Buffer) => void;
  /** A larger output is a permanent failure. */
  maxOutputBytes?: number;
  cwd?: string;
  /** The whole environment; by default, that of media tools. */
  env?: Readonly<Record<string, string>>;
  /** Explains a failure; by default, as one of a media tool. */
  explain?: (log: string, ending: ExitStatus) => Error;
  /** Runs a program that is not a media tool; see `runProgram`. */
  foreign?: boolean;
}

/** Time for a program to stop when asked to, and then for its last output to be read. */
const GRACE_MS = 700;

/** The result of a successful run. */
export interface Finished {
  output: Buffer;
  /** The last 4 KiB of standard error (of a foreign program, also of standard output), without paths. */
  log: string;
}

/**
 * Runs a media tool. Settles only after the process has exited.
 *
 * @throws {MediaFailure} permanent when the tool rejects the file
 */
export function runTool(path: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  return traced(basename(path), {}, () => run(path, args, options));
}

function run(path: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const { signal, timeLimitMs, onOutput, maxOutputBytes = OUTPUT_BYTES, cwd, env = ENVIRONMENT } = options;
  const { foreign = false } = options;
  const explain = options.explain ?? ((log, ending) => failureFromLog(basename(path), log, ending));
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    // In a separate process group, so that Ctrl-C reaches only this process, which then decides.
    const stdin = foreign ? 'ignore' : 'pipe';
    const child = spawn(path, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'], detached: true });
    // Without free file handles, there are no pipes and no `close` event.
    const { stdout, stderr } = child;
    if (!stdout || !stderr) {
      child.on('error', (error) => reject(notStarted(basename(path), { cause: error })));
      return;
    }
    const chunks: Buffer[] = [];
    let collected = 0;
    let tail = Buffer.alloc(0);
    let stopped: { reason: unknown } | undefined;
    let exited = false;
    let grace: NodeJS.Timeout | undefined;
    // A process left running that escaped the kill may hold the pipes open forever.
    const releasePipes = () => {
      for (const stream of [stdout, stderr]) stream.destroy();
    };
    const stop = (reason: unknown) => {
      if (stopped) return;
      stopped = { reason };
      if (exited) releasePipes();
      if (!foreign) return kill(child, 'SIGKILL');
      kill(child, 'SIGTERM');
      grace = setTimeout(() => kill(child, 'SIGKILL'), GRACE_MS);
    };
    const onAbort = () => stop(signal?.reason);
    const stopClock = runAfter(timeLimitMs, () => stop(tookTooLong(path, timeLimitMs)));
    signal?.addEventListener('abort', onAbort, { once: true });

    const keepTail = (chunk: Buffer) => {
      const log = Buffer.concat([tail, chunk]).toString('latin1').replaceAll(RECONNECTED, '');
      tail = Buffer.from(log, 'latin1').subarray(-LOG_BYTES);
    };
    stdout.on('data', (chunk: Buffer) => {
      if (foreign) return keepTail(chunk);
      if (onOutput) return onOutput(chunk);
      collected += chunk.length;
      if (collected > maxOutputBytes) stop(tooMuchOutput());
      else chunks.push(chunk);
    });
    stderr.on('data', keepTail);
    // It may exit without reading anything.
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => stop(notStarted(basename(path), { cause: error })));
    child.on('exit', () => {
      exited = true;
      if (stopped) releasePipes();
      if (!foreign) return;
      // Processes that it left running could still write to its results.
      kill(child, 'SIGKILL');
      clearTimeout(grace);
      grace = setTimeout(releasePipes, GRACE_MS);
    });
    child.on('close', (code, killedBy) => {
      stopClock();
      clearTimeout(grace);
      signal?.removeEventListener('abort', onAbort);
      if (stopped) return reject(stopped.reason);
      const log = withoutPaths(tail.toString('utf8'), args);
      if (code === 0) return resolve({ output: Buffer.concat(chunks), log });
      reject(explain(log, exitStatusOf(code, killedBy)));
    });
  });
}

/**
 * Runs a program of the site, with no standard input; the end of its output becomes the log. Stopping it sends SIGTERM,
 * then SIGKILL after a grace period. When it exits, processes that it left running are killed.
 *
 * @throws the error of `options.explain` if the program fails, the reason of `options.signal` if it was stopped
 */
export function runProgram(
  path: string,
  args: readonly string[],
  options: Omit<RunOptions, 'foreign' | 'onOutput' | 'maxOutputBytes'>,
): Promise<Finished> {
  return runTool(path, args, { ...options, foreign: true });
}

/** Resolves exit codes above 128, by which programs report that a signal killed their child. */
function exitStatusOf(code: number | null, killedBy: NodeJS.Signals | null): ExitStatus {
  const signal = SIGNALS.find((name) => code === 128 + constants.signals[name]);
  return signal ? { code: null, killedBy: signal } : { code, killedBy };
}

/**
 * Sends a signal to a tool and its child processes. If only the tool can be reached, and it is a script that runs
 * ffmpeg, the `q` on standard input stops ffmpeg.
 */
function kill(child: ChildProcess, how: 'SIGTERM' | 'SIGKILL'): void {
  child.stdin?.end('q');
  // Deno grants signals to groups only together with permission to run any program, so KILL_PROGRAM sends them there.
  if (child.pid && !process.versions.deno) {
    try {
      process.kill(-child.pid, how);
      return;
    } catch {
      // It has just exited.
    }
  }
  if (child.pid && process.versions.deno) {
    try {
      const group = spawn(KILL_PROGRAM, [`-${how.slice(3)}`, '--', `-${child.pid}`], { env: {}, stdio: 'ignore' });
      group.on('error', () => undefined);
    } catch {
      // No permission to run it.
    }
  }
  child.kill(how);
}

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+/g;

/** Removes paths and addresses of this machine from a log: those of the command line, and anything that looks like one. */
export function withoutPaths(log: string, args: readonly string[]): string {
  const known = args.filter((arg) => isAbsolute(arg)).sort((a, b) => b.length - a.length);
  return (
    known
      .reduce((text, path) => text.replaceAll(path, basename(path)), log)
      .replaceAll(ADDRESS, 'recording')
      .replaceAll(/(?<![\w./])\/(?!\/)(?:[^\s/:'"]+\/)+([^\s/:'"]*)/g, '$1')
      .replaceAll(/ @ 0x[0-9a-f]+/g, '')
      // Quotes of a file may hold anything, but PostgreSQL takes no NUL.
      .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
      .trim()
  );
}

function tookTooLong(path: string, ms: number): MediaFailure {
  const seconds = Math.round(ms / 1000);
  return new MediaFailure(
    `The processing of the file was stopped after its time limit of ${seconds} seconds. It is probably damaged.`,
    { permanent: false, attempts: 2, log: `${basename(path)} was stopped` },
  );
}

function tooMuchOutput(): MediaFailure {
  return new MediaFailure('The file has too much metadata to be processed.', { permanent: true });
}
