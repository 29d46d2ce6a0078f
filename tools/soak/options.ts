import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Wanted } from './world/kinds.ts';

/** What a run is made of. */
export interface SoakOptions {
  /** How long faults happen, in all worlds together. */
  minutes: number;
  /** Decides which faults come when, and how uploads are sent. */
  seed: number;
  /** What the worlds have to be; all kinds without it. */
  worlds: Wanted;
  /** Faults to choose from, by name or kind; all without it. */
  only: readonly string[];
  /** Where the logs of the processes go; a folder that is made. */
  logs: string | undefined;
  /** Where the report goes, as JSON. */
  json: string;
  /** Prints the table of docs/measurements.md. */
  markdown: boolean;
  /** Rehearses an upgrade in place of all that. */
  upgrade: boolean;
  /** What is upgraded: a commit or a tag; the one before the latest migration without it. */
  from: string | undefined;
  /** Events that there are before an upgrade. */
  events: number;
}

export const USAGE = `npm run soak -- [OPTION...]

  --minutes N        how long faults happen, in all worlds together (10)
  --seed N           repeats the faults of another run; every run prints its own
  --runtime NAME     worlds with deno or node alone
  --queue NAME       with redis or postgres alone
  --storage NAME     with s3 or folder alone
  --only NAME,...    these faults alone, by the names or kinds that a run prints
  --logs FOLDER      keep the logs of the processes there
  --json FILE        where the report goes (soak-results.json)
  --markdown         print a table for docs/measurements.md as well

  --upgrade          in place of all that: the version before serves while the migrations of this one run, then both do
  --from REF         that version: a tag or commit (the one before the latest migration)
  --events N         events that there are by then (1000000)

A world is PostgreSQL, Redis or not, an S3 server or a folder, two APIs and five workers, each of which relays, on Deno or
on Node. A run of less than 8 minutes has one that the seed chooses, one of 8 has two that hold each of these once, one of
40 four that hold each with each other, one of 80 all eight. In each, recordings are uploaded all the time, by form, by tus
and as capture agents do, while one part after the other fails and processes are killed; then everything is mended. The run exits with 1 unless in
every world every upload that was accepted has been published once, those that make the tools hang, crash or write without
end, or kill their worker, have failed with a reason, nothing is stuck or left over, and the processes are as small and as
idle as at first. redis-server has to be installed. Full disks need the right to mount, steps of the clock Debian's package
libfaketime; without, the run says so and leaves them out.`;

/** A command line that is not understood. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** @returns undefined when only help is wanted @throws {UsageError} */
export function parseOptions(args: string[]): SoakOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const worlds: Wanted = {
    ...(values.runtime && { runtime: choice('runtime', values.runtime, ['deno', 'node']) }),
    ...(values.queue && { queue: choice('queue', values.queue, ['redis', 'postgres']) }),
    ...(values.storage && { storage: choice('storage', values.storage, ['s3', 'folder']) }),
  };
  return {
    worlds,
    minutes: number('minutes', values.minutes ?? '10', 0.1),
    seed: values.seed === undefined ? randomInt(1_000_000) : number('seed', values.seed, 0),
    only: values.only?.split(',') ?? [],
    logs: values.logs,
    json: values.json ?? 'soak-results.json',
    markdown: values.markdown ?? false,
    upgrade: values.upgrade ?? false,
    from: values.from,
    events: number('events', values.events ?? '1000000', 0),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const names = {
    ...{ minutes: text, seed: text, runtime: text, queue: text, storage: text, only: text, logs: text },
    ...{ json: text, from: text, events: text, markdown: flag, upgrade: flag, help: flag },
  };
  try {
    return parseArgs({ args, options: names }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function number(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least) return value;
  throw new UsageError(`--${name} is ${text}; allowed is a number of at least ${least}.`);
}

function choice<const T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === text);
  if (found) return found;
  throw new UsageError(`--${name} is ${text}; allowed is ${choices.join(' or ')}.`);
}
