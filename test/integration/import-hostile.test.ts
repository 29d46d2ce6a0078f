import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCommand } from '#cli/inlet/import.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type HostileSource, hostileSource } from '../support/hostile-source.ts';
import { openUpkeep, type Said, Upkeep } from '../support/upkeep.ts';

const PASSWORD = 'not-to-be-shown';
const ENV = { INLET_PASSWORD: PASSWORD, ADMIN_PASSWORD: 'opencast', PUBLIC_URL: 'http://inlet.test' };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp(undefined, ENV);
});
afterAll(() => app?.close());
/** The application of all tests: each imports from a source of its own. */
const open = async () => new Upkeep(app, ENV);

function importFrom(up: Upkeep, { url }: HostileSource, ...options: string[]): Promise<Said> {
  return up.run(importCommand, url, '--user', 'admin', '--rate', '200', ...options);
}

let second = 0;
/** An event of the source, later than those before it. */
function eventOf(fields: Record<string, unknown> = {}) {
  second += 1;
  const start = new Date(Date.UTC(2020, 0, 1) + second * 1000).toISOString().replace('.000', '');
  const status = { status: 'EVENTS.EVENTS.STATUS.PROCESSED', processing_state: 'SUCCEEDED' };
  return { ...{ identifier: randomUUID(), title: 'Lecture', start, created: start }, ...status, ...fields };
}

const mediaOf = (url: string, fields: Record<string, unknown> = {}) => ({
  ...{ id: randomUUID(), mediatype: 'video/mp4', url, flavor: 'presenter/delivery', tags: [], size: -1, checksum: '' },
  ...fields,
});

const publicationOf = (media: object[], fields: Record<string, unknown> = {}) => ({
  ...{ id: randomUUID(), channel: 'engage-player', mediatype: 'text/html', url: '' },
  ...{ media, attachments: [], metadata: [], ...fields },
});

