import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename, isAbsolute } from 'node:path';
import { runAfter } from '../../process/timeout.ts';
import { traced } from '../../telemetry/tracing.ts';
import { type Ending, failureFromLog, notStarted } from './failure.ts';

export type { Ending };

import { MediaFailure } from './failure.ts';

/** Signals by which a program is ended, by itself or by others. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'] as const;

const LOG_BYTES = 4096;
const OUTPUT_BYTES = 64 * 2 ** 20;

/**
 * All a tool gets to see of the environment. Statically linked builds of ffmpeg crash when they load the character
 * set converters of a newer C library (every MPEG-TS makes them try), so they are told of a place without any.
 */
const ENVIRONMENT = { LC_ALL: 'C', GCONV_PATH: '/nonexistent' };

/** Signals whole groups of processes, where it may be run. */
export const KILL = '/usr/bin/kill';

/** Limits of one run of a tool. */
export interface RunLimits {
  /** Kills the tool; the run then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  timeLimitMs: number;
}

export interface RunOptions extends RunLimits {
  /** Receives standard output as it comes; without it the output is collected. */
  onOutput?: (chunk: Buffer) => void;
  /** How much of the output is collected at most; more fails for good. */
  maxOutputBytes?: number;
  /** Where it runs; here unless given. */
  cwd?: string;
  /** All that it gets to see of the environment; what media tools need unless given. */
  env?: Readonly<Record<string, string>>;
  /** Why it failed, by its log and its end; as media tools fail unless given. */
  explain?: (log: string, ending: Ending) => Error;
  /** Runs what is no media tool: see `runProgram`. */
  foreign?: boolean;
}

/** What a program may take to end by itself when it is asked to, and what it said last to be read once it has. */
const GRACE_MS = 700;

/** How a run that succeeded ended. */
export interface Finished {
  /** Standard output, unless `onOutput` took it. */
  output: Buffer;
  /** The last 4 KiB of standard error (of a foreign program of standard output as well), without paths. */
  log: string;
}

/**
 * Runs a media tool to its end. Settles only when the process is gone, whatever ended it.
 *
 * @throws {MediaFailure} permanent when the tool itself refused the file
 */
export function runTool(path: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  return traced(basename(path), {}, () => run(path, args, options));
}

function run(path: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const { signal, timeLimitMs, onOutput, maxOutputBytes = OUTPUT_BYTES, cwd, env = ENVIRONMENT } = options;
  const { foreign = false } = options;
  const explain = options.explain ?? ((log, ending) => failureFromLog(basename(path), log, ending));
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    // In a process group of its own: the keyboard's Ctrl-C is for this process, which then decides.
    const child = spawn(path, args, {
      cwd,
      env,
      stdio: [foreign ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    });
    // Without file handles there are no pipes, and nothing that would be closed.
    const { stdin, stdout, stderr } = child;
    if (!stdout || !stderr) {
      child.on('error', (error) => reject(notStarted(basename(path), { cause: error })));
      return;
    }
    const chunks: Buffer[] = [];
    let collected = 0;
    let tail = Buffer.alloc(0);
    let ended: { reason: unknown } | undefined;
    let exited = false;
    let grace: NodeJS.Timeout | undefined;
    // What it has left running and was not killed along may hold the pipes open for ever.
    const letGo = () => {
      for (const stream of [stdout, stderr]) stream.destroy();
    };
    const end = (reason: unknown) => {
      if (ended) return;
      ended = { reason };
      if (exited) letGo();
      if (!foreign) return kill(child, 'SIGKILL');
      kill(child, 'SIGTERM');
      grace = setTimeout(() => kill(child, 'SIGKILL'), GRACE_MS);
    };
    const onAbort = () => end(signal?.reason);
    const stopClock = runAfter(timeLimitMs, () => end(tookTooLong(path, timeLimitMs)));
    signal?.addEventListener('abort', onAbort, { once: true });

    const say = (chunk: Buffer) => {
      tail = Buffer.concat([tail, chunk]).subarray(-LOG_BYTES);
    };
    stdout.on('data', (chunk: Buffer) => {
      if (foreign) return say(chunk);
      if (onOutput) return onOutput(chunk);
      collected += chunk.length;
      if (collected > maxOutputBytes) end(tooMuchOutput());
      else chunks.push(chunk);
    });
    stderr.on('data', say);
    // It may end without having read anything.
    stdin?.on('error', () => undefined);
    child.on('error', (error) => end(notStarted(basename(path), { cause: error })));
    child.on('exit', () => {
      exited = true;
      if (ended) letGo();
      if (!foreign) return;
      // What it has left running would go on writing to results that are taken already.
      kill(child, 'SIGKILL');
      clearTimeout(grace);
      grace = setTimeout(letGo, GRACE_MS);
    });
    child.on('close', (code, killedBy) => {
      stopClock();
      clearTimeout(grace);
      signal?.removeEventListener('abort', onAbort);
      if (ended) return reject(ended.reason);
      const log = withoutPaths(tail.toString('utf8'), args);
      if (code === 0) return resolve({ output: Buffer.concat(chunks), log });
      reject(explain(log, endingOf(code, killedBy)));
    });
  });
}

