import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file, form } from '../support/form.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

test('an event, its ACL, its track and its workflow are written together, and nothing stays staged', async () => {
  const clip = await recording({ seconds: 1 });
  const acl = [
    { role: 'ROLE_A', action: 'read' },
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ];
  const answer = await post(
    app,
    [
      ...eventFields({ acl, metadata: { creator: ['Ada'] }, configuration: { flagForReview: 'true' } }),
      file('presenter', 'lecture.txt', clip),
    ],
    { 'X-Request-Id': 'request-1' },
  );
  const id = await created(answer);
  expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${id}`);

  const { database } = app;
  const event = database.selectFrom('events').selectAll().where('id', '=', id);
  expect(await event.executeTakeFirstOrThrow()).toMatchObject({
    title: 'Lecture',
    presenters: ['Ada'],
    creator: 'Administrator',
    processing_state: 'INSTANTIATED',
  });
  const entries = database.selectFrom('event_acl').select(['role', 'action', 'allow']);
  expect(await entries.where('event_id', '=', id).orderBy('position').execute()).toEqual([
    { role: 'ROLE_A', action: 'read', allow: true },
    { role: 'ROLE_A', action: 'write', allow: true },
  ]);
  const tracks = await database.selectFrom('tracks').selectAll().where('event_id', '=', id).execute();
  expect(tracks).toMatchObject([
    // The bytes say what it is, not its name.
    {
      mediatype: 'video/mp4',
      filename: 'lecture.txt',
      size: clip.length,
      sha256: sha256(clip),
      duration: null,
    },
  ]);
  expect(await app.storage.size(tracks[0]?.object_key ?? '')).toBe(clip.length);
  const operations = await database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_id')
    .select(['operation', 'workflow_operations.state', 'request_id'])
    .where('event_id', '=', id)
    .orderBy('position')
    .execute();
  expect(operations.map(({ operation, state }) => `${operation} ${state}`)).toEqual([
    'inspect ready',
    'cut waiting',
    'encode waiting',
    'preview waiting',
    'captions waiting',
    'pause waiting',
    'publish waiting',
    'publish skipped',
  ]);
  expect(operations[0]?.request_id).toBe('request-1');
  expect((await counts(app)).staged).toBe(0);
});

test('of two uploads with the same identifier one wins, and nothing of the other stays', async () => {
  const parts = [
    ...eventFields({ metadata: { identifier: 'chosen' } }),
    file('presenter', 'a.mp4', bytes(100_000)),
  ];
  const before = await counts(app);
  const answers = await Promise.all([post(app, parts), post(app, parts)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(await refused?.text()).toBe("An event with the identifier 'chosen' exists already.");
  expect(await counts(app)).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
});

test('a series gives the event its title in answers', async () => {
  await app.database.insertInto('series').values({ id: 'course', title: 'Course 1' }).execute();
  const id = await created(await post(app, eventFields({ metadata: { isPartOf: 'course' } })));
  const event = await (await app.request(`/api/events/${id}`)).json();
  expect(event).toMatchObject({ is_part_of: 'course', series: 'Course 1' });
});

test('the body may come in pieces of any size', async () => {
  const content = bytes(5000);
  const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', content)]);
  for (const size of [1, 7, 1000]) {
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
      body.subarray(i * size, (i + 1) * size),
    );
    const answer = await app.request('/api/events', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: Readable.toWeb(Readable.from(pieces)) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    const id = await created(answer);
    const track = app.database.selectFrom('tracks').select('sha256').where('event_id', '=', id);
    expect(await track.executeTakeFirst()).toEqual({ sha256: sha256(content) });
  }
});
