import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { sha256 } from '#test/support/bytes.ts';
import { createOperationBench } from '#test/support/operation-context.ts';
import { insertElement, insertEvent } from '#test/support/publication.ts';
import { infrastructureError } from '../operation-failure.ts';
import type { Operation } from './operation.ts';
import { publish, republish, retract } from './publish.ts';

const bench = await createOperationBench();
const { database, storage } = bench;
afterAll(() => bench.close());

const POSTER = 'presenter/player+preview';
const THUMBNAIL = 'presenter/search+preview';
const prepare = (eventId: string, kind: 'media' | 'attachment', flavor = 'presenter/delivery') =>
  insertElement(database, storage, Buffer.from(`${kind} ${flavor} ${Math.random()}`), {
    ...{ event_id: eventId, kind, flavor },
  });
const onChannel = (channel: string) => ({ configuration: { channel } });
const internal = onChannel('internal');

/** The event's publications by channel, and their elements by kind. */
async function published(eventId: string) {
  const publications = database.selectFrom('publications').selectAll().where('event_id', '=', eventId);
  const elements = await bench.elementsOf(eventId);
  return {
    publications: await publications.orderBy('channel').execute(),
    elements: elements.filter(({ publication_id }) => publication_id !== null),
  };
}

const channels = async (eventId: string) => (await published(eventId)).publications.map(({ channel }) => channel);
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const keysOf = (rows: readonly { object_key: string }[]) => rows.map(({ object_key }) => object_key);
const rename = (eventId: string) =>
  database.updateTable('events').set({ title: 'After' }).where('id', '=', eventId).execute();
const textOf = async (key = '') => (await bench.bytesOf(key)).toString();
const stored = () => Array.fromAsync(storage.list(''), ({ key }) => key);

/** Which of the keys are released, to be removed. */
async function released(keys: readonly string[]): Promise<string[]> {
  const rows = database
    .selectFrom('staging')
    .select('object_key')
    .where('owner', 'is', null)
    .where('expires_at', '<=', sql<Date>`now()`);
  const all = new Set(keysOf(await rows.execute()));
  return keys.filter((key) => all.has(key));
}

