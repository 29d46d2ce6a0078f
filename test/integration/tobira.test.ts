import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { API_ROLES } from '#access/roles/api-roles.ts';
import { numberChanges } from '#changes/read-changes.ts';
import { retractPublications } from '#publications/publish.ts';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { type HarvestedItem, Harvester } from '../support/harvester.ts';
import { insertPublished, publishEvent, touchEvent } from '../support/portal-scene.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, createPlaylist, createSeries, send } from '../support/series.ts';

const app = await ownApp();
const { database } = app;
const open = (amount?: number) => new Harvester((path) => app.request(path), amount);
const facts = (items: readonly HarvestedItem[]) => items.map(({ kind, id }) => [kind, id]);
const harvest = (query: string, headers = {}) => send(app, 'GET', `/tobira/harvest${query}`, undefined, headers);

describe('GET /tobira/harvest', () => {
  let portal: Harvester;
  beforeEach(async () => {
    portal = open();
    await portal.catchUp();
  });
  /** What comes next. */
  const next = async () => facts(await portal.catchUp());
  const put = async (path: string, fields: Record<string, string>) => {
    const answer = await send(app, 'PUT', path, fields);
    expect(answer.status, answer.text).toBeLessThan(300);
  };

  test('has published events with everything that a portal shows of them', async () => {
    const start = new Date('2026-04-13T08:15:00Z');
    const values = {
      ...{ title: 'Lecture', description: 'On numbers', presenters: ['Ada L.', 'Charles B.'], language: 'eng' },
      ...{ start_date: start, created: start, duration: 90_000, series_id: 'course', license: 'CC-BY' },
    };
    const id = await insertPublished(database, values, [
      { width: 1280, height: 720, duration: 60_000 },
      { filename: 'a.m3u8', mediatype: 'application/x-mpegURL' },
      { kind: 'attachment', flavor: 'presenter/player+preview', filename: 'p.jpg', mediatype: 'image/jpeg' },
      { kind: 'attachment', flavor: 'captions/delivery', filename: 'c.vtt', mediatype: 'text/vtt', tags: ['lang:de'] },
      { kind: 'attachment', flavor: 'captions/vtt+en', filename: 'e.vtt', mediatype: 'text/vtt' },
    ]);
    await giveAcl(app, id, [
      ace('ROLE_A'),
      ace('ROLE_B', 'write'),
      ace('ROLE_C', 'annotate'),
      ace('ROLE_D', 'read', false),
    ]);
    const uri = (name: string) => expect.stringMatching(`^http://inlet.test/publications/[^/]+/[^/]+/${name}$`);
    const track = { uri: uri('a.mp4'), flavor: 'presenter/delivery', mimetype: 'video/mp4', isMaster: null };
    expect(await portal.catchUp()).toEqual([
      {
        ...{ kind: 'event', id, title: 'Lecture', description: 'On numbers', partOf: 'course', isLive: false },
        ...{ creators: ['Ada L.', 'Charles B.'], created: +start, startTime: +start, endTime: +start + 90_000 },
        ...{ duration: 60_000, updated: expect.any(Number), slideText: null, segments: [], thumbnail: uri('p.jpg') },
        acl: { read: ['ROLE_A'], write: ['ROLE_B'], annotate: ['ROLE_C'] },
        captions: [
          { uri: uri('c.vtt'), lang: 'de' },
          { uri: uri('e.vtt'), lang: 'en' },
        ],
        metadata: {
          dcterms: {
            language: ['eng'],
            license: ['CC-BY'],
            temporal: ['start=2026-04-13T08:15:00Z; end=2026-04-13T08:16:30Z; scheme=W3C-DTF;'],
          },
        },
        tracks: [
          { ...track, resolution: [1280, 720] },
          { ...track, uri: uri('a.m3u8'), mimetype: 'application/x-mpegURL', resolution: null, isMaster: true },
        ],
      },
    ]);
  });

  test('has series and playlists, whatever their events are', async () => {
    const acl = [ace('ROLE_A'), ace('ROLE_B', 'write')];
    const series = await createSeries(app, { description: 'All of it', subjects: ['Maths'], creator: ['Ada'] }, acl);
    const entries = [{ contentId: 'unknown', type: 'EVENT' }];
    const playlist = await createPlaylist(app, { creator: 'Ada', entries, accessControlEntries: acl });
    const shown = { acl: { read: ['ROLE_A'], write: ['ROLE_B'] }, updated: expect.any(Number) };
    expect(await portal.catchUp()).toEqual([
      {
        ...{ ...shown, kind: 'series', id: series, title: 'Mathematics', description: 'All of it' },
        ...{ created: expect.any(Number), metadata: { dcterms: { subject: ['Maths'], creator: ['Ada'] } } },
      },
      {
        ...{ ...shown, kind: 'playlist', id: playlist, title: 'Exercises', description: '', creator: 'Ada' },
        entries: [{ id: expect.any(Number), type: 'E', contentId: 'unknown' }],
      },
    ]);
  });

  test('has what changes, each time, and what was retracted or deleted as deleted', async () => {
    const event = await insertPublished(database);
    const series = await createSeries(app);
    const playlist = await createPlaylist(app);
    expect(await next()).toEqual([
      ['event', event],
      ['series', series],
      ['playlist', playlist],
    ]);
    expect(await next()).toEqual([]);
    const title = '[{"id":"title","value":"Other"}]';
    await put(`/api/events/${event}/metadata?type=dublincore/episode`, { metadata: title });
    expect(portal.items.get(`event ${event}`)).toMatchObject({ title: 'Lecture' });
    expect(await next()).toEqual([['event', event]]);
    expect(portal.items.get(`event ${event}`)).toMatchObject({ title: 'Other' });
    await put(`/api/series/${series}`, { metadata: catalogOf({ title: 'Other' }) });
    await put(`/api/playlists/${playlist}`, { playlist: '{"title":"Other"}' });
    expect(await next()).toEqual([
      ['series', series],
      ['playlist', playlist],
    ]);
    await database.transaction().execute((trx) => retractPublications(trx, { eventId: event, channel: undefined }));
    expect(await next()).toEqual([['event-deleted', event]]);
    await database.transaction().execute((trx) => publishEvent(trx, event));
    expect(await next()).toEqual([['event', event]]);
    for (const path of [`events/${event}`, `series/${series}`, `playlists/${playlist}`]) {
      await send(app, 'DELETE', `/api/${path}`);
    }
    expect(await next()).toEqual([
      ['event-deleted', event],
      ['series-deleted', series],
      ['playlist-deleted', playlist],
    ]);
  });

  test('has no event that is not published for the public, and the change of one that was not', async () => {
    const event = await insertEvent(database);
    await database.transaction().execute((trx) => touchEvent(trx, event));
    expect(await next()).toEqual([]);
    await database.transaction().execute((trx) => publishEvent(trx, event, [{}], 'internal'));
    expect(await next()).toEqual([['event-deleted', event]]);
  });

  test('has the events of a series whose access control list they use when it changes, comes or goes', async () => {
    const series = await createSeries(app, {}, [ace('ROLE_A')]);
    const [following, own] = [
      await insertPublished(database, { series_id: series }),
      await insertPublished(database, { series_id: series }),
    ];
    await giveAcl(app, own, [ace('ROLE_OWN')]);
    await portal.catchUp();
    const readers = () => (portal.items.get(`event ${following}`) as { acl?: object } | undefined)?.acl;
    expect(readers()).toEqual({ read: ['ROLE_A'], write: [] });
    const changed = [
      ['series', series],
      ['event', following],
    ];
    await put(`/api/series/${series}/acl`, { acl: JSON.stringify([ace('ROLE_X', 'annotate')]) });
    expect(await next()).toEqual(changed);
    expect(readers()).toEqual({ read: [], write: [], annotate: ['ROLE_X'] });
    await put(`/api/series/${series}`, { metadata: catalogOf({ title: 'Other' }) });
    expect(await next()).toEqual([['series', series]]);
    await send(app, 'DELETE', `/api/series/${series}`);
    expect(await next()).toEqual([
      ['series-deleted', series],
      ['event', following],
    ]);
    expect(readers()).toEqual({ read: [], write: [] });
    await createSeries(app, { identifier: series }, [ace('ROLE_B')]);
    expect(await next()).toEqual(changed);
    expect(readers()).toEqual({ read: ['ROLE_B'], write: [] });
  });

  test('does not skip what was written earlier and is committed later', async () => {
    const [slow, fast] = [await insertPublished(database), await insertPublished(database)];
    await portal.catchUp();
    const [written, wanted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = database.transaction().execute(async (trx) => {
      await touchEvent(trx, slow);
      written.resolve();
      await wanted.promise;
    });
    await written.promise;
    await database.transaction().execute((trx) => touchEvent(trx, fast));
    expect(await next()).toEqual([['event', fast]]);
    expect(await next()).toEqual([]);
    wanted.resolve();
    await late;
    expect(await next()).toEqual([['event', slow]]);
  });

  test('does not skip what comes after the clock went back', async () => {
    await database
      .updateTable('changes_counter')
      .set((eb) => ({ time: eb('time', '+', 3_600_000) }))
      .execute();
    await portal.catchUp();
    expect(portal.since).toBeGreaterThan(Date.now() + 3_500_000);
    const event = await insertPublished(database);
    expect(await next()).toEqual([['event', event]]);
  });

  test('does not skip what a process of an earlier version numbered', async () => {
    const event = await insertPublished(database);
    const { timed } = await database.selectFrom('changes_counter').select('timed').executeTakeFirstOrThrow();
    await numberChanges(database);
    await database.updateTable('changes_counter').set({ timed }).execute();
    await sql`DELETE FROM resource_times WHERE id = ${event}`.execute(database);
    expect(await next()).toEqual([['event', event]]);
  });

  test('needs no log: what its retention removes still comes', async () => {
    const kept = await insertPublished(database);
    const deleted = await insertPublished(database);
    await send(app, 'DELETE', `/api/events/${deleted}`);
    await numberChanges(database);
    await sql`DELETE FROM changes`.execute(database);
    expect((await next()).toSorted()).toEqual([
      ['event', kept],
      ['event-deleted', deleted],
    ]);
  });

  test('begins again after a restore, with what it may have read since the backup', async () => {
    const event = await insertPublished(database);
    await portal.catchUp();
    await sql`SELECT renew_resource_times()`.execute(database);
    expect(await next()).toContainEqual(['event', event]);
    expect(await next()).toEqual([]);
  });

  test('comes in pages, each with all that shares its last time, until there is no more', async () => {
    const ids = Array.from({ length: 250 }, (_, n) => `paged-${n}`);
    await database
      .insertInto('series')
      .values(ids.map((id) => ({ id, title: id })))
      .execute();
    await sql`INSERT INTO changes (kind, series_id) SELECT 'series.created', unnest(${ids}::text[])`.execute(database);
    const small = open(7);
    small.since = portal.since;
    const pages: number[] = [];
    for (;;) {
      const { items, hasMore } = await small.step();
      pages.push(items.length);
      if (!hasMore) break;
    }
    expect(pages).toEqual([100, 100, 50]);
    expect(await next()).toEqual(ids.map((id) => ['series', id]));
    const first = open(7);
    await first.catchUp();
    expect([...first.items.keys()].toSorted()).toEqual(await all());
  });
});

/** What a portal that begins now gets. */
async function all(): Promise<string[]> {
  const portal = open();
  await portal.catchUp();
  return [...portal.items.keys()].toSorted();
}

test.each([
  '',
  '?since=0',
  '?preferredAmount=1',
  '?since=-1&preferredAmount=1',
  '?since=x&preferredAmount=1',
  '?since=0&preferredAmount=0',
  '?since=9007199254740993&preferredAmount=1',
])('GET /tobira/harvest%s is refused', async (query) => {
  const sentence = /^The parameter '(since|preferredAmount)' must be a whole number from [01] to 9007199254740991\.$/;
  expect(await harvest(query)).toMatchObject({ status: 400, text: expect.stringMatching(sentence) });
});

test('a time in the future has nothing, and leads back to the present', async () => {
  const answer = await harvest('?since=9007199254740991&preferredAmount=1000000000');
  const { includesItemsUntil, ...rest } = JSON.parse(answer.text);
  expect(rest).toEqual({ hasMore: false, items: [] });
  expect(includesItemsUntil).toBeLessThan(Date.now() + 7_200_000);
});

test('the portal asks for a version, and sends statistics that nobody keeps', async () => {
  const version = await send(app, 'GET', '/tobira/version');
  expect(version).toMatchObject({ status: 200, type: 'application/json', text: '{"version":"1.6"}' });
  const sent = await app.request('/tobira/stats', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"num_realms":7}',
  });
  expect(sent.status).toBe(204);
});

test('only administrators harvest', async () => {
  const Authorization = await app.account('tobira', ...API_ROLES);
  const asked = [
    ['GET', 'version'],
    ['GET', 'harvest?since=0&preferredAmount=1'],
    ['POST', 'stats'],
  ] as const;
  for (const [method, path] of asked) {
    expect(await send(app, method, `/tobira/${path}`, undefined, { Authorization })).toMatchObject({ status: 403 });
    expect((await app.anonymous(`/tobira/${path}`, { method })).status).toBe(401);
  }
});
