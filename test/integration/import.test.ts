import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CatalogueSource, SourceError } from '#maintenance/import/catalogue-source.ts';
import { openSource } from '#maintenance/import/import-items.queries.ts';
import { isComplete, readReport, reportLines } from '#maintenance/import/import-report.ts';
import { runImport } from '#maintenance/import/run-import.ts';
import { openServer } from '#maintenance/import/server-source.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertEvent } from '../support/publication.ts';
import type { EventFault } from '../support/reference-catalogue.ts';
import { eventId, kindOf, seriesId } from '../support/reference-catalogue.ts';
import type { ReferencePlaylist } from '../support/reference-lists.ts';
import { type ReferenceOptions, ReferenceServer } from '../support/reference-server.ts';
import { openUpkeep, type Upkeep } from '../support/upkeep.ts';

/** Imports from a server that behaves as the reference server does. */
async function reference(options: ReferenceOptions = {}): Promise<ReferenceServer> {
  const server = await ReferenceServer.start(options);
  onTestFinished(() => server.close());
  return server;
}

const WORKFLOW = {
  definition: 'fast',
  title: '',
  configuration: '{}',
  state: 'SUCCEEDED',
  creator: 'admin',
  request_id: '',
};

interface ImportOptions {
  theirs?: boolean;
  groups?: boolean;
  more?: Partial<CatalogueSource>;
}

/** Imports without the pauses and limits of the command. @returns the lines of its report, and whether it is complete */
async function importFrom(
  up: Upkeep,
  server: ReferenceServer,
  { theirs = false, groups = false, more = {} }: ImportOptions = {},
) {
  const { config, catalogs, staging } = up.app.context;
  const { database, storage } = up.app;
  const { signal } = new AbortController();
  const limits = { requestsPerSecond: 200, retryMs: 1 };
  const source = await openServer(server.url, { username: 'import', password: 'secret', ...limits, signal });
  Object.assign(source, more);
  const sourceId = await openSource(database, source.name);
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const services = { source, sourceId, database, storage, staging, catalogs, theirs, signal, retryMs: 1, onWarning };
  await runImport({ parallel: 4, follow: false, groups }, { ...services, gapMs: config.scheduling.minGapMs });
  const report = await readReport(database, { id: sourceId, name: source.name }, 0);
  return { isComplete: isComplete(report), lines: reportLines(report), warnings };
}

const json = async <T = Record<string, unknown>>(up: Upkeep, path: string) =>
  (await (await up.app.request(path)).json()) as T;
interface Publications {
  id: string;
  channel: string;
  media: { flavor: string; tags: string[]; url: string; mediatype: string; size: number }[];
  attachments: { flavor: string; ref: string }[];
}
/** Returns the publications of an event at the source, as it shows them to everyone with an account. */
async function publicationsAt({ url }: ReferenceServer, number: number): Promise<Publications[]> {
  const headers = { Authorization: `Basic ${Buffer.from('import:secret').toString('base64')}` };
  const answer = await fetch(`${url}/api/events/${eventId(number)}?withpublications=true`, { headers });
  return ((await answer.json()) as { publications: Publications[] }).publications;
}
const publicationsOf = (up: Upkeep, number: number) =>
  json<Publications[]>(up, `/api/events/${eventId(number)}/publications`);

