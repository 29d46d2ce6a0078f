import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { exportCommand } from '#cli/inlet/export.ts';
import { importCommand } from '#cli/inlet/import.ts';
import { ITEM_FILES, type ItemKind, itemFolder } from '#maintenance/import/folder-format.ts';
import { openFolder } from '#maintenance/import/folder-source.ts';
import { FolderStorage } from '#platform/storage/folder.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { licenseCatalog } from '../support/event-writes.ts';
import { temporaryFolder } from '../support/folders.ts';
import { eventFields, field, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { insertElement, insertEvent } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { ace, catalogsOf, createPlaylist, createSeries, send } from '../support/series.ts';
import { openUpkeep, say, type Upkeep } from '../support/upkeep.ts';

const DONE = expect.objectContaining({ code: 0 });
const CHOICE = { signal: new AbortController().signal };
const PARTS =
  'withacl=true&withmetadata=true&withpublications=true&withscheduling=true&includeInternalPublication=true';

const pathOf = (folder: string, kind: ItemKind, id: string) => join(folder, itemFolder(kind, id), ITEM_FILES[kind]);
const itemOf = async (folder: string, kind: ItemKind, id: string) =>
  JSON.parse(await readFile(pathOf(folder, kind, id), 'utf8'));
const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function exported(up: Upkeep, ...args: string[]): Promise<string> {
  const folder = await temporaryFolder();
  expect(await up.run(exportCommand, folder, ...args)).toEqual(DONE);
  return folder;
}

/** Gives a database the key of another installation. */
async function useOtherSystem({ app }: Upkeep): Promise<void> {
  await app.database
    .updateTable('nonce_key')
    .set({ key: Buffer.alloc(32, 7) })
    .execute();
}

/** A JSON with the addresses of files made equal. */
function withoutAddresses(json: object): unknown {
  const isFile = (value: object) => 'flavor' in value;
  return JSON.parse(JSON.stringify(json), (_, value) => {
    if (typeof value !== 'object' || value === null || !isFile(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'url' && name !== 'uri'));
  });
}

describe('an export', () => {
  test('has of each item the answers of the API, its files, and what the API does not say', async () => {
    const license = await licenseCatalog();
    onTestFinished(license.remove);
    const up = await openUpkeep({
      METADATA_DIR: license.dir,
      PUBLIC_URL: 'http://inlet.test',
      ADMIN_PASSWORD: 'opencast',
    });
    const { app } = up;
    const seriesId = await createSeries(app, {}, [ace('ROLE_STUDENT')]);
    await send(app, 'PUT', `/api/series/${seriesId}/properties`, { properties: '{"theme":"7"}' });
    const clip = await recording();
    const metadata = JSON.stringify([
      ...JSON.parse(catalogsOf({ 'dublincore/episode': { title: 'Über <Ringe>', isPartOf: seriesId } })),
      ...JSON.parse(catalogsOf({ 'license/episode': { licensor: 'Library', permits: ['read', 'copy'] } })),
    ]);
    const parts = eventFields({ workflow: 'schedule-and-upload' }).filter(({ name }) => name === 'processing');
    const id = await created(
      await post(app, [
        ...[field('acl', 'null'), field('metadata', metadata), ...parts, file('presenter', 'Ka mera ü.mp4', clip)],
      ]),
    );
    await processEvent(app, id);
    await app.database
      .updateTable('tracks')
      .set({ hidden_streams: ['audio'], kept_parts: '[{"begin":0,"end":1500}]' })
      .where('event_id', '=', id)
      .where('is_media', '=', true)
      .execute();
    const captions = Buffer.from('WEBVTT\n\n00:00.500 --> 00:01.000\nHello\n');
    const words = { event_id: id, kind: 'attachment', flavor: 'captions/delivery', filename: 'de.vtt' } as const;
    const { id: publication_id } = await app.database.selectFrom('publications').select('id').executeTakeFirstOrThrow();
    await insertElement(app.database, app.storage, captions, { ...words, publication_id, position: 7, track: 0 });
    await insertElement(app.database, app.storage, bytes(70), {
      ...words,
      kind: 'media',
      flavor: 'presenter/delivery',
    });
    const stored = async (data: Buffer) => {
      const object_key = objectKey('track');
      await up.put(object_key, data);
      return { object_key, size: data.length, sha256: sha256(data), id: randomUUID(), event_id: id };
    };
    const generated = { flavor: 'captions/source', filename: 'transcript.vtt', mediatype: 'text/vtt', position: 1 };
    await app.database
      .insertInto('tracks')
      .values({ ...generated, ...(await stored(captions)), made_by: 'transcribe whisper' })
      .execute();
    const preview = { flavor: 'presenter/preview', filename: 'preview.mp4', mediatype: 'video/mp4' };
    await app.database
      .insertInto('attachments')
      .values({ ...preview, ...(await stored(bytes(90))) })
      .execute();
    const document = { event_id: id, flavor: 'smil/cutting', filename: 'cut.smil', content: '<smil/>' };
    await app.database.insertInto('event_documents').values(document).execute();
    const scheduled = await insertScheduled(app.database, {
      ...{ agent_id: 'hall-1', start: '2031-05-05T08:00:00.250Z', end: '2031-05-05T09:00:00Z', inputs: ['camera'] },
    });
    const playlist = await createPlaylist(app, { entries: [{ contentId: id }] });
    const folder = await exported(up);

    for (const event of [id, scheduled]) {
      const answer = await (await app.request(`/api/events/${event}?${PARTS}`)).json();
      const media = await (await app.request(`/api/events/${event}/media`)).json();
      const { tracks, inlet, ...shown } = await itemOf(folder, 'events', event);
      expect(withoutAddresses(shown)).toEqual(withoutAddresses(answer));
      expect(withoutAddresses(tracks)).toEqual(withoutAddresses(media));
    }
    const { metadata: catalogs, properties, inlet: _, ...series } = await itemOf(folder, 'series', seriesId);
    const read = async (path: string) => (await app.request(`/api/series/${seriesId}${path}`)).json();
    expect(series).toEqual(await read('?withacl=true'));
    expect([catalogs, properties]).toEqual([await read('/metadata'), await read('/properties')]);
    expect(await itemOf(folder, 'playlists', playlist)).toEqual(
      await (await app.request(`/api/playlists/${playlist}`)).json(),
    );
    const group = 'mh_default_org_external_applications';
    expect(await itemOf(folder, 'groups', group)).toEqual(await (await app.request(`/api/groups/${group}`)).json());

    const source = await openFolder(folder);
    const events = await Array.fromAsync(source.events(CHOICE));
    expect(events.map(({ identifier }) => identifier)).toEqual([id, scheduled]);
    expect((await Array.fromAsync(source.series(CHOICE))).map(({ identifier }) => identifier)).toEqual([seriesId]);
    const [event, planned] = events;
    const isVideo = expect.objectContaining({ position: 0, filename: 'Ka mera ü.mp4', hidden_streams: ['audio'] });
    expect(event?.inlet).toMatchObject({
      ...{ own_acl: false, schedule: null, documents: [{ flavor: 'smil/cutting', content: '<smil/>' }] },
      catalogs: { 'license/episode': { licensor: 'Library', permits: ['read', 'copy'] } },
      tracks: [isVideo, expect.objectContaining({ position: 1, made_by: 'transcribe whisper' })],
      elements: expect.arrayContaining([expect.objectContaining({ filename: 'de.vtt', position: 7, track: 0 })]),
    });
    expect(planned?.inlet).toMatchObject({
      ...{ start: '2031-05-05T08:00:00.250Z', schedule: { workflow: 'schedule-and-upload', recording_state: '' } },
    });
    const tracks = await source.tracks(id);
    const files = (event?.publications ?? []).flatMap((each) => [...each.media, ...each.attachments, ...each.metadata]);
    const all = [
      ...tracks.map(({ uri, checksum, size }) => ({ url: uri, checksum, size })),
      ...files.map(({ url, checksum, size }) => ({ url, checksum, size })),
      ...[...(event?.inlet?.attachments ?? []), ...(event?.inlet?.prepared ?? [])].map((each) => ({
        ...each,
        checksum: `${each.sha256} (sha256)`,
      })),
    ];
    expect(tracks).toHaveLength(2);
    expect(all.length).toBeGreaterThan(tracks.length + 2 + 3);
    for (const { url, checksum, size } of all) {
      const opened = await source.open(url, CHOICE.signal);
      const content = Buffer.concat(await Array.fromAsync(opened.stream));
      expect([`${sha256(content)} (sha256)`, opened.size]).toEqual([checksum, size]);
    }
    const modes = await Promise.all(
      (await readdir(folder, { recursive: true })).map(async (name) => (await lstat(join(folder, name))).mode & 0o077),
    );
    expect(new Set(modes)).toEqual(new Set([0]));
  });

  test('that is repeated writes what has changed, and removes what was deleted', async () => {
    const up = await openUpkeep();
    const [kept, changed, deleted] = [await up.upload(), await up.upload(bytes(2000)), await up.upload()];
    const folder = await exported(up);
    const states = async (id: string) => {
      const path = dirname(pathOf(folder, 'events', id));
      const names = (await readdir(path)).sort();
      return Promise.all(names.map(async (name) => `${name} ${(await lstat(join(path, name))).ino}`));
    };
    const before = [await states(kept), await states(changed)];
    const stray = join(dirname(pathOf(folder, 'events', kept)), 'presenter-source-earlier.mp4');
    await writeFile(stray, '');
    await up.app.database.updateTable('events').set({ title: 'Other' }).where('id', '=', changed).execute();
    await up.delete(deleted);
    expect(await up.run(exportCommand, folder)).toEqual(DONE);
    expect(await states(kept)).toEqual(before[0]);
    const isSame = (await states(changed)).map((state, i) => state === before[1]?.[i]);
    expect(isSame).toEqual([false, true]);
    expect(await itemOf(folder, 'events', changed)).toMatchObject({ title: 'Other' });
    expect(await exists(dirname(pathOf(folder, 'events', deleted)))).toBe(false);
    expect(await Array.fromAsync((await openFolder(folder)).events(CHOICE))).toHaveLength(2);
  });

  test('that is interrupted is no source, and continues without copying files again', async () => {
    const up = await openUpkeep();
    for (let i = 1; i <= 3; i += 1) await up.upload(bytes(1000 * i));
    const folder = await temporaryFolder();
    const stop = new AbortController();
    let reads = 0;
    const { get } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(function (this: FolderStorage, ...given) {
      reads += 1;
      if (reads === 3) stop.abort(new Error('Interrupted.'));
      return get.apply(this, given);
    });
    const first = say(exportCommand, up.system, [folder, '--parallel', '1'], stop.signal);
    await expect(first).rejects.toThrow('Interrupted.');
    await expect(openFolder(folder)).rejects.toThrow('was interrupted');
    reads = 10;
    expect(await up.run(exportCommand, folder)).toEqual(DONE);
    expect(reads).toBe(11);
    expect(await Array.fromAsync((await openFolder(folder)).events(CHOICE))).toHaveLength(3);
  });

  test('is not written by two commands concurrently', async () => {
    const up = await openUpkeep();
    await up.upload();
    const folder = await temporaryFolder();
    const { get } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (this: FolderStorage, ...given) {
      await expect(up.run(exportCommand, folder)).rejects.toThrow('Another export to');
      return get.apply(this, given);
    });
    expect(await up.run(exportCommand, folder)).toEqual(DONE);
  });

  test('keeps identifiers apart that file systems do not', async () => {
    const up = await openUpkeep();
    const ids = ['a:b', 'A:B', 'con', 'CON', '...', '~x@y', '-rf', 'x'.repeat(255)];
    for (const id of ids) await insertEvent(up.app.database, { id });
    const folder = await exported(up);
    const names = (await readdir(join(folder, 'events'), { recursive: true })).filter((name) => name.includes('/'));
    const folders = [...new Set(names.map((name) => name.split('/')[1] ?? ''))];
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(ids.length);
    for (const name of folders) expect(name).toMatch(/^[a-z0-9_][a-z0-9_-]{10,96}$/);
    const source = await openFolder(folder);
    for (const id of ids) expect(await source.findEvent(id)).toMatchObject({ identifier: id });
    expect(await source.findEvent('A:b')).toBeUndefined();
  });

  test('names an item whose file is damaged, keeps its earlier state, and writes everything else', async () => {
    const up = await openUpkeep();
    const [damaged, lost, whole] = [await up.upload(bytes(1000)), await up.upload(bytes(1500)), await up.upload()];
    const folder = await exported(up);
    await up.flip(await up.trackOf(damaged));
    await up.app.storage.remove([await up.trackOf(lost)]);
    const [track] = (await readdir(dirname(pathOf(folder, 'events', damaged)))).filter((name) => /mp4$/.test(name));
    await rm(join(dirname(pathOf(folder, 'events', damaged)), track ?? ''));
    await rm(dirname(pathOf(folder, 'events', lost)), { recursive: true });
    await up.app.database.updateTable('events').set({ title: 'Other' }).execute();
    const { code, lines } = await up.run(exportCommand, folder);
    expect(code).toBe(1);
    expect(lines).toContain(`events ${damaged}: ${track}: its SHA-256 differs from that of the database`);
    expect(lines).toContainEqual(
      expect.stringMatching(`^events ${lost}: presenter-source-.*: it is not in the storage$`),
    );
    expect(lines[2]).toContain('2 of them were not written');
    expect(await itemOf(folder, 'events', whole)).toMatchObject({ title: 'Other' });
    expect(await itemOf(folder, 'events', damaged)).toMatchObject({ title: 'Lecture' });
    const unread: string[] = [];
    const onUnreadable = (id: string) => void unread.push(id);
    const events = await Array.fromAsync((await openFolder(folder)).events({ ...CHOICE, onUnreadable }));
    expect(events.map(({ identifier }) => identifier).sort()).toEqual([damaged, whole].sort());
    expect(unread).toEqual([lost]);
  });

  test('takes an event as it is after a change during the export', async () => {
    const up = await openUpkeep();
    const [gone, stays] = [await up.upload(), await up.upload()];
    const { get } = FolderStorage.prototype;
    vi.spyOn(FolderStorage.prototype, 'get').mockImplementation(async function (this: FolderStorage, ...given) {
      await up.delete(gone);
      await up.app.storage.remove([given[0]]);
      await up.app.database.deleteFrom('tracks').where('event_id', '=', stays).execute();
      return get.apply(this, given);
    });
    const folder = await exported(up);
    expect(await exists(pathOf(folder, 'events', gone))).toBe(false);
    expect(await itemOf(folder, 'events', stays)).toMatchObject({ tracks: [] });
  });

  test('has one series with its events, or what starts since a date with its series', async () => {
    const up = await openUpkeep();
    const [one, other] = [await createSeries(up.app), await createSeries(up.app)];
    const start_date = new Date('2020-01-01T00:00:00Z');
    await up.app.database.updateTable('series').set({ created: start_date }).execute();
    const old = await insertEvent(up.app.database, { series_id: one, start_date });
    const recent = await insertEvent(up.app.database, { series_id: one });
    await insertEvent(up.app.database, { series_id: other, start_date });
    const found = async (...args: string[]) => {
      const source = await openFolder(await exported(up, ...args));
      const items = [
        ...(await Array.fromAsync(source.series(CHOICE))),
        ...(await Array.fromAsync(source.events(CHOICE))),
      ];
      return items.map(({ identifier }) => identifier);
    };
    expect(await found('--series', one)).toEqual([one, old, recent]);
    expect(await found('--since', '2021-06-01')).toEqual([one, recent]);
    const source = await openFolder(await exported(up));
    const chosen = await Array.fromAsync(source.events({ ...CHOICE, seriesId: one, since: new Date('2021-06-01') }));
    expect(chosen.map(({ identifier }) => identifier)).toEqual([recent]);
    await expect(up.run(exportCommand, await temporaryFolder(), '--series', 'none')).rejects.toThrow(
      'No series has the identifier "none".',
    );
  });

  test('is another source than the export of another installation that was in its folder', async () => {
    const up = await openUpkeep();
    const folder = await exported(up);
    const { name } = await openFolder(folder);
    await rm(folder, { recursive: true });
    const other = await openUpkeep();
    await useOtherSystem(other);
    expect(await other.run(exportCommand, folder)).toEqual(DONE);
    expect((await openFolder(folder)).name).not.toBe(name);
  });

  test('refuses a folder in which it would replace something else, and other arguments', async () => {
    const up = await openUpkeep();
    const folder = await exported(up);
    await expect(up.run(exportCommand, folder, '--since', '2020-01-01')).rejects.toThrow(
      'holds an export of the whole catalogue',
    );
    const other = await openUpkeep();
    await useOtherSystem(other);
    await expect(other.run(exportCommand, folder)).rejects.toThrow('the export of another database');
    await expect(up.run(exportCommand, up.system.dataDir)).rejects.toThrow('which is not part of an export');
    await expect(up.run(exportCommand, join(folder, 'catalogue.json'))).rejects.toThrow('cannot be used as folder');
    const blocked = await temporaryFolder();
    await writeFile(join(blocked, 'groups'), '');
    await expect(up.run(exportCommand, blocked)).rejects.toThrow(/The export stopped, because .* cannot be written: /);
    await expect(up.run(exportCommand, 'https://video.example.org')).rejects.toThrow('requires --user');
    for (const args of [[], ['d', '--since', 'May'], ['d', '--parallel', '0'], ['d', '--groups'], ['d', '--user', 'a']])
      await expect(up.run(exportCommand, ...args)).rejects.toMatchObject({ name: 'CommandError' });
    await expect(openFolder(await temporaryFolder())).rejects.toThrow('holds no export');
  });

  test('lists many events in the order of their starts', async () => {
    const up = await openUpkeep();
    const count = 1000;
    await sql`INSERT INTO events (id, title, creator, start_date, created)
      SELECT 'event-' || n, 'Lecture', 'ada', '2030-01-01Z'::timestamptz - make_interval(hours => n), now()
      FROM generate_series(1, ${count}::int) AS n`.execute(up.app.database);
    const source = await openFolder(await exported(up, '--parallel', '8'));
    const ids: string[] = [];
    for await (const { identifier } of source.events(CHOICE)) ids.push(identifier);
    expect(ids).toEqual(Array.from({ length: count }, (_, i) => `event-${count - i}`));
  });
});

