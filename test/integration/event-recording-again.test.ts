import { expect, test } from 'vitest';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { sendForm } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { update } from '../support/scheduling.ts';

const bench = EventBench.forThisFile();

/** A scheduled event whose recording came and could not be processed. */
async function failed(): Promise<string> {
  const id = await bench.scheduled();
  const { database } = bench.app;
  expect((await update(bench.app, id, [file('presenter', 'broken.mp4', bytes(3000))])).status).toBe(204);
  await database.updateTable('workflows').set({ state: 'FAILED' }).where('event_id', '=', id).execute();
  await database.updateTable('events').set({ processing_state: 'FAILED' }).where('id', '=', id).execute();
  return id;
}

const objectKeys = async (id: string) => {
  const rows = bench.app.database.selectFrom('tracks').select('object_key').where('event_id', '=', id);
  return (await rows.execute()).map(({ object_key }) => object_key);
};

test('a scheduled recording whose processing has failed can get another one, which takes its place', async () => {
  const id = await failed();
  const [broken = ''] = await objectKeys(id);
  expect((await update(bench.app, id, [file('presenter', 'again.mp4', bytes(2000))])).status).toBe(204);
  expect(await bench.tracks(id)).toMatchObject([{ filename: 'again.mp4' }]);
  expect(await bench.workflows(id)).toHaveLength(2);
  expect((await bench.read(`/api/events/${id}`)).processing_state).toBe('INSTANTIATED');
  const released = bench.app.database.selectFrom('staging').select('owner').where('object_key', '=', broken);
  expect(await released.executeTakeFirst()).toEqual({ owner: null });
  const third = await update(bench.app, id, [file('presenter', 'third.mp4', bytes(1000))]);
  expect(third.status).toBe(409);
});

test('a track in place of the failed recording is processed; one beside it is not', async () => {
  const id = await failed();
  const track = (more: [string, string][]) =>
    sendForm(bench.app, `/api/events/${id}/track`, [
      field('flavor', 'presenter/source'),
      ...more.map(([name, value]) => field(name, value)),
      file('track', 'again.mp4', bytes(1500)),
    ]);
  expect((await track([])).status).toBe(200);
  expect(await bench.workflows(id)).toHaveLength(1);
  expect((await track([['overwriteExisting', 'true']])).status).toBe(200);
  expect(await bench.tracks(id)).toMatchObject([{ filename: 'again.mp4' }]);
  expect(await bench.workflows(id)).toHaveLength(2);
});
