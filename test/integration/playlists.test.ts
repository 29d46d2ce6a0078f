import { expect, test } from 'vitest';
import { API_ROLES } from '#access/roles/api-roles.ts';
import { parseChangeFilter } from '#changes/change.ts';
import { lastNumber, numberChanges, readChanges } from '#changes/read-changes.ts';
import { ownApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, createPlaylist, send } from '../support/series.ts';

const app = await ownApp();
const ada = { Authorization: await app.account('playlist-ada', ...API_ROLES, 'ROLE_ADA') };
const bob = { Authorization: await app.account('playlist-bob', ...API_ROLES, 'ROLE_BOB') };
const NEW = {
  ...{ title: 'Opencast Playlist', description: 'This is a playlist about Opencast', creator: 'Opencast' },
  entries: ['ID-about-opencast', 'ID-3d-print'].map((contentId) => ({ contentId, type: 'EVENT' })),
  accessControlEntries: [{ allow: true, role: 'ROLE_USER_BOB', action: 'read' }],
};
interface Shown {
  id: string;
  title: string;
  entries: { id: number; contentId: string }[];
  accessControlEntries: { id: number; allow: boolean; role: string; action: string }[];
}

const put = (id: string, playlist: unknown, headers = {}) =>
  send(app, 'PUT', `/api/playlists/${id}`, { playlist: JSON.stringify(playlist) }, headers);
const read = async (id: string) => JSON.parse((await send(app, 'GET', `/api/playlists/${id}`)).text) as Shown;
const contents = ({ entries }: Shown) => entries.map(({ contentId }) => contentId);

