import { createDatabase } from '../../../src/database/kysely.ts';
import { createPool } from '../../../src/database/pool.ts';
import type { Bench } from '../setup/bench.ts';
import { filledDatabase } from '../setup/database.ts';
import { seedLists } from './seed.ts';

/** The number of events that larger lists are compared with. */
export const SMALL = 10_000;

/** Those filled by this run: several tables may need the same one. */
const filled = new Map<string, Promise<string>>();

/** The URL of a database with so many events. */
export function listDatabase({ databaseUrl, options, cleanup }: Bench, events: number): Promise<string> {
  const name = `${options.keep ?? `inlet_bench_${process.pid}_lists`}_${events}`;
  const url =
    filled.get(name) ??
    filledDatabase(databaseUrl, name, { keep: options.keep !== undefined, cleanup, fill: fillLists(events) });
  filled.set(name, url);
  return url;
}

const fillLists = (events: number) => async (url: string) => {
  const pool = createPool(url, { onError: () => undefined });
  try {
    await seedLists(createDatabase(pool), events);
  } finally {
    await pool.end();
  }
};
