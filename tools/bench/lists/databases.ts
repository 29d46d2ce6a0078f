import type { Bench } from '../setup/bench.ts';
import { databaseWith } from '../setup/filled.ts';
import { seedLists } from './seed.ts';

/** The number of events that larger lists are compared with. */
export const SMALL = 10_000;

/** The URL of a database with so many events. */
export function listDatabase(bench: Bench, events: number): Promise<string> {
  return databaseWith(bench, `${events}`, (database) => seedLists(database, events));
}
