import { parseArgs } from 'node:util';
import type { Runtime } from '../../src/cli/role.ts';

/** The tables, in the order in which they are measured. */
export const TABLES = [
  'upload',
  'memory',
  'workflow',
  'queue',
  'waiting',
  'poll',
  'lists',
  'recordings',
  'scheduling',
  'throughput',
  'agents',
  'updates',
] as const;
export type TableName = (typeof TABLES)[number];

/** What a run measures, and how thoroughly. */
export interface BenchOptions {
  only: readonly TableName[];
  /** Rounds of every table; without it each has its own number. */
  rounds: number | undefined;
  /** Bytes of one upload in the table `upload`; each of sixteen has a quarter. */
  size: number;
  /** Bytes of one more upload there, generated on the way. */
  huge: number | undefined;
  /** Events in the tables `lists`, `recordings` and `throughput`, with a tenth as many series, and in `scheduling`. */
  events: number;
  /** Beginning of the names of databases that are filled once and kept; without it they are dropped. */
  keep: string | undefined;
  /** Where the plans of the slowest lists go. */
  plans: string | undefined;
  runtime: Runtime;
  /** Small sizes: shows that everything works, not how fast it is. */
  quick: boolean;
  /** Bring an S3 server or a Redis server along. */
  s3: boolean;
  redis: boolean;
  /** Print the tables as Markdown. */
  markdown: boolean;
  /** Where the figures go as JSON. */
  json: string;
}

export const USAGE = `npm run bench -- [OPTION...]

  --only NAME,...    tables to measure: ${TABLES.join(', ')}; all without it
  --rounds N         how often each comparison is repeated
  --size SIZE        size of one upload in the table "upload", four times that of each of sixteen: 512MiB, 1GiB, ...
  --huge SIZE        one more upload there, generated on the way and stored once: 20GiB, ...
  --events N         events in the tables of lists, "scheduling" and "throughput" (1000000)
  --keep NAME        keep the filled databases NAME_..., or use them when they are there
  --plans FILE       write the plans of the five slowest lists
  --runtime NAME     deno (default) or node
  --s3, --redis      bring a local S3 or Redis server along (redis-server must be installed)
  --quick            small sizes, to see that it works
  --markdown         print the tables as Markdown
  --json FILE        where the figures go (bench-results.json)

Measured is the configuration of the environment, as for npm start (DATABASE_URL, REDIS_URL, S3_BUCKET, ...); the
embedded defaults where nothing is set. A database is created beside the configured one and dropped at the end;
objects go into the configured bucket and are removed; the Redis database must be empty.`;

/** A command line that is not understood; the message is for the person at the terminal. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * Reads the command line.
 *
 * @returns undefined when only help is wanted
 * @throws {UsageError}
 */
export function parseOptions(args: string[]): BenchOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const { runtime, quick } = values;
  if (runtime !== 'deno' && runtime !== 'node') throw new UsageError('--runtime is deno or node.');
  return {
    only: values.only === undefined ? TABLES : values.only.split(',').map(tableName),
    rounds: values.rounds === undefined ? undefined : count('rounds', values.rounds, 4),
    events: count('events', values.events ?? (quick ? '20000' : '1000000'), 8),
    keep: values.keep === undefined ? undefined : databaseName(values.keep),
    plans: values.plans,
    size: bytes('size', values.size ?? (quick ? '64MiB' : '1GiB')),
    huge: values.huge === undefined ? undefined : bytes('huge', values.huge),
    runtime,
    quick,
    s3: values.s3,
    redis: values.redis,
    markdown: values.markdown,
    json: values.json,
  };
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      options: {
        only: text,
        rounds: text,
        size: text,
        huge: text,
        events: text,
        keep: text,
        plans: text,
        runtime: { ...text, default: 'deno' },
        s3: flag,
        redis: flag,
        markdown: flag,
        quick: flag,
        json: { ...text, default: 'bench-results.json' },
        help: { ...flag, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function tableName(name: string): TableName {
  const known = TABLES.find((table) => table === name);
  if (!known) throw new UsageError(`--only: "${name}" is not one of ${TABLES.join(', ')}.`);
  return known;
}

function count(option: string, text: string, digits: number): number {
  if (!/^[1-9]\d*$/.test(text) || text.length > digits)
    throw new UsageError(`--${option}: "${text}" is no such number.`);
  return Number(text);
}

function databaseName(text: string): string {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(text)) throw new UsageError(`--keep: "${text}" is no name of a database.`);
  return text;
}

function bytes(option: string, text: string): number {
  const [, number, unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? [];
  const size = Number(number) * ({ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit] ?? 1);
  if (!(size > 0)) throw new UsageError(`--${option}: "${text}" is no size such as 512MiB or 1GiB.`);
  return size;
}