const CONTROL = String.fromCharCode(27);
const MANY = 10 * 2 ** 20;
/** An object that cannot be converted to a text. */
const NO_TEXT = { toString: null, valueOf: null };
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('an import from a hostile source', () => {
  test.each<[string, Record<string, unknown> | string]>([
    ['an identifier with a slash', { identifier: '../a/b' }],
    ['an identifier with a NUL', { identifier: 'a\0b' }],
    ['an identifier with half a character', { identifier: 'a\ud800' }],
    ['no identifier', { identifier: '' }],
    ['an identifier of 10 MB', { identifier: 'a'.repeat(MANY) }],
    ['a creator with a NUL', { creator: 'a\0b' }],
    [
      'an access control list of 3,000 entries',
      { acl: Array.from({ length: 3000 }, (_, i) => ({ allow: true, action: 'read', role: `ROLE_${i}` })) },
    ],
    ['an action with a NUL', { acl: [{ allow: true, action: 'a\0', role: 'ROLE_A' }] }],
    ['a channel with a NUL', { publications: [publicationOf([mediaOf('/files/a.mp4')], { channel: 'a\0' })] }],
    ['a width beyond all bounds', { publications: [publicationOf([mediaOf('/files/a.mp4', { width: 1e300 })])] }],
    ['a tag with a NUL', { publications: [publicationOf([mediaOf('/files/a.mp4', { tags: ['a\0'] })])] }],
    [
      'metadata that are nested deeply',
      `{"identifier":"deep","start":"2020-01-01T00:00:00Z","metadata":${nested(200_000)}}`,
    ],
    ['no object', '"event"'],
  ])('fails %s and copies everything else', async (_, bad) => {
    const [up, source] = [await open(), await hostileSource()];
    source.files.set('/files/a.mp4', Buffer.from('video'));
    const [first, other, last] = [eventOf(), typeof bad === 'string' ? bad : eventOf(bad), eventOf()];
    source.events = typeof bad === 'string' ? [other, first, last] : [first, other, last];
    const done = await importFrom(up, source);
    expect(done).toMatchObject({ code: 1 });
    expect(done.lines.at(-2)).toBe('Events: 2 copied, 1 failed, 0 skipped, 0 pending');
    expect(await up.ledger()).toEqual([]);
    expect(await up.keys()).toEqual([]);
    for (const { identifier } of [first, last]) expect(await up.read(identifier)).toMatchObject({ title: 'Lecture' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['a title of 10 MB', { title: 'a'.repeat(MANY) }],
    ['a title with control characters', { title: `a\0${CONTROL}[2J` }],
    ['the year 0', { start: '0000-01-01T00:00:00Z', created: '0000-01-01T00:00:00Z' }],
    ['the year 1', { start: '0001-01-01T00:00:00Z', created: '0001-01-01T00:00:00Z' }],
    ['the year 99999', { start: '99999-01-01T00:00:00Z', created: '+099999-01-01T00:00:00Z' }],
    ['the last day that there is', { start: '+275760-09-13T00:00:00Z' }],
    ['no start', { start: undefined, created: undefined }],
    [
      'odd files',
      {
        publications: [
          publicationOf(
            [
              mediaOf('/files/a.mp4', {
                flavor: 'presenter',
                size: -7,
                checksum: 'SHA-256:abc',
                mediatype: 'video/mp4\r\nX-Evil: 1',
              }),
              mediaOf('/files/a.mp4', {
                flavor: 'a/b/c',
                size: '5',
                checksum: `${'0'.repeat(32)} (sha256)`,
                mediatype: 'x'.repeat(5000),
              }),
            ],
            { mediatype: 'text/html\r\n' },
          ),
        ],
      },
    ],
    [
      'a schedule of an agent without a name',
      {
        status: 'SCHEDULED',
        processing_state: '',
        scheduling: { agent_id: '../a b\0', start: '2030-01-01T00:00:00Z', end: '2030-01-01T01:00:00Z', inputs: ['a'] },
      },
    ],
  ])('copies an event with %s', async (_, odd) => {
    const [up, source] = [await open(), await hostileSource()];
    source.files.set('/files/a.mp4', Buffer.from('video'));
    const event = eventOf(odd);
    const time = Date.parse(String(event.start));
    source.events = Number.isNaN(time) || time > Date.now() ? [eventOf(), event] : [event, eventOf()];
    const done = await importFrom(up, source);
    expect(done.lines.at(-2)).toBe('Events: 2 copied, 0 failed, 0 skipped, 0 pending');
    expect(JSON.stringify(done.lines)).not.toContain('\\u001b');
    const path = `/api/events/${event.identifier}`;
    const json = await (await up.app.request(`${path}?withpublications=true&withscheduling=true`)).json();
    for (const { media } of json.publications) {
      for (const { url, mediatype } of media) {
        const answer = await up.app.request(new URL(url).pathname);
        expect([answer.status, await answer.text(), answer.headers.get('Content-Type')]).toEqual([
          200,
          'video',
          mediatype,
        ]);
      }
    }
    expect(await up.verify('--digests')).toEqual({ code: 0, lines: [] });
  });

  test('fails metadata values that are nested deeply and copies everything else', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const values = ['title', 'subjects', 'description'].map((id) => `{"id":"${id}","value":${nested(100_000)}}`);
    const catalog = `{"flavor":"dublincore/episode","fields":[${values.join(',')}]}`;
    source.events = [JSON.stringify({ ...eventOf(), metadata: ['*'] }).replace('"*"', catalog), eventOf()];
    expect((await importFrom(up, source)).lines.at(-2)).toBe('Events: 1 copied, 1 failed, 0 skipped, 0 pending');
  });

  test('keeps events apart that name the same publications and files', async () => {
    const [up, source] = [await open(), await hostileSource()];
    source.files.set('/files/a.mp4', Buffer.from('video'));
    const own = eventOf({ identifier: await up.upload() });
    const media = [mediaOf('/files/a.mp4')];
    const events = Array.from({ length: 4 }, () =>
      eventOf({ publications: [publicationOf(media, { id: media[0]?.id })] }),
    );
    source.events = [own, ...events];
    for (const { identifier } of events) {
      source.tracks.set(identifier, [
        { identifier: media[0]?.id, flavor: 'presenter/source', mimetype: 'video/mp4', uri: '/files/a.mp4', tags: [] },
      ]);
    }
    const done = await importFrom(up, source);
    expect(done.lines.at(-2)).toBe('Events: 4 copied, 0 failed, 1 skipped, 0 pending');
    for (const { identifier } of events) {
      const answer = await up.app.request(`/api/events/${identifier}/publications`);
      expect(await answer.json()).toMatchObject([{ media: [{ flavor: 'presenter/delivery', size: 5 }] }]);
    }
    expect((await importFrom(up, source)).lines.at(-2)).toBe('Events: 4 copied, 0 failed, 1 skipped, 0 pending');
    expect(await up.verify('--digests')).toEqual({ code: 0, lines: [] });
  });

  test('ends, though two events have one identifier', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const first = eventOf({ title: 'One' });
    source.events = [first, eventOf({ identifier: first.identifier, title: 'Another' }), eventOf()];
    const done = await importFrom(up, source);
    expect(done.lines.at(-2)).toBe('Events: 2 copied, 0 failed, 0 skipped, 0 pending');
    expect((await importFrom(up, source)).lines.at(-2)).toBe('Events: 2 copied, 0 failed, 0 skipped, 0 pending');
  });

  test('tells no password and no signature', async () => {
    const [up, source] = [await open(), await hostileSource()];
    source.files.set('/files/a.mp4', (response) => response.writeHead(403).end(`${PASSWORD} signature=abc`));
    source.events = [eventOf({ publications: [publicationOf([mediaOf(`${source.url}/files/a.mp4?signature=abc`)])] })];
    const done = await importFrom(up, source);
    expect(done.lines.at(-2)).toBe('Events: 0 copied, 1 failed, 0 skipped, 0 pending');
    expect(done.lines.join()).toContain('/files/a.mp4');
    expect(done.lines.join()).not.toMatch(/signature|not-to-be-shown/);
  });

  test.each<[string, Record<string, unknown>]>([
    ['an identifier with a NUL', { identifier: 'a\0b' }],
    ['an identifier with a slash', { identifier: 'a/b' }],
    ['an identifier with half a character', { identifier: 'a\ud800' }],
    ['no date of creation that there is', { created: 'yesterday' }],
    [
      'an access control list of 3,000 entries',
      { acl: Array.from({ length: 3000 }, (_, i) => ({ allow: true, action: 'read', role: `ROLE_${i}` })) },
    ],
    ['a property with a NUL', { properties: { a: 'a\0' } }],
  ])('fails a series with %s and copies everything else', async (_, bad) => {
    const [up, source] = [await open(), await hostileSource()];
    const good = { identifier: randomUUID(), title: 'Good', created: '2020-01-02T00:00:00Z' };
    source.series = [{ identifier: randomUUID(), title: 'Bad', created: '2020-01-01T00:00:00Z', ...bad }, good];
    source.events = [eventOf({ is_part_of: good.identifier })];
    const done = await importFrom(up, source);
    expect(done.lines.slice(-3, -1)).toEqual([
      'Series: 1 copied, 1 failed, 0 skipped, 0 pending',
      'Events: 1 copied, 0 failed, 0 skipped, 0 pending',
    ]);
  });

  test('copies a series with properties that are no texts', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const properties = { number: 5, object: NO_TEXT, list: [NO_TEXT] };
    const identifier = randomUUID();
    source.series = [{ identifier, title: 'Odd', created: '2020-01-01T00:00:00Z', properties }];
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    expect(await (await up.app.request(`/api/series/${identifier}/properties`)).json()).toEqual({
      ...{ number: '5', object: 'an object', list: 'a list' },
    });
  });
});

