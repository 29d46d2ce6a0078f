import { eventually } from './eventually.ts';
import type { TestServer } from './server.ts';

/** Where something may be left. */
type Stores = Pick<TestServer, 'database' | 'storage'>;

/** What is in the object storage and on the staging ledger, and what the rows of the database name. */
async function inventory({ database, storage }: Stores) {
  const [tracks, attachments, elements, staged] = await Promise.all([
    database.selectFrom('tracks').select('object_key').execute(),
    database.selectFrom('attachments').select('object_key').execute(),
    database.selectFrom('publication_elements').select('object_key').execute(),
    database.selectFrom('staging').selectAll().execute(),
  ]);
  const stored = (await Array.fromAsync(storage.list(''))).map(({ key }) => key);
  const owned = [...tracks, ...attachments, ...elements].map(({ object_key }) => object_key);
  const told = (what: string, keys: readonly string[], known: readonly string[] = []) => {
    const there = new Set(known);
    return keys.filter((key) => !there.has(key)).map((key) => `${key} ${what}`);
  };
  return {
    orphans: [
      ...told('is stored, and no row names it', stored, owned),
      ...told('is named by a row, and not stored', owned, stored),
      ...told('is unfinished', await Array.fromAsync(storage.unfinished())),
    ],
    staged: staged
      .filter((entry) => !isRemembered(entry))
      .map(
        ({ object_key, owner, expires_at }) =>
          `${object_key} is staged by ${owner ?? 'nobody'} until ${expires_at.toISOString()}`,
      ),
  };
}

/**
 * Whether an object has been removed and will be once more, because of a request to the storage whose outcome nobody
 * knows. On a busy machine any request can become one.
 */
export function isRemembered({ owner, expires_at }: { owner: string | null; expires_at: Date }): boolean {
  return owner === null && expires_at.getTime() > Date.now();
}

function expectNone(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('; '));
}

/**
 * Waits until every stored object belongs to a row and every row has its object, no upload into the storage is
 * unfinished and the staging ledger holds nothing but what has been removed already.
 *
 * @param options.atOnce makes what is staged due for the sweep, which else waits for minutes; for tests in which
 * nothing is being stored any more
 */
export async function expectNothingLeftOver(
  server: Stores,
  { timeoutMs = 20_000, atOnce = false }: { timeoutMs?: number; atOnce?: boolean } = {},
): Promise<void> {
  await eventually(
    async () => {
      if (atOnce)
        await server.database
          .updateTable('staging')
          .set({ owner: null, expires_at: new Date(0) })
          .execute();
      const { orphans, staged } = await inventory(server);
      expectNone([...orphans, ...staged]);
    },
    timeoutMs,
    500,
  );
}

/** Waits until the objects in the storage are those that rows name, whatever the staging ledger remembers. */
export async function expectNoOrphans(server: TestServer, timeoutMs: number): Promise<void> {
  await eventually(
    async () => {
      expectNone((await inventory(server)).orphans);
    },
    timeoutMs,
    500,
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
