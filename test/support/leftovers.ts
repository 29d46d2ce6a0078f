import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** What is in the object storage and on the staging ledger, and what the rows of the database name. */
async function inventory({ database, storage }: TestServer) {
  const [tracks, elements, staged] = await Promise.all([
    database.selectFrom('tracks').select('object_key').execute(),
    database.selectFrom('publication_elements').select('object_key').execute(),
    database.selectFrom('staging').select('object_key').execute(),
  ]);
  return {
    stored: (await Array.fromAsync(storage.list(''))).map(({ key }) => key).sort(),
    owned: [...tracks, ...elements].map(({ object_key }) => object_key).sort(),
    unfinished: await Array.fromAsync(storage.unfinished()),
    staged: staged.map(({ object_key }) => object_key),
  };
}

/**
 * Waits until every stored object belongs to a row and every row has its object, no upload into the storage is
 * unfinished and the staging ledger is empty.
 */
export async function expectNothingLeftOver(server: TestServer, timeoutMs = 20_000): Promise<void> {
  await eventually(
    async () => {
      const { stored, owned, unfinished, staged } = await inventory(server);
      expect({ stored, unfinished, staged }).toEqual({ stored: owned, unfinished: [], staged: [] });
    },
    timeoutMs,
    250,
  );
}

/** How many events there are, seen or not. */
export async function countEvents({ database }: TestServer): Promise<number> {
  const { count } = await database
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Makes what ended processes have staged due for the sweep, which would otherwise wait a minute for them. */
export async function expireStaged({ database }: TestServer): Promise<void> {
  await database
    .updateTable('staging')
    .set({ expires_at: new Date(0) })
    .execute();
}
