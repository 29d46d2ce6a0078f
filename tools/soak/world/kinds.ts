import type { Runtime } from '../../../src/cli/role.ts';

/** A configuration of the product. */
export interface WorldKind {
  name: string;
  runtime: Runtime;
  queue: 'redis' | 'postgres';
  storage: 's3' | 'folder';
}

/** What a command line wants of it. */
export type Wanted = Partial<Omit<WorldKind, 'name'>>;

const kind = (runtime: Runtime, queue: WorldKind['queue'], storage: WorldKind['storage']): WorldKind => ({
  name: `${runtime} ${queue} ${storage}`,
  ...{ runtime, queue, storage },
});

/**
 * All of them, in an order in which two hold everything once, and four everything together with everything: each runtime
 * with each queue and each storage, each queue with each storage.
 */
const KINDS: readonly WorldKind[] = [
  kind('deno', 'redis', 's3'),
  kind('node', 'postgres', 'folder'),
  kind('node', 'redis', 's3'),
  kind('deno', 'postgres', 's3'),
  kind('deno', 'redis', 'folder'),
  kind('node', 'postgres', 's3'),
  kind('deno', 'postgres', 'folder'),
  kind('node', 'redis', 'folder'),
];
/** A pair that holds everything, and the four that hold all pairs. */
const TWO = [0, 1];
const FOUR = [0, 5, 6, 7];
const LEAST_MINUTES = 4;
const LONG_MINUTES = 10;

/**
 * The worlds of a run of so many minutes: those that are wanted, as many as there is time for; one that the seed chooses
 * where there is time for a single one, so that short runs come to all of them.
 */
export function chooseWorlds(wanted: Wanted, minutes: number, seed: number): WorldKind[] {
  const fits = KINDS.filter(
    ({ runtime, queue, storage }) =>
      runtime === (wanted.runtime ?? runtime) &&
      queue === (wanted.queue ?? queue) &&
      storage === (wanted.storage ?? storage),
  );
  if (minutes < 2 * LEAST_MINUTES) return at(fits, [Math.trunc(seed) % fits.length]);
  if (fits.length < KINDS.length) return fits.slice(0, Math.floor(minutes / LEAST_MINUTES));
  if (minutes < 4 * LONG_MINUTES) return at(fits, TWO);
  return minutes < 8 * LONG_MINUTES ? at(fits, FOUR) : [...fits];
}

function at(kinds: readonly WorldKind[], places: readonly number[]): WorldKind[] {
  return places.flatMap((place) => kinds[place] ?? []);
}
