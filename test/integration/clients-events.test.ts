import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { post } from '../support/app-uploads.ts';
import { sendForm } from '../support/event-writes.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { catalogOf, send } from '../support/series.ts';
import { guzzlePart, wireForm } from '../support/wire.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const texts = eventFields().map(({ name, content }): [string, string] => [name, String(content)]);

async function list(query: string): Promise<Record<string, unknown>[]> {
  const answer = await send(app, 'GET', `/api/events?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

async function trackCount(eventId: string): Promise<number> {
  const tracks = await app.database
    .selectFrom('tracks')
    .select('id')
    .where('event_id', '=', eventId)
    .execute();
  return tracks.length;
}

test('Guzzle gives every part of a new event its length, and Moodle expects 201', async () => {
  const { type, body } = wireForm([
    ...texts.map(([name, content]) => guzzlePart(name, content)),
    guzzlePart('presenter', 'bytes', ['a.mp4', 'Content-Type: video/mp4']),
  ]);
  const answer = await app.request('/api/events', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  const { identifier } = await answer.json();
  expect(answer.status).toBe(201);
  expect(await trackCount(identifier)).toBe(1);
});

test('clients that send every field as bytes, without a file name, are understood', async () => {
  const bytes = (part: Part): Part => ({ ...part, type: 'application/octet-stream' });
  const answer = await post(app, eventFields({ title: 'As bytes' }).map(bytes));
  expect(answer.status).toBe(201);
  const { identifier } = (await answer.json()) as { identifier: string };
  expect(await list(`filter=identifier:${identifier}`)).toMatchObject([{ title: 'As bytes' }]);
  const metadata = bytes(field('metadata', catalogOf({ title: 'Renamed' }, 'dublincore/episode')));
  expect((await sendForm(app, `/api/events/${identifier}`, [metadata])).status).toBe(204);
  expect(await list(`filter=identifier:${identifier}`)).toMatchObject([{ title: 'Renamed' }]);
});

test('fields and files that nobody asks for are ignored, and parts where no file was chosen', async () => {
  const answer = await post(app, [
    ...eventFields(),
    ...Array.from({ length: 50 }, (_, i) => field(`note-${i}`, 'x')),
    ...Array.from({ length: 20 }, () => file('presentation', '', Buffer.from(''))),
    ...Array.from({ length: 20 }, (_, i) => file('attachment', `${i}.pdf`, Buffer.from('x'))),
    file('presenter', 'a.mp4', Buffer.from('x')),
  ]);
  expect(answer.status).toBe(201);
  expect(await trackCount((await answer.json()).identifier)).toBe(1);
});

test('a recording that Guzzle sends without a file name is a field, and ignored', async () => {
  const { type, body } = wireForm(
    [...texts, ['presenter', 'bytes']].map(([n, c]) => guzzlePart(n ?? '', c ?? '')),
  );
  const answer = await app.request('/api/events', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  expect(answer.status).toBe(201);
  expect(await trackCount((await answer.json()).identifier)).toBe(0);
});

test('a web form without chosen files sends parts with an empty file name', async () => {
  const nothing = ['presenter', 'presentation', 'audio'].map((name) => file(name, '', Buffer.alloc(0)));
  const answer = await post(app, [...eventFields(), ...nothing]);
  expect(answer.status).toBe(201);
  expect(await trackCount((await answer.json()).identifier)).toBe(0);
});

test('a part that curl made a file of is not read as a field', async () => {
  const [acl, ...others] = eventFields();
  const answer = await post(app, [...others, file('acl', 'acl.json', Buffer.from(String(acl?.content)))]);
  expect([answer.status, await answer.text()]).toEqual([
    400,
    'No access control list available to create new event.',
  ]);
});

test('Moodle finds the unknown field in the sentence of the refusal', async () => {
  const answer = await post(app, eventFields({ metadata: { colour: 'red' } }));
  expect(answer.status).toBe(400);
  expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  expect(await answer.text()).toBe(
    "Cannot find a metadata field with id 'colour' from Catalog with Flavor 'dublincore/episode'.",
  );
});

test('the PHP library updates with the ACL under the name acls, which changes nothing', async () => {
  const id = await insertEvent(app.database);
  const acls = '[{"allow":true,"action":"read","role":"ROLE_X"}]';
  expect(await sendForm(app, `/api/events/${id}`, [field('acls', acls)])).toMatchObject({ status: 204 });
  expect((await send(app, 'GET', `/api/events/${id}/acl`)).text).toBe('[]');
});

test('the PHP library writes back all fields as it has read them', async () => {
  const id = await insertEvent(app.database, { title: 'Lecture', subjects: ['A', 'B'], presenters: ['Ada'] });
  const path = `/api/events/${id}/metadata?type=dublincore/episode`;
  const before = await send(app, 'GET', path);
  expect((await send(app, 'PUT', path, { metadata: before.text })).status).toBe(204);
  expect(await send(app, 'GET', path)).toEqual(before);
});

test('the first field of the metadata is a text, and catalogs have a title', async () => {
  const id = await insertEvent(app.database, { title: 'Lecture' });
  const [catalog] = JSON.parse((await send(app, 'GET', `/api/events/${id}/metadata`)).text);
  expect(catalog).toMatchObject({ flavor: 'dublincore/episode', title: catalog.label });
  expect(catalog.fields[0]).toMatchObject({ id: 'title', value: 'Lecture', type: 'text' });
});

test('subjects may be sent as the one text subject', async () => {
  const id = await insertEvent(app.database);
  const path = `/api/events/${id}/metadata?type=dublincore/episode`;
  const sent = await send(app, 'PUT', path, { metadata: '[{"id":"subject","value":"Topic"}]' });
  expect(sent.status).toBe(204);
  expect((await list(`filter=identifier:${id}`))[0]).toMatchObject({ subjects: ['Topic'] });
});

test('what was deleted is gone with 204, and 404 with its identifier the second time', async () => {
  const id = await insertEvent(app.database);
  expect((await send(app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
  expect(await send(app, 'DELETE', `/api/events/${id}`)).toMatchObject({ status: 404, text: id });
});

test('Moodle sees that a recording waits to be cut', async () => {
  const id = await insertEvent(app.database, { processing_state: 'SUCCEEDED' });
  const publication_id = await insertPublication(app.database, id, 'internal');
  const preview = { event_id: id, publication_id, kind: 'media', flavor: 'presenter/preview' } as const;
  await insertElement(app.database, app.storage, Buffer.from('x'), preview);
  expect((await list(`filter=identifier:${id}`))[0]).toMatchObject({
    status: 'EVENTS.EVENTS.STATUS.PROCESSED',
    has_previews: true,
    publication_status: ['internal'],
  });
});

test.each([
  ['PROCESSED', 'SUCCEEDED'],
  ['PROCESSING_FAILURE', 'FAILED'],
])('ILIAS and scripts filter by the whole word EVENTS.EVENTS.STATUS.%s', async (status, processing_state) => {
  const id = await insertEvent(app.database, { processing_state, title: status });
  const found = await list(`filter=status:EVENTS.EVENTS.STATUS.${status},title:${status}`);
  expect(found.map(({ identifier }) => identifier)).toEqual([id]);
});

test('Moodle filters by series and asks only for what it may write', async () => {
  const id = await insertEvent(app.database, { series_id: 'course' });
  expect(await list('filter=is_part_of:course&onlyWithWriteAccess=true')).toMatchObject([{ identifier: id }]);
});

test('durations and versions are numbers, a duration that is not known null', async () => {
  const known = await insertEvent(app.database, { duration: 30_000 });
  const unknown = await insertEvent(app.database);
  expect((await list(`filter=identifier:${known}`))[0]).toMatchObject({
    duration: 30_000,
    archive_version: 0,
  });
  expect((await list(`filter=identifier:${unknown}`))[0]).toMatchObject({ duration: null });
});

test('the player wants checksums with their algorithm, and the channel engage-player', async () => {
  const id = await insertEvent(app.database);
  const publication_id = await insertPublication(app.database, id, 'engage-player');
  await insertElement(app.database, app.storage, Buffer.from('x'), {
    event_id: id,
    publication_id,
    kind: 'media',
  });
  const [publication] = JSON.parse((await send(app, 'GET', `/api/events/${id}/publications`)).text);
  expect(publication.channel).toBe('engage-player');
  expect(publication.media[0].checksum).toMatch(/^[0-9a-f]+ \([a-z0-9]+\)$/);
});

test('the PHP library removes captions with an empty track field', async () => {
  const id = await insertEvent(app.database);
  const path = `/api/events/${id}/track`;
  const captions = file('track', 'de.vtt', Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHallo\n'));
  const tags = field('tags', 'archive,subtitle,type:subtitle,generator-type:manual,lang:de');
  const fields = [field('flavor', 'captions/source'), tags, field('overwriteExisting', 'true')];
  expect(await sendForm(app, path, [...fields, captions])).toMatchObject({ status: 200, text: '' });
  expect(await trackCount(id)).toBe(1);
  expect(await sendForm(app, path, [...fields, field('track', '')])).toMatchObject({ status: 200 });
  expect(await trackCount(id)).toBe(0);
});
