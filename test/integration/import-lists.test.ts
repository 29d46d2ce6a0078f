import { describe, expect, test } from 'vitest';
import { countSource } from '#maintenance/import/count-source.ts';
import { openServer } from '#maintenance/import/server-source.ts';
import { importFrom, json, reference } from '../support/import-from.ts';
import { eventId } from '../support/reference-catalogue.ts';
import type { ReferencePlaylist } from '../support/reference-lists.ts';
import type { ReferenceOptions } from '../support/reference-server.ts';
import { openUpkeep } from '../support/upkeep.ts';

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
  test.each([
    ['pages as requested', 0],
    ['smaller pages', 40],
    ['no pages', Infinity],
  ])('come along as they are from a list with %s', async (_, pageSize) => {
    const playlists = Array.from({ length: 150 }, (_, number) => playlistOf(number));
    const server = await reference({ events: 2, series: 0, playlists, pageSize });
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
    ['not found at the source', { hasPlaylists: false }, /^Playlists do not come along \(.*404[^)]*\)\.$/],
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

  test('of which the source refuses a part end the import, and stay as they are', async () => {
    const playlists = Array.from({ length: 150 }, (_, number) => playlistOf(number));
    const server = await reference({ events: 1, series: 0, playlists });
    const up = await openUpkeep();
    await importFrom(up, server);
    Object.assign(server.options, { refusedOffset: 100 });
    await expect(importFrom(up, server)).rejects.toThrow(/^Playlists cannot be read completely: .*403/);
    expect(await json<unknown[]>(up, '/api/playlists')).toHaveLength(150);
  });

  test('stay if the source no longer lists most of them, although it lists all events', async () => {
    const playlists = Array.from({ length: 10 }, (_, number) => playlistOf(number));
    const server = await reference({ events: 60, series: 0, playlists });
    const up = await openUpkeep();
    await importFrom(up, server);
    server.options.playlists = playlists.slice(0, 4);
    server.delete(3);
    const { lines } = await importFrom(up, server);
    expect(lines.slice(-3, -1)).toEqual([
      'Events: 59 copied, 0 failed, 0 skipped, 0 pending',
      'Playlists: 4 copied, 0 failed, 6 skipped, 0 pending',
    ]);
    expect(lines).toContainEqual(expect.stringContaining('no longer lists 6 of 10 items of this kind'));
    expect(await json<unknown[]>(up, '/api/playlists')).toHaveLength(10);
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

  test('that were created here are left alone, also without members', async () => {
    const server = await reference({ events: 1, series: 0, groups: [GROUP] });
    const up = await openUpkeep();
    const form = new URLSearchParams({ name: 'Physics Lab', description: 'Ours' });
    await up.app.request('/api/groups', { method: 'POST', body: form });
    expect((await importFrom(up, server, { groups: true })).lines[0]).toMatch(/^group physics_lab .*: skipped\./);
    expect(await json(up, '/api/groups/physics_lab')).toMatchObject({ description: 'Ours', members: '' });
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
    const advice = [expect.stringMatching(/^Groups do not come along .*ROLE_API_GROUPS_VIEW/)];
    expect((await importFrom(up, server, { groups: true })).warnings).toEqual(advice);
    const { signal } = new AbortController();
    const source = await openServer(server.url, { username: 'import', password: 'secret', signal });
    for (const groups of [false, true]) {
      const count = await countSource(source, { signal, groups }, up.app.context.catalogs, () => undefined);
      expect(count.warnings).toEqual(groups ? advice : []);
    }
  });
});