describe('publish', () => {
  /** An event with prepared media, poster and thumbnail, or some of them. */
  async function prepared({ title = 'Before', thumbnail = false, poster = true } = {}) {
    const eventId = await insertEvent(database, { title });
    const media = await prepare(eventId, 'media');
    const images = [];
    if (poster) images.push(await prepare(eventId, 'attachment', POSTER));
    if (thumbnail) images.push(await prepare(eventId, 'attachment', THUMBNAIL));
    return { eventId, media, images };
  }

  test('what was prepared becomes public with the event catalog, sizes and digests being those of the objects', async () => {
    const { eventId, media, images } = await prepared({ title: 'Rings & fields' });
    await bench.perform(publish, eventId);
    const { publications, elements } = await published(eventId);
    expect(publications).toMatchObject([{ channel: 'engage-player', mediatype: 'text/html' }]);
    const publication_id = publications[0]?.id;
    expect(elements).toMatchObject([
      { id: images[0]?.id, kind: 'attachment', flavor: POSTER, publication_id },
      { id: media.id, kind: 'media', flavor: 'presenter/delivery', publication_id },
      { kind: 'metadata', flavor: 'dublincore/episode', publication_id },
    ]);
    const xml = await textOf(elements[2]?.object_key);
    expect(xml).toContain('<dcterms:title>Rings &amp; fields</dcterms:title>');
    expect(elements[2]).toMatchObject({
      ...{ mediatype: 'text/xml', filename: 'dublincore.xml', size: Buffer.byteLength(xml) },
      sha256: sha256(Buffer.from(xml)),
    });
  });

  test.each([
    [90_500, ['end=2026-04-13T08:16:30Z;', '<dcterms:extent xsi:type="dcterms:ISO8601">PT90.5S<']],
    [null, []],
  ])('a duration of %s ms is in the event catalog as far as it is known', async (duration, parts) => {
    const eventId = await insertEvent(database, { duration });
    await prepare(eventId, 'media');
    await bench.perform(publish, eventId);
    const xml = await textOf((await published(eventId)).elements[1]?.object_key);
    expect(xml).toContain('start=2026-04-13T08:15:00Z;');
    expect(xml.match(/end=[^ ]+|<dcterms:extent[^<]*</g) ?? []).toEqual(parts);
  });

  test('an early publication gains what its workflow makes later, and stays complete in the next one', async () => {
    const eventId = await insertEvent(database);
    const early = { configuration: { early: 'true' }, workflowId: 7 };
    const rendition = (filename: string, workflow_id: number) =>
      insertElement(database, storage, Buffer.from(`${filename} ${workflow_id}`), {
        ...{ event_id: eventId, kind: 'media', filename, workflow_id },
      });
    const filenames = async () => (await published(eventId)).elements.map(({ filename }) => filename).sort();
    const copy = await rendition('presenter.mp4', 7);
    await bench.perform(publish, eventId, early);
    const [first] = (await published(eventId)).publications;
    expect(await filenames()).toEqual(['dublincore.xml', 'presenter.mp4']);
    await rendition('presenter-360p.mp4', 7);
    // The second time, nothing new has been prepared.
    for (const _ of [1, 2]) await bench.perform(publish, eventId, early);
    expect(await filenames()).toEqual(['dublincore.xml', 'presenter-360p.mp4', 'presenter.mp4']);
    await rendition('presentation.mp4', 7);
    await bench.perform(publish, eventId);
    const { publications, elements } = await published(eventId);
    expect(publications.map(({ id }) => id)).toEqual([first?.id]);
    expect(await filenames()).toEqual(['dublincore.xml', 'presentation.mp4', 'presenter-360p.mp4', 'presenter.mp4']);
    expect(ids(elements)).toContain(copy.id);

    await rendition('presenter.mp4', 8);
    await bench.perform(publish, eventId, { ...early, workflowId: 8 });
    expect(await filenames()).toContain('presenter-360p.mp4');
    await bench.perform(publish, eventId);
    expect(await filenames()).toEqual(['dublincore.xml', 'presenter.mp4']);
    const log = database.selectFrom('changes').select('data').where('event_id', '=', eventId);
    const changes = await log.where('kind', '=', 'publication.published').orderBy('id').execute();
    expect(changes.map(({ data }) => data)).toMatchObject([
      { partial: true },
      { partial: true },
      { completed: true },
      { channel: 'engage-player' },
    ]);
    expect(changes[3]?.data).not.toHaveProperty('completed');
  });

  test('an early publication leaves out what an earlier workflow has prepared and not published', async () => {
    const { eventId, images } = await prepared();
    const own = { event_id: eventId, kind: 'media', flavor: 'presentation/delivery', workflow_id: 7 } as const;
    const media = await insertElement(database, storage, Buffer.from('own'), own);
    await bench.perform(publish, eventId, { configuration: { early: 'true' }, workflowId: 7 });
    expect(ids((await published(eventId)).elements)).toEqual([media.id, expect.any(String)]);
    expect(ids(await bench.elementsOf(eventId))).toContain(images[0]?.id);
  });

  test('an event that is internal is not published early', async () => {
    const { eventId } = await prepared();
    await bench.perform(publish, eventId, internal);
    const before = await published(eventId);
    const own = { event_id: eventId, kind: 'media', workflow_id: 7 } as const;
    await insertElement(database, storage, Buffer.from('own'), own);
    await bench.perform(publish, eventId, { configuration: { early: 'true' }, workflowId: 7 });
    expect(await published(eventId)).toEqual(before);
  });

  test.each([publish, republish])(
    '$name is tried again if the event changes while its catalog is stored',
    async (operation) => {
      const { eventId } = await prepared();
      await bench.perform(publish, eventId);
      const before = await published(eventId);
      const slow: Operation = {
        ...operation,
        run: async (context) => {
          const commit = await operation.run(context);
          const changed = database.updateTable('events').set({ title: 'After', archive_version: 1 });
          await changed.where('id', '=', eventId).execute();
          return commit;
        },
      };
      const error = await bench.perform(slow, eventId).catch((error) => error);
      expect(infrastructureError(error)).toBe('The event changed while its catalog was being stored.');
      expect(await published(eventId)).toEqual(before);
    },
  );

  test('an event without media gets no publication, and nothing is stored', async () => {
    const eventId = await insertEvent(database);
    await prepare(eventId, 'attachment', POSTER);
    const before = await stored();
    await bench.perform(publish, eventId);
    expect(await published(eventId)).toEqual({ publications: [], elements: [] });
    expect(await stored()).toEqual(before);
  });

  describe.each([
    ['public', undefined],
    ['internal, which becomes public', internal],
  ])('of what is %s', (_, first) => {
    test('newly prepared media replace everything, under the same address if that was public', async () => {
      const { eventId } = await prepared();
      await bench.perform(publish, eventId, first);
      const before = await published(eventId);
      const media = await prepare(eventId, 'media', 'presentation/delivery');
      await bench.perform(publish, eventId);
      const { publications, elements } = await published(eventId);
      expect(publications).toMatchObject([{ channel: 'engage-player' }]);
      expect(publications[0]?.id === before.publications[0]?.id).toBe(!first);
      expect(ids(elements)).toEqual([media.id, expect.any(String)]);
      const replaced = keysOf(before.elements);
      expect(await released([...replaced, media.object_key])).toEqual(replaced);
    });

    test('the media stay with nothing newly prepared, and the catalog is renewed', async () => {
      const { eventId, media, images } = await prepared();
      await bench.perform(publish, eventId, first);
      const [, , old] = (await published(eventId)).elements;
      await rename(eventId);
      await bench.perform(publish, eventId);
      const { publications, elements } = await published(eventId);
      expect(publications).toMatchObject([{ channel: 'engage-player' }]);
      expect(elements.map(({ id, publication_id }) => [id, publication_id])).toEqual(
        [images[0]?.id, media.id, expect.any(String)].map((id) => [id, publications[0]?.id]),
      );
      expect(await textOf(elements[2]?.object_key)).toContain('>After<');
      expect(await released([old?.object_key ?? '', media.object_key])).toEqual([old?.object_key]);
    });

    test('new images alone replace those of their flavor', async () => {
      const { eventId, media, images } = await prepared({ thumbnail: true });
      await bench.perform(publish, eventId, first);
      const newPoster = await prepare(eventId, 'attachment', POSTER);
      await bench.perform(publish, eventId);
      expect(await channels(eventId)).toEqual(['engage-player']);
      const [poster = '', thumbnail = ''] = keysOf(images);
      const left = ids((await published(eventId)).elements);
      expect(left).toEqual(expect.arrayContaining([media.id, images[1]?.id, newPoster.id]));
      expect(left).toHaveLength(4);
      expect(await released([poster, thumbnail])).toEqual([poster]);
    });
  });

  test('what is public stays so when something is prepared for the internal channel, and gives way when that is published', async () => {
    const { eventId, media: first } = await prepared({ poster: false });
    await bench.perform(publish, eventId);
    const [engage] = (await published(eventId)).publications;
    const second = await prepare(eventId, 'media');
    await bench.perform(publish, eventId, internal);
    const both = await published(eventId);
    const channel = 'internal';
    expect(both.publications).toMatchObject([{ channel: 'engage-player', id: engage?.id }, { channel }]);
    expect(both.elements.find(({ id }) => id === first.id)?.publication_id).toBe(engage?.id);
    await bench.perform(publish, eventId);
    const after = await published(eventId);
    expect(ids(after.publications)).toEqual([engage?.id]);
    expect(ids(after.elements)).toEqual([second.id, expect.any(String)]);
    expect(await released([first.object_key])).toEqual([first.object_key]);
  });

  test('an attempt that does not commit leaves everything as it was', async () => {
    const { eventId } = await prepared({ poster: false });
    await bench.perform(publish, eventId);
    const before = await published(eventId);
    const objects = await stored();
    await prepare(eventId, 'media');
    const lost: Operation = {
      ...publish,
      run: async (context) => {
        const commit = await publish.run(context);
        return async (trx) => {
          await commit(trx);
          throw new Error('The worker lost its claim.');
        };
      },
    };
    await expect(bench.perform(lost, eventId)).rejects.toThrow('lost its claim');
    expect(await published(eventId)).toEqual(before);
    expect(await stored()).toHaveLength(objects.length + 1);
    await bench.perform(publish, eventId);
    const after = await published(eventId);
    expect(after.publications).toHaveLength(1);
    expect(after.elements.map(({ kind }) => kind)).toEqual(['media', 'metadata']);
  });
});