const playlistOf = (fields: Record<string, unknown>) => ({
  ...{ id: randomUUID(), title: 'Exercises', description: '', creator: '', updated: '2024-05-01T10:00:00Z' },
  ...{ entries: [], accessControlEntries: [], ...fields },
});

describe('an import of hostile playlists and groups', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a title with a NUL', { title: 'a\0b' }, "'title'"],
    ['10,000 entries', { entries: Array.from({ length: 10_000 }, (_, i) => ({ contentId: `${i}` })) }, "'entries'"],
    ['an entry with a NUL', { entries: [{ contentId: 'a\0b' }] }, "'entries[0].contentId'"],
    ['an identifier of 1,000 characters', { id: 'a'.repeat(1000) }, 'identifier'],
    ['an identifier that is an object', { id: NO_TEXT }, 'id: '],
    ['no date of change', { updated: 'yesterday' }, '`updated`'],
    [
      'an access control list of 3,000 entries',
      { accessControlEntries: Array.from({ length: 3000 }, (_, i) => ({ allow: true, action: 'a', role: `R_${i}` })) },
      "'accessControlEntries'",
    ],
    ['entries that are no list', { entries: {} }, 'entries: '],
  ])('fails a playlist with %s and copies everything else', async (_, bad, reason) => {
    const [up, source] = [await open(), await hostileSource()];
    const good = playlistOf({});
    source.events = [eventOf()];
    source.playlists = [playlistOf(bad), good];
    const done = await importFrom(up, source);
    expect(done.code).toBe(1);
    expect(done.lines.slice(-3, -1)).toEqual([
      'Events: 1 copied, 0 failed, 0 skipped, 0 pending',
      'Playlists: 1 copied, 1 failed, 0 skipped, 0 pending',
    ]);
    expect(done.lines[0]).toMatch(/^playlist /);
    expect(done.lines[0]).toContain(reason);
    expect((await up.app.request(`/api/playlists/${good.id}`)).status).toBe(200);
  });

  test('leaves out entries of a playlist that have lost their content', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const entries = [{ contentId: null, type: 'INACCESSIBLE' }, { contentId: 'one' }, { type: 'INACCESSIBLE' }];
    const playlist = playlistOf({ entries });
    source.events = [eventOf()];
    source.playlists = [playlist];
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    const copied = await (await up.app.request(`/api/playlists/${playlist.id}`)).json();
    expect(copied).toMatchObject({ entries: [{ contentId: 'one' }] });
  });

  test('copies no group that grants the rights of an administrator, unless --groups says so', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const headers = { Authorization: await up.app.account('mallory') };
    const mayRead = async () => (await up.app.request('/api/groups', { headers })).status === 200;
    const group = { identifier: 'admins', name: 'Admins', roles: 'ROLE_ADMIN', members: 'mallory' };
    source.events = [eventOf()];
    source.groups = [group];
    source.playlists = [playlistOf({})];
    const counted = await importFrom(up, source, '--dry-run');
    expect(counted.lines.slice(-2)).toEqual([
      'Groups that are copied only with --groups: 1.',
      '0 series, 1 events, 1 playlists, 0 published files with 0 bytes. Nothing was copied.',
    ]);
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    expect(await mayRead()).toBe(false);
    expect((await importFrom(up, source, '--groups')).lines.at(-2)).toBe(
      'Groups: 1 copied, 0 failed, 0 skipped, 0 pending',
    );
    expect(await mayRead()).toBe(true);
  });

  test('leaves playlists out of a part of the catalogue, and groups cannot be chosen with it', async () => {
    const [up, source] = [await open(), await hostileSource()];
    source.events = [eventOf()];
    source.playlists = [playlistOf({})];
    for (const part of [
      ['--since', '2019-01-01'],
      ['--series', 'none'],
    ]) {
      expect((await importFrom(up, source, ...part)).lines.join()).not.toContain('Playlists');
      await expect(importFrom(up, source, ...part, '--groups')).rejects.toThrow('cannot be combined');
    }
  });
});

