import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { insertElement, insertEvent } from '../../test/support/publication.ts';
import { publish } from './publish.ts';

let bench: OperationBench;

beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

async function prepare(eventId: string, kind: 'media' | 'attachment', flavor = 'presenter/delivery') {
  const { database, storage } = bench;
  return insertElement(database, storage, Buffer.from(`${kind} ${flavor} ${Math.random()}`), {
    event_id: eventId,
    kind,
    flavor,
  });
}

async function published(eventId: string) {
  const publications = await bench.database
    .selectFrom('publications')
    .selectAll()
    .where('event_id', '=', eventId)
    .orderBy('channel')
    .execute();
  const elements = await bench.database
    .selectFrom('publication_elements')
    .selectAll()
    .where('event_id', '=', eventId)
    .where('publication_id', 'is not', null)
    .orderBy('kind')
    .execute();
  return { publications, elements };
}

async function releasedKeys(): Promise<string[]> {
  const rows = await bench.database
    .selectFrom('staging')
    .select('object_key')
    .where('owner', 'is', null)
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  return rows.map(({ object_key }) => object_key).sort();
}

async function textOf(key: string): Promise<string> {
  return new Response(await bench.storage.get(key)).text();
}

test('what was prepared becomes public with the event catalog, sizes and digests being those of the objects', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Rings & fields' });
  const media = await prepare(eventId, 'media');
  const poster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId);

  const { publications, elements } = await published(eventId);
  expect(publications).toMatchObject([{ channel: 'engage-player', mediatype: 'text/html' }]);
  expect(elements.map(({ id, kind, flavor, publication_id }) => [id, kind, flavor, publication_id])).toEqual([
    [poster.id, 'attachment', 'presenter/player+preview', publications[0]?.id],
    [media.id, 'media', 'presenter/delivery', publications[0]?.id],
    [expect.any(String), 'metadata', 'dublincore/episode', publications[0]?.id],
  ]);
  const catalog = elements[2];
  const xml = await textOf(catalog?.object_key ?? '');
  expect(xml).toContain('<dcterms:title>Rings &amp; fields</dcterms:title>');
  expect(catalog).toMatchObject({
    mediatype: 'text/xml',
    filename: 'dublincore.xml',
    size: Buffer.byteLength(xml),
    sha256: createHash('sha256').update(xml).digest('hex'),
  });
});

test.each([
  [90_500, ['end=2026-04-13T08:16:30Z;', '<dcterms:extent xsi:type="dcterms:ISO8601">PT90.5S<']],
  [null, []],
])('a duration of %s ms is in the event catalog as far as it is known', async (duration, parts) => {
  const eventId = await insertEvent(bench.database, { duration });
  await prepare(eventId, 'media');
  await bench.perform(publish, eventId);
  const { elements } = await published(eventId);
  const xml = await textOf(elements.find(({ kind }) => kind === 'metadata')?.object_key ?? '');
  expect(xml).toContain('start=2026-04-13T08:15:00Z;');
  expect(xml.match(/end=[^ ]+|<dcterms:extent[^<]*</g) ?? []).toEqual(parts);
});

test('another channel can be named', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId, 'media');
  await bench.perform(publish, eventId, { configuration: { channel: 'api' } });
  expect((await published(eventId)).publications).toMatchObject([{ channel: 'api' }]);
});

test('an event without media gets no publication, and nothing is stored', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId, 'attachment', 'presenter/player+preview');
  const before = await stored();
  await bench.perform(publish, eventId);
  expect(await published(eventId)).toEqual({ publications: [], elements: [] });
  expect(await stored()).toEqual(before);
});

test('newly prepared media replace everything, under the same address', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId, 'media');
  await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId);
  const first = await published(eventId);

  const media = await prepare(eventId, 'media', 'presentation/delivery');
  await bench.perform(publish, eventId);
  const second = await published(eventId);
  expect(second.publications.map(({ id }) => id)).toEqual(first.publications.map(({ id }) => id));
  expect(second.elements.map(({ kind }) => kind)).toEqual(['media', 'metadata']);
  expect(second.elements[0]?.id).toBe(media.id);
  expect(await releasedKeys()).toEqual(
    expect.arrayContaining(first.elements.map(({ object_key }) => object_key)),
  );
  expect(await releasedKeys()).not.toContain(media.object_key);
});

test('with nothing newly prepared the media stay and the catalog is renewed', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Before' });
  const media = await prepare(eventId, 'media');
  const poster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId);
  const [, , old] = (await published(eventId)).elements;
  await bench.database.updateTable('events').set({ title: 'After' }).where('id', '=', eventId).execute();

  await bench.perform(publish, eventId);
  const { publications, elements } = await published(eventId);
  expect(publications).toHaveLength(1);
  expect(elements.map(({ id }) => id)).toEqual([poster.id, media.id, expect.any(String)]);
  expect(await textOf(elements[2]?.object_key ?? '')).toContain('>After<');
  expect(await releasedKeys()).toContain(old?.object_key);
  expect(await releasedKeys()).not.toContain(media.object_key);
});