/**
 * Runs a program of the site to its end, with nothing to read. What it says is only kept as a log. It is asked to end
 * before it is killed, and whatever it has started ends with it; nothing that does not is waited for.
 */
export function runProgram(
  path: string,
  args: readonly string[],
  options: Omit<RunOptions, 'foreign' | 'onOutput' | 'maxOutputBytes'>,
): Promise<Finished> {
  return runTool(path, args, { ...options, foreign: true });
}

/** Programs that run others report a signal that ended these as 128 and its number. */
function endingOf(code: number | null, killedBy: NodeJS.Signals | null): Ending {
  const signal = SIGNALS.find((name) => code === 128 + constants.signals[name]);
  return signal ? { code: null, killedBy: signal } : { code, killedBy };
}

/**
 * Signals a tool and what it started. Where only the tool itself can be killed, and that was a script that runs ffmpeg, it
 * is ffmpeg that reads the wish to end.
 */
function kill(child: ChildProcess, how: 'SIGTERM' | 'SIGKILL'): void {
  child.stdin?.end('q');
  // A permission to signal whole groups is one that Deno gives only together with running any program, such as that one.
  if (child.pid && !process.versions.deno) {
    try {
      process.kill(-child.pid, how);
      return;
    } catch {
      // It has just ended by itself.
    }
  }
  if (child.pid && process.versions.deno) {
    try {
      const group = spawn(KILL, [`-${how.slice(3)}`, '--', `-${child.pid}`], { env: {}, stdio: 'ignore' });
      group.on('error', () => undefined);
    } catch {
      // It may not be run.
    }
  }
  child.kill(how);
}

/** Takes paths of this machine out of a log: those of the command line, and what looks like one. */
export function withoutPaths(log: string, args: readonly string[]): string {
  const known = args.filter((arg) => isAbsolute(arg)).sort((a, b) => b.length - a.length);
  return (
    known
      .reduce((text, path) => text.replaceAll(path, basename(path)), log)
      .replaceAll(/(?<![\w./])\/(?!\/)(?:[^\s/:'"]+\/)+([^\s/:'"]*)/g, '$1')
      .replaceAll(/ @ 0x[0-9a-f]+/g, '')
      // What is quoted of a file may hold anything; a database takes no NUL.
      .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
      .trim()
  );
}

function tookTooLong(path: string, ms: number): MediaFailure {
  const seconds = Math.round(ms / 1000);
  return new MediaFailure(
    `The processing of the file was stopped after the ${seconds} seconds that it may take. It is probably damaged.`,
    { permanent: false, attempts: 2, log: `${basename(path)} was stopped` },
  );
}

function tooMuchOutput(): MediaFailure {
  return new MediaFailure('The file says more about itself than any recording does.', { permanent: true });
}