test('everything of the reference server comes along but what it cannot deliver, and that is named', async () => {
  const faults: Record<number, EventFault> = {
    ...{ 8: 'broken', 9: 'unreadable', 16: 'tracks-broken', 18: 'file-missing', 24: 'file-cut', 26: 'file-changed' },
  };
  const isSeriesBroken = (number: number) => number === 2;
  const server = await reference({ events: 40, series: 5, faultOf: (number) => faults[number], isSeriesBroken });
  const up = await openUpkeep();
  const { isComplete, lines } = await importFrom(up, server);
  expect(isComplete).toBe(false);
  const failed = lines.filter((line) => line.includes(': failed.'));
  expect(failed.map((line) => line.split(' ', 2)[1]).sort()).toEqual(
    [seriesId(2), ...Object.keys(faults).map((number) => eventId(Number(number)))].sort(),
  );
  expect(lines.slice(-4, -1)).toEqual([
    `Source: ${server.url}`,
    'Series: 4 copied, 1 failed, 0 skipped, 0 pending',
    'Events: 34 copied, 6 failed, 0 skipped, 0 pending',
  ]);
  expect(lines).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^event ${eventId(4)} .*: copied. The publication on the channel youtube has no files at the source: it refers to https:`,
      ),
    ),
  );
  expect(await up.verify('--digests')).toEqual({ code: 0, lines: [] });
});

test('what was watchable at the reference server is watchable, without encoding', async () => {
  const server = await reference({ events: 16, series: 2 });
  const up = await openUpkeep();
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  const players = await Promise.all(Array.from({ length: 16 }, (_, number) => publicationsOf(up, number)));
  for (const [number, publications] of players.entries()) {
    const [player] = publications;
    const expected = { player: 2, captions: 2, streams: 6, odd: 1 }[kindOf(number) as string];
    expect([number, player?.channel, player?.media.length]).toEqual([
      number,
      expected === undefined ? undefined : 'engage-player',
      expected,
    ]);
  }
  const [captioned] = players[2] ?? [];
  expect(captioned?.media.map(({ flavor }) => flavor)).toEqual(['presenter/delivery', 'captions/delivery']);
  const page = await up.app.request(new URL(`/watch/${captioned && (await watchId(up, 2))}`, 'http://x').pathname);
  expect(await page.text()).toMatch(/kind="captions".*srclang="de".*srclang="en"/s);
  expect(await up.app.database.selectFrom('workflows').select('id').execute()).toEqual([]);
  const scheduled = await json(up, `/api/events/${eventId(6)}?withscheduling=true`);
  expect(scheduled).toMatchObject({ status: 'EVENTS.EVENTS.STATUS.SCHEDULED', scheduling: { agent_id: 'hall-1' } });
});

const watchId = async (up: Upkeep, number: number) =>
  (await json<{ id: string }[]>(up, `/api/events/${eventId(number)}/publications`))[0]?.id;

test('an update replaces only what has changed, and files that are no longer published are removed', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const keys = await up.keys();
  const before = await publicationsOf(up, 0);
  const rows = () =>
    up.app.database
      .selectFrom('publication_elements')
      .select(['id', sql`xmin::text`.as('writer')])
      .execute();
  const written = await rows();
  server.change(0, { title: 'Changed', processing_state: 'FAILED', status: 'EVENTS.EVENTS.STATUS.PROCESSING_FAILURE' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  expect(await json(up, `/api/events/${eventId(0)}`)).toMatchObject({ processing_state: 'FAILED' });
  expect([await publicationsOf(up, 0), await up.keys()]).toEqual([before, keys]);
  expect(await rows()).toEqual(written);
  server.change(0, { publications: [] });
  await importFrom(up, server);
  expect(await publicationsOf(up, 0)).toEqual([]);
  const track = await up.trackOf(eventId(0));
  const left = await up.app.database.selectFrom('staging').select('object_key').execute();
  expect(left.map(({ object_key }) => object_key).sort()).toEqual(keys.filter((key) => key !== track).sort());
});

test('published files that move to another channel, or to a new publication, are kept', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  const [player] = await publicationsAt(server, 0);
  const media = player?.media.map((each, i) => ({ ...each, id: `f47ac10b-58cc-4372-a567-0e02b2c3d47${i}` }));
  server.change(0, { publications: [{ ...player, media }] });
  await importFrom(up, server);
  const [before] = await publicationsOf(up, 0);
  const moved = { ...player, media, channel: 'portal' };
  for (const publication of [moved, { ...moved, id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }]) {
    server.change(0, { publications: [publication] });
    await importFrom(up, server);
    const [after] = await publicationsOf(up, 0);
    expect(after).toMatchObject({
      channel: 'portal',
      media: before?.media.map(({ size, flavor }) => ({ size, flavor })),
    });
  }
  expect((await publicationsOf(up, 0))[0]).toMatchObject({ id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' });
});

test('a changed file that the source cannot deliver keeps its earlier copy, and is copied by a later run', async () => {
  let fault: EventFault | undefined;
  const server = await reference({ events: 1, series: 0, faultOf: () => fault });
  const up = await openUpkeep();
  await importFrom(up, server);
  const [before, keys] = [await publicationsOf(up, 0), await up.keys()];
  // Other checksums than before, which the files do not have.
  fault = 'file-changed';
  server.change(0, { processing_state: 'FAILED' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: false });
  expect(await json(up, `/api/events/${eventId(0)}`)).toMatchObject({ processing_state: 'FAILED' });
  expect([await publicationsOf(up, 0), await up.keys()]).toEqual([before, keys]);
  fault = undefined;
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
  expect(await up.keys()).toEqual(keys);
});

test('what has vanished at the source is deleted here, unless so much is missing that the account must have lost rights', async () => {
  const server = await reference({ events: 60, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const count = async () => (await json<unknown[]>(up, '/api/events')).length;
  for (const number of [1, 2]) server.delete(number);
  await importFrom(up, server);
  expect(await count()).toBe(58);
  for (let number = 3; number < 40; number++) server.delete(number);
  const { lines } = await importFrom(up, server);
  expect(await count()).toBe(58);
  expect(lines).toContainEqual(
    expect.stringContaining('The source no longer lists 37 of 58 items, among them this one.'),
  );
});

test('what has vanished at the source stays if the source does not say so, or if it is more than half of all', async () => {
  const server = await reference({ events: 3, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const count = async () => (await json<unknown[]>(up, '/api/events')).length;
  server.delete(0);
  const findEvent = () => Promise.reject(new SourceError('It cannot be read.'));
  const { lines } = await importFrom(up, server, { more: { findEvent } });
  expect(lines).toContainEqual(expect.stringMatching(`^event ${eventId(0)} .*: failed. It cannot be read.`));
  server.delete(1);
  await importFrom(up, server);
  expect(await count()).toBe(3);
});

test('an event that is changed or processed here while it is deleted at the source stays', async () => {
  const server = await reference({ events: 10, series: 0 });
  const up = await openUpkeep();
  const { database } = up.app;
  await importFrom(up, server);
  for (const number of [0, 1]) server.delete(number);
  await database
    .insertInto('workflows')
    .values({ ...WORKFLOW, event_id: eventId(1) })
    .execute();
  let importing: ReturnType<typeof importFrom> | undefined;
  await database.transaction().execute(async (trx) => {
    const event = trx.updateTable('events').set((eb) => ({ archive_version: eb('archive_version', '+', 1) }));
    await event.where('id', '=', eventId(0)).execute();
    importing = importFrom(up, server);
    await untilOneWaits(database);
  });
  const reason = 'It was deleted at the source, and changed here since it was copied.';
  expect((await importing)?.lines.filter((line) => line.includes(reason))).toHaveLength(2);
  expect(await json<unknown[]>(up, '/api/events')).toHaveLength(10);
});

test('an event that is being processed at the source waits', async () => {
  const server = await reference({ events: 2, series: 0 });
  server.change(1, { processing_state: 'RUNNING' });
  const up = await openUpkeep();
  expect(await importFrom(up, server)).toMatchObject({
    isComplete: false,
    lines: expect.arrayContaining([expect.stringContaining('pending. It is being processed at the source.')]),
  });
  server.change(1, { processing_state: 'SUCCEEDED' });
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
});

test('an event that could not be read for a time is complete again', async () => {
  const faults: (EventFault | undefined)[] = [];
  const server = await reference({ events: 2, series: 0, faultOf: (number) => faults[number] });
  const up = await openUpkeep();
  await importFrom(up, server);
  faults[1] = 'broken';
  expect(await importFrom(up, server)).toMatchObject({ isComplete: false });
  faults[1] = undefined;
  expect(await importFrom(up, server)).toMatchObject({ isComplete: true });
});

test('a recording that is no longer scheduled at the source is not scheduled here', async () => {
  const server = await reference({ events: 7, series: 0 });
  const up = await openUpkeep();
  await importFrom(up, server);
  server.change(6, { scheduling: {}, status: 'EVENTS.EVENTS.STATUS.PROCESSED', processing_state: 'SUCCEEDED' });
  await importFrom(up, server);
  const { status, scheduling } = await json(up, `/api/events/${eventId(6)}?withscheduling=true`);
  expect({ status, scheduling }).toEqual({ status: 'EVENTS.EVENTS.STATUS.PROCESSED', scheduling: {} });
});

test('what was changed or deleted here is as at the source again with --theirs', async () => {
  const server = await reference({ events: 2, series: 1 });
  const up = await openUpkeep();
  await importFrom(up, server);
  const titles = async () =>
    (await json<{ title: string }[]>(up, '/api/events?sort=date:ASC')).map(({ title }) => title);
  const before = await titles();
  const form = new FormData();
  form.set('metadata', JSON.stringify([{ id: 'title', value: 'Changed here' }]));
  const path = `/api/events/${eventId(0)}/metadata?type=dublincore/episode`;
  expect((await up.app.request(path, { method: 'PUT', body: form })).ok).toBe(true);
  for (const gone of [`/api/events/${eventId(1)}`, `/api/series/${seriesId(0)}`])
    expect((await up.app.request(gone, { method: 'DELETE' })).ok).toBe(true);
  server.change(1, { archive_version: 7 });
  const { lines } = await importFrom(up, server);
  expect(lines).toContainEqual(expect.stringContaining('skipped. It was deleted here since it was copied.'));
  expect(await titles()).toEqual(['Changed here']);
  expect(await importFrom(up, server, { theirs: true })).toMatchObject({ isComplete: true });
  expect(await titles()).toEqual(before);
  expect((await up.app.request(`/api/series/${seriesId(0)}`)).status).toBe(200);
});

test('an event that exists here is left alone, and overwritten with --theirs', async () => {
  const server = await reference({ events: 1, series: 0 });
  const up = await openUpkeep();
  await insertEvent(up.app.database, { id: eventId(0), title: 'Ours' });
  const title = async () => (await json(up, `/api/events/${eventId(0)}`)).title;
  await importFrom(up, server);
  expect(await title()).toBe('Ours');
  await importFrom(up, server, { theirs: true });
  expect(await title()).not.toBe('Ours');
});

const playlistId = (number: number) => `0d1c6ee2-0c1f-4a51-8f3c-${String(number).padStart(12, '0')}`;
const playlistOf = (number: number, fields: Partial<ReferencePlaylist> = {}): ReferencePlaylist => ({
  ...{
    id: playlistId(number),
    title: `Playlist ${number}`,
    entries: [eventId(1), 'elsewhere', eventId(0), eventId(1)],
  },
  ...{ updated: `2024-05-0${1 + (number % 9)}T10:00:00Z`, readers: ['ROLE_STUDENT', 'ROLE_A'], ...fields },
});
interface PlaylistJson {
  id: string;
  title: string;
  entries: { contentId: string }[];
  accessControlEntries: { role: string }[];
}
const GROUP = { identifier: 'physics_lab', name: 'Physics Lab', roles: ['ROLE_STUDIO'], members: ['ada', 'grace'] };
const SERVICES = 'mh_default_org_external_applications';

describe('playlists', () => {
  test.each([false, true])('come along as they are, also from lists without pages (%s)', async (isUnpaged) => {
    const playlists = Array.from({ length: 150 }, (_, number) => playlistOf(number));
    const server = await reference({ events: 2, series: 0, playlists, isUnpaged });
    const up = await openUpkeep();
    const { isComplete, lines } = await importFrom(up, server);
    expect(isComplete).toBe(true);
    expect(lines.at(-2)).toBe('Playlists: 150 copied, 0 failed, 0 skipped, 0 pending');
    expect(await json<PlaylistJson[]>(up, '/api/playlists')).toHaveLength(150);
    const playlist = await json<PlaylistJson>(up, `/api/playlists/${playlistId(7)}`);
    expect(playlist).toMatchObject({
      ...{ title: 'Playlist 7', description: 'About Playlist 7', creator: 'Ada Lovelace' },
      updated: '2024-05-08T10:00:00Z',
    });
    expect(playlist.entries.map(({ contentId }) => contentId)).toEqual(playlists[7]?.entries);
    expect(playlist.accessControlEntries).toMatchObject(
      ['ROLE_STUDENT', 'ROLE_A'].map((role) => ({ allow: true, role, action: 'read' })),
    );
    const reader = { Authorization: await up.app.account('reader', 'ROLE_API_PLAYLISTS_VIEW', 'ROLE_A') };
    expect((await up.app.request(`/api/playlists/${playlistId(7)}`, { headers: reader })).status).toBe(200);
  });

  test('follow the source, are recorded as changes, and stay as they are here once they are changed here', async () => {
    const playlists = [1, 2, 3, 4, 5].map((number) => playlistOf(number));
    const server = await reference({ events: 1, series: 0, playlists });
    const up = await openUpkeep();
    await importFrom(up, server);
    const shown = async () =>
      (await json<PlaylistJson[]>(up, '/api/playlists?sort=updated:ASC')).map(({ title }) => title);
    const form = new URLSearchParams({ playlist: JSON.stringify({ title: 'Changed here' }) });
    await up.app.request(`/api/playlists/${playlistId(3)}`, { method: 'PUT', body: form });
    await up.app.request(`/api/playlists/${playlistId(5)}`, { method: 'DELETE' });
    server.options.playlists = [
      playlistOf(2, { title: 'Changed there', entries: [] }),
      playlistOf(3, { title: 'Also changed there' }),
      ...[4, 5].map((number) => playlistOf(number, { updated: '2024-06-01T10:00:00Z' })),
    ];
    const { lines } = await importFrom(up, server);
    expect(lines).toContain('Playlists: 2 copied, 0 failed, 2 skipped, 0 pending');
    expect(await shown()).toEqual(['Changed there', 'Playlist 4', 'Changed here']);
    const changes = await up.app.database
      .selectFrom('changes')
      .select('kind')
      .where('actor', '=', 'inlet import')
      .where('playlist_id', 'is not', null)
      .orderBy('id')
      .execute();
    expect(changes.map(({ kind }) => kind)).toEqual([
      ...Array(5).fill('playlist.created'),
      ...['playlist.changed', 'playlist.changed', 'playlist.deleted'],
    ]);
    expect(await importFrom(up, server, { theirs: true })).toMatchObject({ isComplete: true });
    expect(await shown()).toEqual(['Changed there', 'Also changed there', 'Playlist 4', 'Playlist 5']);
  });

  test.each<[string, ReferenceOptions, RegExp]>([
    [
      'refused',
      { missingRoles: ['ROLE_API_PLAYLISTS_VIEW'] },
      /^Playlists do not come along .*403.*ROLE_API_PLAYLISTS_VIEW/,
    ],
    ['unknown to the source', { version: '1.10.0' }, /^Playlists do not come along: .* version 1\.10\.0/],
  ])('that are %s stay as they are, with a warning, and everything else comes along', async (_, options, warning) => {
    const playlists = [1, 2, 3].map((number) => playlistOf(number));
    const server = await reference({ events: 10, series: 1, playlists });
    const up = await openUpkeep();
    await importFrom(up, server);
    Object.assign(server.options, { ...options, playlists: [] });
    server.delete(3);
    const { isComplete, lines, warnings } = await importFrom(up, server);
    expect(isComplete).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(lines.slice(-3, -1)).toEqual([
      'Events: 9 copied, 0 failed, 0 skipped, 0 pending',
      'Playlists: 3 copied, 0 failed, 0 skipped, 0 pending',
    ]);
    expect(await json<unknown[]>(up, '/api/playlists')).toHaveLength(3);
  });
});

describe('groups', () => {
  test('come along on request only, and are deleted here with those of the source', async () => {
    const services = { identifier: SERVICES, name: 'External Applications', roles: [], members: ['moodle'] };
    const other = { ...GROUP, identifier: 'other', name: 'Other' };
    const server = await reference({ events: 3, series: 0, groups: [GROUP, services, other] });
    const up = await openUpkeep();
    const groups = async () =>
      (await json<{ identifier: string }[]>(up, '/api/groups')).map(({ identifier }) => identifier);
    await importFrom(up, server);
    expect(server.requests.of('/api/groups')).toBe(0);
    expect(await groups()).toEqual([SERVICES]);
    const { isComplete, lines } = await importFrom(up, server, { groups: true });
    expect([isComplete, lines.at(-2)]).toEqual([true, 'Groups: 3 copied, 0 failed, 0 skipped, 0 pending']);
    expect(await json(up, `/api/groups/${SERVICES}`)).toMatchObject({ members: 'moodle' });
    expect(await json(up, '/api/groups/physics_lab')).toMatchObject({
      ...{ name: 'Physics Lab', roles: 'ROLE_STUDIO', members: 'ada,grace' },
    });
    server.options.groups = [{ ...GROUP, members: ['ada'] }, services];
    await importFrom(up, server);
    expect(await groups()).toContain('other');
    await importFrom(up, server, { groups: true });
    expect(await groups()).toEqual([SERVICES, 'physics_lab']);
    expect(await json(up, '/api/groups/physics_lab')).toMatchObject({ members: 'ada' });
  });

  test('with members here are left alone, and overwritten with --theirs', async () => {
    const server = await reference({ events: 1, series: 0, groups: [GROUP] });
    const up = await openUpkeep();
    const form = new URLSearchParams({ name: 'Physics Lab', members: 'bob' });
    await up.app.request('/api/groups', { method: 'POST', body: form });
    const members = async () => (await json(up, '/api/groups/physics_lab')).members;
    expect((await importFrom(up, server, { groups: true })).lines[0]).toMatch(/^group physics_lab .*: skipped\./);
    expect(await members()).toBe('bob');
    await importFrom(up, server, { groups: true, theirs: true });
    expect(await members()).toBe('ada,grace');
  });

  test('that are not valid here, or not shown, are named', async () => {
    const invalid = [
      { ...GROUP, identifier: 'Physics-Lab' },
      { ...GROUP, identifier: 'blank', roles: ['ROLE A'] },
      { ...GROUP, identifier: 'colon', members: ['a:b'] },
    ];
    const server = await reference({ events: 1, series: 0, groups: [...invalid, GROUP] });
    const up = await openUpkeep();
    const { isComplete, lines } = await importFrom(up, server, { groups: true });
    expect([isComplete, lines.at(-2)]).toEqual([false, 'Groups: 1 copied, 3 failed, 0 skipped, 0 pending']);
    const reasons = ['`identifier`', "'roles'", "'members'"].map((field) => expect.stringContaining(field));
    expect(lines.slice(0, 3)).toEqual(reasons);
    server.options.missingRoles = ['ROLE_API_GROUPS_VIEW'];
    const { warnings } = await importFrom(up, server, { groups: true });
    expect(warnings).toEqual([expect.stringMatching(/^Groups do not come along .*ROLE_API_GROUPS_VIEW/)]);
  });
});
