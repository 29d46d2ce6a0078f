import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { insertElement, insertEvent } from '../../test/support/publication.ts';
import { publish } from './publish.ts';
import { retract } from './retract.ts';

let bench: OperationBench;

beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

async function publishOn(eventId: string, channel: string): Promise<string> {
  const media = await insertElement(bench.database, bench.storage, Buffer.from(channel), {
    event_id: eventId,
    kind: 'media',
  });
  await bench.perform(publish, eventId, { configuration: { channel } });
  return media.object_key;
}

async function rows(eventId: string) {
  const { database } = bench;
  const channels = await database
    .selectFrom('publications')
    .select('channel')
    .where('event_id', '=', eventId)
    .orderBy('channel')
    .execute();
  const elements = await database
    .selectFrom('publication_elements')
    .select('object_key')
    .where('event_id', '=', eventId)
    .orderBy('kind')
    .execute();
  return {
    channels: channels.map(({ channel }) => channel),
    objects: elements.map(({ object_key }) => object_key),
  };
}

async function released(): Promise<string[]> {
  const staged = await bench.database
    .selectFrom('staging')
    .select('object_key')
    .where('owner', 'is', null)
    .execute();
  return staged.map(({ object_key }) => object_key);
}

test('a named channel is retracted alone, with its objects', async () => {
  const eventId = await insertEvent(bench.database);
  const kept = await publishOn(eventId, 'engage-player');
  const gone = await publishOn(eventId, 'api');
  await bench.perform(retract, eventId, { configuration: { channel: 'api' } });
  expect(await rows(eventId)).toEqual({ channels: ['engage-player'], objects: [kept, expect.any(String)] });
  expect(await released()).toContain(gone);
  expect(await released()).not.toContain(kept);
});

test('without a channel all publications go, the internal one as well; what is prepared and other events stay', async () => {
  const [eventId, otherId] = [await insertEvent(bench.database), await insertEvent(bench.database)];
  const other = await publishOn(otherId, 'engage-player');
  await publishOn(eventId, 'engage-player');
  await publishOn(eventId, 'internal');
  const published = (await rows(eventId)).objects;
  const prepared = await insertElement(bench.database, bench.storage, Buffer.from('new'), {
    event_id: eventId,
    kind: 'media',
  });
  await bench.perform(retract, eventId);
  expect(await rows(eventId)).toEqual({ channels: [], objects: [prepared.object_key] });
  expect(await released()).toEqual(expect.arrayContaining(published));
  expect((await rows(otherId)).objects).toContain(other);
});

test('retracting what is not published succeeds', async () => {
  const eventId = await insertEvent(bench.database);
  await bench.perform(retract, eventId);
  await bench.perform(retract, eventId, { configuration: { channel: 'absent' } });
  expect(await rows(eventId)).toEqual({ channels: [], objects: [] });
});
