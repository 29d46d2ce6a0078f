import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { insertElement, insertEvent } from '../../test/support/publication.ts';
import { publish } from './publish.ts';
import { republish } from './republish.ts';

let bench: OperationBench;

beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

const prepare = (eventId: string) =>
  insertElement(bench.database, bench.storage, Buffer.from('media'), { event_id: eventId, kind: 'media' });

async function rename(eventId: string): Promise<void> {
  await bench.database.updateTable('events').set({ title: 'After' }).where('id', '=', eventId).execute();
}

async function channels(eventId: string): Promise<string[]> {
  const rows = bench.database.selectFrom('publications').select('channel').where('event_id', '=', eventId);
  return (await rows.orderBy('channel').execute()).map(({ channel }) => channel);
}

/** Whether the catalogs of an event are those of its new title. */
async function renewed(eventId: string): Promise<boolean[]> {
  const elements = await bench.elementsOf(eventId);
  const catalogs = elements.filter(({ kind }) => kind === 'metadata');
  const texts = await Promise.all(catalogs.map(({ object_key }) => bench.bytesOf(object_key)));
  return texts.map((text) => text.includes('>After<'));
}

test('every publication gets the catalog as it is now, at its address and with the media it had', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Before' });
  for (const channel of ['engage-player', 'api']) {
    await prepare(eventId);
    await bench.perform(publish, eventId, { configuration: { channel } });
  }
  const before = await bench.elementsOf(eventId);
  await rename(eventId);
  await bench.perform(republish, eventId);
  expect(await renewed(eventId)).toEqual([true, true]);
  const after = await bench.elementsOf(eventId);
  const owners = (elements: typeof before) => elements.map((each) => each.publication_id).toSorted();
  expect(owners(after)).toEqual(owners(before));
  const media = (elements: typeof before) => elements.filter(({ kind }) => kind === 'media');
  expect(media(after)).toEqual(media(before));
  const catalogs = before.filter(({ kind }) => kind === 'metadata').map(({ object_key }) => object_key);
  const released = await bench.database.selectFrom('staging').select('object_key').execute();
  expect(released.map(({ object_key }) => object_key)).toEqual(expect.arrayContaining(catalogs));
});

test('what is internal stays internal', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Before' });
  await prepare(eventId);
  await bench.perform(publish, eventId, { configuration: { channel: 'internal' } });
  await rename(eventId);
  await bench.perform(republish, eventId);
  expect(await channels(eventId)).toEqual(['internal']);
  expect(await renewed(eventId)).toEqual([true]);
  const told = await bench.database
    .selectFrom('changes')
    .select('data')
    .where('event_id', '=', eventId)
    .execute();
  expect(told.map(({ data }) => data)).toMatchObject([
    { channel: 'internal' },
    { channel: 'internal', renewed: true },
  ]);
});

test('what is only prepared stays so', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Before' });
  await prepare(eventId);
  await bench.perform(publish, eventId);
  const prepared = await prepare(eventId);
  const untold = await insertEvent(bench.database);
  await prepare(untold);
  for (const id of [eventId, untold]) {
    await rename(id);
    await bench.perform(republish, id);
  }
  const elements = await bench.elementsOf(eventId);
  expect(elements.find(({ id }) => id === prepared.id)?.publication_id).toBeNull();
  expect(await renewed(eventId)).toEqual([true]);
  expect(await channels(untold)).toEqual([]);
  expect((await bench.elementsOf(untold)).map(({ kind }) => kind)).toEqual(['media']);
});

test('a publication that is retracted meanwhile stays so, and the catalog made for it goes', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId);
  await bench.perform(publish, eventId);
  const late = {
    ...republish,
    run: async (context: Parameters<typeof republish.run>[0]) => {
      const commit = await republish.run(context);
      await bench.database.deleteFrom('publication_elements').where('event_id', '=', eventId).execute();
      await bench.database.deleteFrom('publications').where('event_id', '=', eventId).execute();
      return commit;
    },
  };
  await bench.perform(late, eventId);
  expect(await channels(eventId)).toEqual([]);
  expect(await bench.elementsOf(eventId)).toEqual([]);
});