describe('what is here', () => {
  test('and was deleted here is not copied again, unless --theirs says so', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const [kept, deleted, gone] = [eventOf(), eventOf(), eventOf()];
    const series = { identifier: randomUUID(), title: 'Series', created: '2020-01-01T00:00:00Z' };
    source.events = [kept, deleted, gone];
    source.series = [series];
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    for (const id of [deleted.identifier, gone.identifier]) await up.delete(id);
    await up.app.request(`/api/series/${series.identifier}`, { method: 'DELETE' });
    source.events = [kept, { ...deleted, title: 'Changed there' }];
    source.series = [{ ...series, title: 'Changed there' }];
    const again = await importFrom(up, source);
    expect(again.lines.slice(-3, -1)).toEqual([
      'Series: 0 copied, 0 failed, 1 skipped, 0 pending',
      'Events: 1 copied, 0 failed, 1 skipped, 0 pending',
    ]);
    expect(again.lines.join()).toContain('It was deleted here since it was copied.');
    const theirs = await importFrom(up, source, '--theirs');
    expect(theirs.lines.slice(-3, -1)).toEqual([
      'Series: 1 copied, 0 failed, 0 skipped, 0 pending',
      'Events: 2 copied, 0 failed, 0 skipped, 0 pending',
    ]);
  });

  test('and is being processed is left alone until that is over, also with --theirs', async () => {
    const [up, source] = [await open(), await hostileSource()];
    const id = await up.upload();
    source.events = [eventOf({ identifier: id, title: 'Theirs' })];
    const before = await up.read(id);
    const waiting = await importFrom(up, source, '--theirs');
    expect(waiting).toMatchObject({ code: 1 });
    expect(waiting.lines[0]).toContain('pending. It is being processed here.');
    expect(await up.read(id)).toEqual(before);
    await up.app.database.updateTable('workflows').set({ state: 'STOPPED' }).where('event_id', '=', id).execute();
    expect(await importFrom(up, source, '--theirs')).toMatchObject({ code: 0 });
    expect(await up.read(id)).toMatchObject({ title: 'Theirs' });
    expect(await up.verify('--digests')).toEqual({ code: 0, lines: [] });
  });

  test('and changes while its files are copied is not overwritten, and leaves no file', async () => {
    const [up, source] = [await openUpkeep(ENV), await hostileSource()];
    const event = eventOf();
    source.events = [event];
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    source.events = [{ ...event, publications: [publicationOf([mediaOf('/files/a.mp4')])] }];
    source.files.set('/files/a.mp4', async (response) => {
      await up.delete(event.identifier);
      response.end('video');
    });
    const done = await importFrom(up, source);
    expect(done.lines.at(-2)).toBe('Events: 0 copied, 0 failed, 0 skipped, 1 pending');
    expect([await up.keys(), await up.ledger()]).toEqual([[], []]);
  });

  test('is imported by one command at a time', async () => {
    const [up, source] = [await open(), await hostileSource()];
    source.events = [eventOf({ publications: [publicationOf([mediaOf('/files/a.mp4')])] })];
    const second = Promise.withResolvers<unknown>();
    source.files.set('/files/a.mp4', async (response) => {
      second.resolve(await importFrom(up, source).catch((error) => error));
      response.end('video');
    });
    expect(await importFrom(up, source)).toMatchObject({ code: 0 });
    expect(await second.promise).toMatchObject({ message: 'Another import from this source is running.' });
  });
});