interface EventJson {
  tracks: object[];
  inlet: object;
}

/** Changes of the JSON of an event, and the reason why it is not read. */
const HOSTILE: [(event: EventJson) => void, string][] = [
  ...['../../../etc/passwd', '/etc/passwd', 'http://10.0.0.1/', '..', 'a/b.mp4'].map(
    (uri): [(event: EventJson) => void, string] => [
      ({ tracks: [track = {}] }) => Object.assign(track, { uri }),
      'names the file',
    ],
  ),
  [(event) => Object.assign(event, { identifier: 'other' }), 'instead of'],
  [({ inlet }) => Object.assign(inlet, { admin: true }), '`inlet`'],
  [({ inlet }) => void Reflect.deleteProperty(inlet, 'own_acl'), '`inlet.own_acl`'],
  [(event) => Object.assign(event, { tracks: 'none' }), '`tracks`'],
];

describe('the folder of an export', () => {
  test('is read for every event but those with hostile JSON', async () => {
    const up = await openUpkeep();
    const sound = await up.upload();
    const ids = await Promise.all(HOSTILE.map(() => up.upload()));
    const folder = await exported(up);
    for (const [i, [change]] of HOSTILE.entries()) {
      const event = await itemOf(folder, 'events', ids[i] ?? '');
      change(event);
      await writeFile(pathOf(folder, 'events', ids[i] ?? ''), JSON.stringify(event));
    }
    const source = await openFolder(folder);
    const unread = new Map<string, string>();
    const onUnreadable = (id: string, reason: string) => void unread.set(id, reason);
    const events = await Array.fromAsync(source.events({ ...CHOICE, onUnreadable }));
    expect(events.map(({ identifier }) => identifier)).toEqual([sound]);
    for (const [i, [, reason]] of HOSTILE.entries()) {
      const id = ids[i] ?? '';
      expect(unread.get(id)).toContain(reason);
      await expect(source.findEvent(id)).rejects.toThrow(reason);
      await expect(source.tracks(id)).rejects.toThrow(reason);
    }
  });

  test('is not left through links or addresses', async () => {
    const up = await openUpkeep();
    const id = await up.upload();
    const folder = await exported(up);
    const source = await openFolder(folder);
    const [track] = await source.tracks(id);
    const uri = track?.uri ?? '';
    const secret = join(await temporaryFolder(), 'secret.mp4');
    await writeFile(secret, 'secret');
    for (const address of [secret, `events/../${uri}`, `${dirname(uri)}/../x.mp4`, `${dirname(uri)}/event.json/..`])
      await expect(source.open(address, CHOICE.signal)).rejects.toThrow('is not a file of the export');
    await expect(source.open(`${dirname(uri)}/none.mp4`, CHOICE.signal)).rejects.toThrow('is not in the folder');
    await rm(join(folder, uri));
    await symlink(secret, join(folder, uri));
    await expect(source.open(uri, CHOICE.signal)).rejects.toThrow('Links are not followed');
    const elsewhere = join(await temporaryFolder(), 'moved');
    await rename(join(folder, dirname(uri)), elsewhere);
    await symlink(elsewhere, join(folder, dirname(uri)));
    await expect(source.findEvent(id)).rejects.toThrow('Links are not followed');
    await rm(join(folder, dirname(uri)));
    await mkdir(pathOf(folder, 'events', id), { recursive: true });
    await expect(source.findEvent(id)).rejects.toThrow('is not a regular file');
  });
});