test('new images alone replace those of their flavor', async () => {
  const eventId = await insertEvent(bench.database);
  const media = await prepare(eventId, 'media');
  const poster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  const thumbnail = await prepare(eventId, 'attachment', 'presenter/search+preview');
  await bench.perform(publish, eventId);

  const newPoster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId);
  const ids = (await published(eventId)).elements.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([media.id, thumbnail.id, newPoster.id]));
  expect(ids).toHaveLength(4);
  expect(await releasedKeys()).toContain(poster.object_key);
});

const internal = { configuration: { channel: 'internal' } };

test('what is internal becomes public with nothing newly prepared, and is internal no more', async () => {
  const eventId = await insertEvent(bench.database, { title: 'Before' });
  const media = await prepare(eventId, 'media');
  const poster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId, internal);
  const [, , old] = (await published(eventId)).elements;
  await bench.database.updateTable('events').set({ title: 'After' }).where('id', '=', eventId).execute();

  await bench.perform(publish, eventId);
  const { publications, elements } = await published(eventId);
  expect(publications).toMatchObject([{ channel: 'engage-player' }]);
  expect(elements.map(({ id, publication_id }) => [id, publication_id])).toEqual(
    [poster.id, media.id, expect.any(String)].map((id) => [id, publications[0]?.id]),
  );
  expect(await textOf(elements[2]?.object_key ?? '')).toContain('>After<');
  expect(await releasedKeys()).toContain(old?.object_key);
  expect(await releasedKeys()).not.toContain(media.object_key);
});

test('newly prepared media are published in place of what is internal, which is removed with its objects', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId, 'media');
  await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId, internal);
  const before = await published(eventId);

  const media = await prepare(eventId, 'media');
  await bench.perform(publish, eventId);
  const { publications, elements } = await published(eventId);
  expect(publications).toMatchObject([{ channel: 'engage-player' }]);
  expect(elements.map(({ id }) => id)).toEqual([media.id, expect.any(String)]);
  expect(await releasedKeys()).toEqual(
    expect.arrayContaining(before.elements.map(({ object_key }) => object_key)),
  );
  expect(await releasedKeys()).not.toContain(media.object_key);
});

test('of what is internal, images made anew replace their like, and all is published', async () => {
  const eventId = await insertEvent(bench.database);
  const media = await prepare(eventId, 'media');
  const poster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  const thumbnail = await prepare(eventId, 'attachment', 'presenter/search+preview');
  await bench.perform(publish, eventId, internal);

  const newPoster = await prepare(eventId, 'attachment', 'presenter/player+preview');
  await bench.perform(publish, eventId);
  const { publications, elements } = await published(eventId);
  expect(publications).toMatchObject([{ channel: 'engage-player' }]);
  const ids = elements.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([media.id, thumbnail.id, newPoster.id]));
  expect(ids).toHaveLength(4);
  expect(await releasedKeys()).toContain(poster.object_key);
});

test('what is public stays so when something is prepared for the internal channel, and gives way when that is published', async () => {
  const eventId = await insertEvent(bench.database);
  const first = await prepare(eventId, 'media');
  await bench.perform(publish, eventId);
  const [engage] = (await published(eventId)).publications;
  const second = await prepare(eventId, 'media');
  await bench.perform(publish, eventId, internal);
  const both = await published(eventId);
  expect(both.publications.map(({ id, channel }) => [channel, id])).toEqual([
    ['engage-player', engage?.id],
    ['internal', expect.any(String)],
  ]);
  expect(both.elements.find(({ id }) => id === first.id)?.publication_id).toBe(engage?.id);

  await bench.perform(publish, eventId);
  const after = await published(eventId);
  expect(after.publications.map(({ id }) => id)).toEqual([engage?.id]);
  expect(after.elements.map(({ id }) => id)).toEqual([second.id, expect.any(String)]);
  expect(await releasedKeys()).toContain(first.object_key);
});

test('an attempt that does not commit leaves everything as it was', async () => {
  const eventId = await insertEvent(bench.database);
  await prepare(eventId, 'media');
  await bench.perform(publish, eventId);
  const before = await published(eventId);
  const objects = await stored();
  await prepare(eventId, 'media');

  const lost = {
    ...publish,
    run: async (context: Parameters<typeof publish.run>[0]) => {
      const commit = await publish.run(context);
      return async (trx: Parameters<typeof commit>[0]) => {
        await commit(trx);
        throw new Error('The worker lost its claim.');
      };
    },
  };
  await expect(bench.perform(lost, eventId)).rejects.toThrow('lost its claim');
  expect(await published(eventId)).toEqual(before);
  expect((await stored()).length).toBe(objects.length + 1);

  await bench.perform(publish, eventId);
  const after = await published(eventId);
  expect(after.publications).toHaveLength(1);
  expect(after.elements.map(({ kind }) => kind)).toEqual(['media', 'metadata']);
});

async function stored(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bench.storage.list('')) keys.push(key);
  return keys.sort();
}
