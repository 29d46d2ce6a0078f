import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/series.ts';

const bench = EventBench.forThisFile();

const remove = (id: string, headers = {}) =>
  send(bench.app, 'DELETE', `/api/events/${id}`, undefined, headers);

test('who may write an event deletes it, once; then its identifier is all that the answer says', async () => {
  const id = await bench.event();
  expect(await remove(id, bench.writer)).toMatchObject({ status: 204, text: '' });
  expect(await remove(id, bench.writer)).toMatchObject({ status: 404, text: id });
});

test('who may only read it gets 401, who may not even that gets 404', async () => {
  const id = await bench.event();
  expect(await remove(id, bench.reader)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect(await remove(id, bench.stranger)).toMatchObject({ status: 404, text: id });
  expect(await bench.version(id)).toBe(0);
});

test('who loses the right to write while the deletion waits does not delete', async () => {
  const id = await bench.event();
  const { database } = bench.app;
  const waiting = async () => {
    const { rows } = await sql`SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND datname = current_database()`.execute(database);
    expect(rows.length).toBeGreaterThan(0);
  };
  const deletion = await database.transaction().execute(async (trx) => {
    await trx.deleteFrom('event_acl').where('event_id', '=', id).where('action', '=', 'write').execute();
    const sent = remove(id, bench.writer);
    await eventually(waiting);
    // In a list: a promise by itself would be awaited before the transaction ends.
    return [sent];
  });
  expect(await deletion[0]).toMatchObject({ status: 401, text: 'unauthorized' });
  expect(await bench.version(id)).toBe(0);
});