test('an export that is imported elsewhere has equal playlists, and equal groups with --groups', async () => {
  const [up, other] = [await openUpkeep(), await openUpkeep()];
  const entries = [{ contentId: await insertEvent(up.app.database) }, { contentId: 'elsewhere' }];
  const accessControlEntries = [ace('ROLE_STUDENT'), ace('ROLE_A', 'write', false)];
  for (const [day, title] of ['Lectures', 'Über <Ringe>'].entries()) {
    const facts = { title, description: 'All', creator: 'Ada', entries, accessControlEntries };
    const id = await createPlaylist(up.app, facts);
    const updated = new Date(Date.UTC(2026, 3, 13 + day));
    await up.app.database.updateTable('playlists').set({ updated }).where('id', '=', id).execute();
  }
  await send(up.app, 'POST', '/api/groups', {
    name: 'Lab',
    description: 'Staff',
    roles: 'ROLE_STUDIO',
    members: 'ada',
  });
  const services = '/api/groups/mh_default_org_external_applications/members';
  await send(up.app, 'POST', services, { member: 'moodle' });
  const folder = await exported(up);
  const shown = async ({ app }: Upkeep, path: string) =>
    JSON.parse(await (await app.request(path)).text(), (name, value) => (Number.isInteger(value) ? name : value));
  expect(await other.run(importCommand, folder)).toEqual(DONE);
  expect(await shown(up, '/api/playlists')).toHaveLength(2);
  expect(await shown(other, '/api/playlists')).toEqual(await shown(up, '/api/playlists'));
  expect(await shown(other, '/api/groups')).toMatchObject([{ members: '' }]);
  expect(await other.run(importCommand, folder, '--groups')).toEqual(DONE);
  expect(await shown(other, '/api/groups')).toEqual(await shown(up, '/api/groups'));
  await send(up.app, 'DELETE', '/api/groups/lab', undefined);
  expect(await up.run(exportCommand, folder)).toEqual(DONE);
  expect(await other.run(importCommand, folder, '--groups')).toEqual(DONE);
  expect(await shown(other, '/api/groups')).toEqual(await shown(up, '/api/groups'));
});

test('an export of one series that replaces a whole one in its folder has nothing deleted where it is imported', async () => {
  const [up, other] = [await openUpkeep(), await openUpkeep()];
  const [one, another] = [await createSeries(up.app), await createSeries(up.app)];
  const folder = await exported(up);
  expect(await other.run(importCommand, folder)).toEqual(DONE);
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
  expect(await up.run(exportCommand, folder, '--series', one)).toEqual(DONE);
  expect(await other.run(importCommand, folder)).toEqual(DONE);
  for (const id of [one, another]) expect((await other.app.request(`/api/series/${id}`)).status).toBe(200);
});
