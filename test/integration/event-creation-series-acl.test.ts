import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replaceAcl } from '../../src/access/acl/acl.queries.ts';
import type { Transaction } from '../../src/database/kysely.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, createSeries, send } from '../support/series.ts';

const [FORMER, LATTER, OWN] = [ace('ROLE_FORMER'), ace('ROLE_LATTER'), ace('ROLE_OWN')];

let app: TestApp;
let series: string;
let id: string;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  id = randomUUID();
  series = await createSeries(app, {}, [FORMER]);
});

const transaction = (work: (trx: Transaction) => Promise<void>) => app.database.transaction().execute(work);
const changeSeries = () => send(app, 'PUT', `/api/series/${series}/acl`, { acl: JSON.stringify([LATTER]) });
const writeEvent = (trx: Transaction, own_acl = false) =>
  insertEvent(trx, { id, series_id: series, own_acl });

async function somebodyWaits(): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(app.database);
    expect(rows).toHaveLength(1);
  });
}

async function readers(): Promise<string[]> {
  const event = app.database.selectFrom('events').select('read_roles').where('id', '=', id);
  return (await event.executeTakeFirstOrThrow()).read_roles;
}

// The ACL of a new event is written before the event itself.
describe.each([
  { acl: 'no ACL of its own', entries: [], own: false, expected: [LATTER.role] },
  { acl: 'an ACL of its own', entries: [OWN], own: true, expected: [OWN.role] },
  { acl: 'an ACL of its own as earlier versions write it', entries: [OWN], own: false, expected: [OWN.role] },
  { acl: 'an empty ACL of its own', entries: [], own: true, expected: [] },
])(
  'who may read a new event with $acl is right when the ACL of its series changes',
  ({ entries, own, expected }) => {
    test('between the ACL of the event and the event', async () => {
      await transaction(async (trx) => {
        await replaceAcl(trx, 'events', id, entries);
        expect((await changeSeries()).status).toBe(200);
        await writeEvent(trx, own);
      });
      expect(await readers()).toEqual(expected);
    });

    test('between the event and the end of its transaction', async () => {
      let changed: Promise<{ status: number }> | undefined;
      await transaction(async (trx) => {
        await replaceAcl(trx, 'events', id, entries);
        await writeEvent(trx, own);
        changed = changeSeries();
        await somebodyWaits();
      });
      expect((await changed)?.status).toBe(200);
      expect(await readers()).toEqual(expected);
    });

    test('before, in a transaction that ends after the ACL of the event', async () => {
      let written: Promise<void> | undefined;
      await transaction(async (trx) => {
        await replaceAcl(trx, 'series', series, [LATTER]);
        written = transaction(async (other) => {
          await replaceAcl(other, 'events', id, entries);
          await writeEvent(other, own);
        });
        await somebodyWaits();
      });
      await written;
      expect(await readers()).toEqual(expected);
    });
  },
);