describe('republish', () => {
  /** An event whose media are public on these channels. */
  async function publishedOn(...channels: string[]): Promise<string> {
    const eventId = await insertEvent(database, { title: 'Before' });
    for (const channel of channels) {
      await prepare(eventId, 'media');
      await bench.perform(publish, eventId, onChannel(channel));
    }
    return eventId;
  }

  /** Whether the catalogs of an event are those of its new title. */
  async function renewed(eventId: string): Promise<boolean[]> {
    const catalogs = (await bench.elementsOf(eventId)).filter(({ kind }) => kind === 'metadata');
    const texts = await Promise.all(catalogs.map(({ object_key }) => textOf(object_key)));
    return texts.map((text) => text.includes('>After<'));
  }

  test('every publication gets the catalog as it is now, at its address and with the media it had', async () => {
    const eventId = await publishedOn('engage-player', 'api');
    const before = await bench.elementsOf(eventId);
    await rename(eventId);
    await bench.perform(republish, eventId);
    expect(await renewed(eventId)).toEqual([true, true]);
    expect(await channels(eventId)).toEqual(['api', 'engage-player']);
    const after = await bench.elementsOf(eventId);
    const owners = (elements: typeof before) => elements.map((each) => each.publication_id).toSorted();
    expect(owners(after)).toEqual(owners(before));
    const ofKind = (elements: typeof before, wanted: string) => elements.filter(({ kind }) => kind === wanted);
    expect(ofKind(after, 'media')).toEqual(ofKind(before, 'media'));
    const catalogs = keysOf(ofKind(before, 'metadata'));
    expect(await released(catalogs)).toEqual(catalogs);
  });

  test('what is internal stays internal', async () => {
    const eventId = await publishedOn('internal');
    await rename(eventId);
    await bench.perform(republish, eventId);
    expect(await channels(eventId)).toEqual(['internal']);
    expect(await renewed(eventId)).toEqual([true]);
    const changes = database.selectFrom('changes').select('data').where('event_id', '=', eventId);
    expect(await changes.execute()).toMatchObject([
      { data: { channel: 'internal' } },
      { data: { channel: 'internal', renewed: true } },
    ]);
  });

  test('what is only prepared stays so', async () => {
    const eventId = await publishedOn('engage-player');
    const prepared = await prepare(eventId, 'media');
    const unpublished = await insertEvent(database);
    await prepare(unpublished, 'media');
    for (const id of [eventId, unpublished]) {
      await rename(id);
      await bench.perform(republish, id);
    }
    const elements = await bench.elementsOf(eventId);
    expect(elements.find(({ id }) => id === prepared.id)?.publication_id).toBeNull();
    expect(await renewed(eventId)).toEqual([true]);
    expect(await channels(unpublished)).toEqual([]);
    expect((await bench.elementsOf(unpublished)).map(({ kind }) => kind)).toEqual(['media']);
  });

  test('a publication that is retracted meanwhile stays so, and the catalog made for it goes', async () => {
    const eventId = await publishedOn('engage-player');
    const late: Operation = {
      ...republish,
      run: async (context) => {
        const commit = await republish.run(context);
        await database.deleteFrom('publication_elements').where('event_id', '=', eventId).execute();
        await database.deleteFrom('publications').where('event_id', '=', eventId).execute();
        return commit;
      },
    };
    await bench.perform(late, eventId);
    expect(await published(eventId)).toEqual({ publications: [], elements: [] });
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });
});