/** Changes a playlist that must be there. */
async function change(id: string, playlist: unknown): Promise<Shown> {
  const answer = await put(id, playlist);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

test('a new playlist is answered with its identifiers, as GET has it later, also with the slash behind', async () => {
  const answer = await send(app, 'POST', '/api/playlists/', { playlist: JSON.stringify(NEW) });
  expect(answer).toMatchObject({ status: 201, type: 'application/v1.11.0+json' });
  const playlist = JSON.parse(answer.text);
  const entry = { id: expect.any(Number) };
  expect(playlist).toEqual({
    ...{ ...NEW, id: expect.any(String), updated: expect.stringMatching(/^[\d-]{10}T[\d:]{8}Z$/) },
    entries: NEW.entries.map((each) => ({ ...entry, ...each })),
    accessControlEntries: NEW.accessControlEntries.map((each) => ({ ...entry, ...each })),
  });
  expect(answer.location).toBe(`http://inlet.test/api/playlists/${playlist.id}`);
  expect(await read(playlist.id)).toEqual(playlist);
});

test('a change keeps what it leaves out, and entries that it names by identifier', async () => {
  const id = await createPlaylist(app, NEW);
  const before = await read(id);
  const renamed = await change(id, { title: 'Other', description: null });
  expect(renamed).toMatchObject({ ...before, updated: expect.any(String), title: 'Other', description: '' });
  const [first, second] = before.entries;
  const reordered = await change(id, { entries: [{ contentId: 'new', type: 'EVENT' }, second, first] });
  expect(contents(reordered)).toEqual(['new', 'ID-3d-print', 'ID-about-opencast']);
  expect(reordered.entries.slice(1)).toEqual([second, first]);
  expect(await change(id, { entries: [] })).toMatchObject({ title: 'Other', entries: [] });
  // Clients send back what they have read, and a single entry without a list.
  const echoed = await read(id);
  expect(await change(id, { ...echoed, entries: { contentId: 'only' } })).toMatchObject({
    ...{ ...echoed, updated: expect.any(String), entries: [{ contentId: 'only', type: 'EVENT' }] },
  });
});

test('entries are replaced by themselves, as the PHP library does', async () => {
  const id = await createPlaylist(app, NEW);
  const replace = async (playlistEntries: string) => {
    const answer = await send(app, 'POST', `/api/playlists/${id}/entries`, { playlistEntries });
    return answer.status === 200 ? contents(JSON.parse(answer.text)) : [answer.status, answer.text];
  };
  expect(await replace('[]')).toEqual([]);
  expect(await replace(JSON.stringify(NEW.entries))).toEqual(['ID-about-opencast', 'ID-3d-print']);
  const refused = "The playlist is not valid: 'entries' must be a list of up to 5000 objects.";
  for (const sent of ['', '{', 'null', '"x"']) expect(await replace(sent)).toEqual([400, refused]);
  expect(contents(await read(id))).toEqual(['ID-about-opencast', 'ID-3d-print']);
});

test('entries stay when their events are deleted or may not be read', async () => {
  const event = await insertEvent(app.database);
  const acl = [ace('ROLE_ADA')];
  const id = await createPlaylist(app, { entries: [{ contentId: event }], accessControlEntries: acl });
  await send(app, 'DELETE', `/api/events/${event}`);
  const answer = await send(app, 'GET', `/api/playlists/${id}`, undefined, ada);
  expect(contents(JSON.parse(answer.text))).toEqual([event]);
});

test.each([
  ['', 'playlist'],
  ['[]', 'playlist'],
  ['{"title":7}', 'title'],
  ['{"title":"\\u0000"}', 'title'],
  [JSON.stringify({ title: 'x'.repeat(2001) }), 'title'],
  ['{"entries":"x"}', 'entries'],
  ['{"entries":[7]}', 'entries[0]'],
  ['{"entries":[{"contentId":"a"},{"contentId":""}]}', 'entries[1].contentId'],
  ['{"entries":[{"contentId":"a","type":"SERIES"}]}', 'entries[0].type'],
  ['{"entries":[{"contentId":"a","id":7}]}', 'entries[0].id'],
  [JSON.stringify({ entries: Array(5001).fill({ contentId: 'a' }) }), 'entries'],
  ['{"accessControlEntries":[{"allow":true,"role":"","action":"read"}]}', 'accessControlEntries[0].role'],
  ['{"accessControlEntries":[{"role":"ROLE_A","action":"read"}]}', 'accessControlEntries[0].allow'],
  ['{"accessControlEntries":[{"allow":true,"role":"ROLE_A","action":"read","id":7}]}', 'accessControlEntries[0].id'],
])('the playlist %j is refused by the name of what is wrong, and changes nothing', async (playlist, name) => {
  const id = await createPlaylist(app, NEW);
  const before = await read(id);
  const sentence = new RegExp(`^The playlist is not valid: '${RegExp.escape(name)}' must be `);
  for (const [method, path] of [['POST', '/api/playlists'] as const, ['PUT', `/api/playlists/${id}`] as const]) {
    const answer = await send(app, method, path, { playlist });
    expect(answer).toMatchObject({ status: 400, text: expect.stringMatching(sentence) });
  }
  expect(await read(id)).toEqual(before);
});

test('an entry cannot be named twice, and the field not be left out', async () => {
  const id = await createPlaylist(app, NEW);
  const [entry] = (await read(id)).entries;
  expect(await put(id, { entries: [entry, entry] })).toMatchObject({ status: 400 });
  const missing = { status: 400, text: "Missing form parameter 'playlist'" };
  expect(await send(app, 'PUT', `/api/playlists/${id}`, {})).toMatchObject(missing);
  expect(await send(app, 'POST', '/api/playlists', {})).toMatchObject(missing);
});

test('the access control list says who reads and who writes', async () => {
  const acl = [ace('ROLE_ADA'), ace('ROLE_ADA', 'write'), ace('ROLE_BOB'), ace('ROLE_BOB', 'write', false)];
  const id = await createPlaylist(app, { accessControlEntries: acl });
  const path = `/api/playlists/${id}`;
  expect(await put(id, { title: 'By Bob' }, bob)).toMatchObject({ status: 403 });
  expect(await send(app, 'DELETE', path, undefined, bob)).toMatchObject({ status: 403 });
  // Its writer may close it, and gets the last answer about it.
  expect(await put(id, { title: 'By Ada', accessControlEntries: [] }, ada)).toMatchObject({ status: 200 });
  const missing = { status: 404, text: `Cannot find playlist instance with id '${id}'.` };
  for (const reader of [ada, bob]) {
    expect(await send(app, 'GET', path, undefined, reader)).toMatchObject(missing);
    expect(await put(id, {}, reader)).toMatchObject(missing);
    expect(await send(app, 'DELETE', path, undefined, reader)).toMatchObject(missing);
  }
  const deleted = await send(app, 'DELETE', path);
  expect([deleted.status, JSON.parse(deleted.text)]).toMatchObject([200, { id, title: 'By Ada' }]);
  expect(await send(app, 'GET', path)).toMatchObject(missing);
});

test('the list has what the account may read, all of it without a limit, by the time of the last change', async () => {
  const role = 'ROLE_LISTS';
  const reader = { Authorization: await app.account('playlist-reader', 'ROLE_API_PLAYLISTS_VIEW', role) };
  const accessControlEntries = [ace(role)];
  const made: string[] = [];
  for (let n = 0; n < 103; n += 1) made.push(await createPlaylist(app, { title: `${n}`, accessControlEntries }));
  const ids = async (query = '') => {
    const answer = await send(app, 'GET', `/api/playlists${query}`, undefined, reader);
    expect(answer.status, answer.text).toBe(200);
    return (JSON.parse(answer.text) as Shown[]).map(({ id }) => id);
  };
  await change(made[0] ?? '', { title: 'Later' });
  const [first = '', ...others] = made;
  const inOrder = [...others, first];
  expect(await ids()).toEqual(inOrder);
  expect(await ids('?sort=updated:DESC')).toEqual(inOrder.toReversed());
  expect(await ids('?limit=2&offset=1')).toEqual(inOrder.slice(1, 3));
  for (const query of ['?limit=-1', '?offset=-1', '?sort=title:ASC']) {
    expect(await send(app, 'GET', `/api/playlists${query}`)).toMatchObject({ status: 400 });
  }
});

test('clients of API versions before 1.11.0 have no playlists', async () => {
  const answer = await send(app, 'GET', '/api/playlists', undefined, { Accept: 'application/v1.10.0+json' });
  expect(answer.status).toBe(406);
});

test('the log has every change, for those who may read the playlist, and the last readers of a deleted one', async () => {
  await numberChanges(app.database);
  const start = await lastNumber(app.database);
  const id = await createPlaylist(app, { accessControlEntries: [ace('ROLE_ADA')] });
  await change(id, { title: 'Other', entries: [] });
  await change(id, { accessControlEntries: [ace('ROLE_BOB')] });
  const readers = async () => {
    await numberChanges(app.database);
    const changes = await readChanges(app.database, start);
    const wants = parseChangeFilter(`playlist:${id},kind:playlist`);
    return changes.filter(wants).map(({ kind, data, readRoles }) => [kind, data, readRoles]);
  };
  const present = [
    ['playlist.created', {}, ['ROLE_BOB']],
    ['playlist.changed', { parts: ['metadata', 'entries'] }, ['ROLE_BOB']],
    ['playlist.changed', { parts: ['acl'] }, ['ROLE_BOB']],
  ];
  expect(await readers()).toEqual(present);
  await send(app, 'DELETE', `/api/playlists/${id}`);
  const deleted = ['playlist.deleted', { title: 'Other' }, ['ROLE_BOB']];
  expect((await readers()).at(-1)).toEqual(deleted);
});

test('a repeated request with its key creates one playlist', async () => {
  const headers = { 'Idempotency-Key': 'playlist-once' };
  const create = () => send(app, 'POST', '/api/playlists', { playlist: JSON.stringify(NEW) }, headers);
  expect(await create()).toEqual(await create());
});
