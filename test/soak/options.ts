import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Runtime } from '../../src/cli/role.ts';

/** What a run is made of. */
export interface SoakOptions {
  minutes: number;
  /** Decides which faults come when, and how uploads are sent. */
  seed: number;
  runtime: Runtime;
  queue: 'redis' | 'postgres';
  storage: 's3' | 'folder';
  /** Faults to choose from, by name; all without it. */
  only: readonly string[];
  /** Where the logs of the processes go; a folder that is made. */
  logs: string | undefined;
}

export const USAGE = `npm run soak -- [OPTION...]

  --minutes N        how long faults happen (30)
  --seed N           repeats the faults of another run; every run prints its own
  --runtime NAME     deno (default) or node
  --queue NAME       redis (default; redis-server must be installed) or postgres
  --storage NAME     s3 (default) or folder
  --only NAME,...    these faults alone, by the names that a run prints
  --logs FOLDER      keep the logs of the processes there

Starts PostgreSQL, Redis, an S3 server, an API and two workers, uploads recordings all the time while one part after the
other fails, mends everything, and exits with 1 unless every upload that was accepted has been published once, nothing is
left over, and the processes are as small and as idle as at first. Some faults need root and are left out without it.`;

/** A command line that is not understood. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** @returns undefined when only help is wanted @throws {UsageError} */
export function parseOptions(args: string[]): SoakOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  return {
    minutes: number('minutes', values.minutes ?? '30', 0.1),
    seed: values.seed === undefined ? randomInt(1_000_000) : number('seed', values.seed, 0),
    runtime: choice('runtime', values.runtime ?? 'deno', ['deno', 'node']),
    queue: choice('queue', values.queue ?? 'redis', ['redis', 'postgres']),
    storage: choice('storage', values.storage ?? 's3', ['s3', 'folder']),
    only: values.only?.split(',') ?? [],
    logs: values.logs,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const names = {
    minutes: text,
    seed: text,
    runtime: text,
    queue: text,
    storage: text,
    only: text,
    logs: text,
  };
  try {
    return parseArgs({ args, options: { ...names, help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function number(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least) return value;
  throw new UsageError(`--${name} is ${text}; allowed is a number of at least ${least}.`);
}

function choice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === text);
  if (found) return found;
  throw new UsageError(`--${name} is ${text}; allowed is ${choices.join(' or ')}.`);
}