describe('retract', () => {
  async function publishOn(eventId: string, channel: string): Promise<string> {
    const media = await prepare(eventId, 'media');
    await bench.perform(publish, eventId, onChannel(channel));
    return media.object_key;
  }
  const objects = async (eventId: string) => keysOf(await bench.elementsOf(eventId));

  test('a named channel is retracted alone, with its objects', async () => {
    const eventId = await insertEvent(database);
    const kept = await publishOn(eventId, 'engage-player');
    const gone = await publishOn(eventId, 'api');
    await bench.perform(retract, eventId, onChannel('api'));
    expect(await channels(eventId)).toEqual(['engage-player']);
    expect(await objects(eventId)).toEqual([kept, expect.any(String)]);
    expect(await released([gone, kept])).toEqual([gone]);
  });

  test('without a channel all publications go, the internal one as well; what is prepared and other events stay', async () => {
    const [eventId, otherId] = [await insertEvent(database), await insertEvent(database)];
    const other = await publishOn(otherId, 'engage-player');
    await publishOn(eventId, 'engage-player');
    await publishOn(eventId, 'internal');
    const before = await objects(eventId);
    const prepared = await prepare(eventId, 'media');
    await bench.perform(retract, eventId);
    expect(await channels(eventId)).toEqual([]);
    expect(await objects(eventId)).toEqual([prepared.object_key]);
    expect(await released(before)).toEqual(before);
    expect(await objects(otherId)).toContain(other);
  });

  test('retracting what is not published succeeds', async () => {
    const eventId = await insertEvent(database);
    await bench.perform(retract, eventId);
    await bench.perform(retract, eventId, onChannel('absent'));
    expect(await published(eventId)).toEqual({ publications: [], elements: [] });
  });
});
