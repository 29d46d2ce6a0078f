import { Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createPool } from '../../src/database/pool.ts';
import type { DB } from '../../src/database/schema.ts';
import { ADMIN, createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { giveAcl, licenseCatalog } from '../support/event-writes.ts';
import { insertElement, insertPublication } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { ace } from '../support/series.ts';

const EVENTS = 50;
const SIZES = [1, 10, EVENTS];

let app: TestApp;
let counted: Awaited<ReturnType<typeof createApp>>;
let database: Kysely<DB>;
let folder: Awaited<ReturnType<typeof licenseCatalog>>;
let reader: string;
let sent: string[];

beforeAll(async () => {
  folder = await licenseCatalog();
  app = await createTestApp(undefined, { METADATA_DIR: folder.dir });
  database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: createPool(app.context.databaseUrl, { onError: () => undefined }) }),
    // Who asks is remembered for a while.
    log: ({ query: { sql } }) => void (sql.includes('"accounts"') || sent.push(sql)),
  });
  counted = await createApp({ ...app.context, database });
  reader = await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_API_SERIES_VIEW', 'ROLE_READER');
  for (let number = 0; number < EVENTS; number += 1) {
    await fullEvent(number);
    await series(number);
  }
});
afterAll(async () => {
  await database?.destroy();
  await app?.close();
  await folder?.remove();
});

/** An event that has something of all that a list can show beside it. */
async function fullEvent(number: number): Promise<void> {
  const agent_id = `Hall ${number}`;
  const id = await insertScheduled(app.database, {
    agent_id,
    start: '2030-01-07T09:00:00Z',
    end: '2030-01-07T10:00:00Z',
  });
  await giveAcl(app, id, [ace('ROLE_READER'), ace('ROLE_WRITER', 'write')]);
  const catalog = { flavor: 'license/episode', fields: JSON.stringify({ licensor: agent_id }) };
  await app.database
    .insertInto('event_catalogs')
    .values({ event_id: id, ...catalog })
    .execute();
  const publication_id = await insertPublication(app.database, id);
  const element = { event_id: id, publication_id, kind: 'attachment' } as const;
  await insertElement(app.database, app.storage, bytes(10), element);
}

async function series(number: number): Promise<void> {
  const id = `series-${number}`;
  await app.database.insertInto('series').values({ id }).execute();
  await app.database
    .insertInto('series_acl')
    .values({ series_id: id, position: 0, ...ace('ROLE_READER') })
    .execute();
}

/** @returns the rows of a page, and the statements that it took */
async function page(path: string, authorization: string) {
  sent = [];
  const answer = await counted.request(path, { headers: { Authorization: authorization } });
  expect(answer.status).toBe(200);
  return { rows: (await answer.json()) as Record<string, unknown>[], statements: sent };
}

const WISHES = ['withacl', 'withpublications', 'withmetadata', 'withscheduling'];

test.each([
  ['events', []],
  ...WISHES.map((wish) => ['events', [wish]] as const),
  ['events', WISHES],
  ['series', []],
  ['series', ['withacl']],
] as const)('a page of %s %j takes as many statements for few as for many', async (list, wishes) => {
  for (const authorization of [ADMIN, reader]) {
    const bare = await page(`/api/${list}?limit=1`, authorization);
    const query = wishes.map((wish) => `&${wish}=true`).join('');
    for (const size of SIZES) {
      const { rows, statements } = await page(`/api/${list}?limit=${size}${query}`, authorization);
      expect(rows).toHaveLength(size);
      for (const row of rows) expect(missing(row, wishes)).toEqual([]);
      expect(statements.length, statements.join('\n')).toBe(bare.statements.length + wishes.length);
    }
  }
});

/** What was wished for and a row of the list lacks, or has empty. */
function missing(row: Record<string, unknown>, wishes: readonly string[]): string[] {
  return wishes.filter((wish) => Object.keys(row[SHOWN_AS[wish] ?? ''] ?? {}).length === 0);
}

const SHOWN_AS: Record<string, string> = {
  withacl: 'acl',
  withpublications: 'publications',
  withmetadata: 'metadata',
  withscheduling: 'scheduling',
};
