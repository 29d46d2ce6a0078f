import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.ts';
import type { World } from './world.ts';

const SETTLED_MS = 120_000;
const REST_MS = 20_000;
/** So many recordings may wait for workers before clients pause. */
const MOST = 25;
const LOOK_MS = 3_000;

/** Waits until everything is published, and then for what is cleared away behind it. */
export async function settled({ database }: World): Promise<void> {
  await eventually(
    async () => {
      if ((await unfinished(database)) > 0) throw new Error('Not everything that was uploaded has been processed.');
    },
    SETTLED_MS,
    500,
  ).catch(() => undefined);
  await pause(REST_MS);
}

/** Follows how many recordings wait. @returns whether more may come, as far as the database tells */
export function watchBacklog({ database }: World, signal: AbortSignal): () => boolean {
  let count = 0;
  void (async () => {
    while (!signal.aborted) {
      count = await unfinished(database).catch(() => count);
      await pause(LOOK_MS);
    }
  })();
  return () => count < MOST;
}

async function unfinished(database: World['database']): Promise<number> {
  const { count } = await database
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('processing_state', 'in', ['INSTANTIATED', 'RUNNING'])
    .executeTakeFirstOrThrow();
  return Number(count);
}
