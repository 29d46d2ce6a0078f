import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { insertEvent } from '../../test/support/publication.ts';
import type { FieldValue } from './catalog.ts';
import { deleteCatalog, saveCatalog, storedCatalogs } from './catalogs.queries.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const FLAVOR = 'license/any';
const values = (fields: Record<string, FieldValue>) => new Map(Object.entries(fields));

const insert = {
  events: async () => insertEvent(db.database),
  series: async () => {
    const id = randomUUID();
    await db.database.insertInto('series').values({ id, title: 'S' }).execute();
    return id;
  },
};

describe.each(['events', 'series'] as const)('%s', (resource) => {
  const save = (id: string, fields: Record<string, FieldValue>, flavor = FLAVOR) =>
    db.database.transaction().execute((trx) => saveCatalog(trx, resource, id, flavor, values(fields)));
  const remove = (id: string, flavor = FLAVOR) =>
    db.database.transaction().execute((trx) => deleteCatalog(trx, resource, id, flavor));
  const stored = async (id: string) => (await storedCatalogs(db.database, resource, [id])).get(id);

  test('fields that are not given stay as they are', async () => {
    const id = await insert[resource]();
    await save(id, { a: 'one', b: ['x', 'y'] });
    await save(id, { a: '', c: 'it\'s \\ "new"' });
    expect(await stored(id)).toEqual(
      new Map([[FLAVOR, values({ a: '', b: ['x', 'y'], c: 'it\'s \\ "new"' })]]),
    );
  });

  test('each has catalogs of its own, and one without has none', async () => {
    const [first, second, third] = [
      await insert[resource](),
      await insert[resource](),
      await insert[resource](),
    ];
    await save(first, { a: '1' });
    await save(first, { a: '2' }, 'other/any');
    await save(second, { a: '3' });
    expect(await storedCatalogs(db.database, resource, [first, second, third])).toEqual(
      new Map([
        [
          first,
          new Map([
            [FLAVOR, values({ a: '1' })],
            ['other/any', values({ a: '2' })],
          ]),
        ],
        [second, new Map([[FLAVOR, values({ a: '3' })]])],
        [third, new Map()],
      ]),
    );
    expect(await storedCatalogs(db.database, resource, [])).toEqual(new Map());
  });

  test('removing says whether there was one, and takes no other', async () => {
    const [id, other] = [await insert[resource](), await insert[resource]()];
    await save(id, { a: '1' });
    await save(id, { a: '2' }, 'other/any');
    await save(other, { a: '3' });
    expect(await remove(id)).toBe(true);
    expect(await remove(id)).toBe(false);
    expect([...((await stored(id))?.keys() ?? [])]).toEqual(['other/any']);
    expect([...((await stored(other))?.keys() ?? [])]).toEqual([FLAVOR]);
  });
});
