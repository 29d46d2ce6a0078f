import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadDefinitions } from '../../src/workflows/definitions.ts';
import { startWorkflow } from '../../src/workflows/start.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import type { EventJson, PublicationJson } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';

const CONFIGURATION = { straightToPublishing: 'false' };

let app: TestApp;
let id: string;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  const parts = [...eventFields({ configuration: CONFIGURATION }), file('presenter', 'a.mp4', await clip())];
  id = await created(await post(app, parts));
  await processEvent(app, id);
});
afterEach(remove);

const clip = () => recording({ seconds: 1 });
const json = async <T>(path: string): Promise<T> => (await (await app.request(path)).json()) as T;
const event = () => json<EventJson>(`/api/events/${id}`);
const publications = (query = '') => json<PublicationJson[]>(`/api/events/${id}/publications${query}`);
const ALL = '?includeInternalPublication=true';

function remove(): Promise<Response> {
  return app.request(`/api/events/${id}`, { method: 'DELETE' });
}

/** Runs a built-in workflow on the event. */
async function run(workflow: string, configuration: Record<string, string> = {}): Promise<void> {
  const definition = (await loadDefinitions(undefined)).resolve(workflow);
  const start = { eventId: id, definition, configuration, creator: 'test', requestId: randomUUID() };
  await app.database.transaction().execute((trx) => startWorkflow(trx, start));
  await processEvent(app, id);
}

/** Expects so many rows that name an object, and no object beside theirs once what was released is swept. */
async function expectObjects(count: number): Promise<void> {
  const { database, storage, context } = app;
  const staged = await database.selectFrom('staging').select('object_key').execute();
  await context.staging.discard(staged.map(({ object_key }) => object_key));
  const named = await database
    .selectFrom('tracks')
    .select('object_key')
    .unionAll(database.selectFrom('publication_elements').select('object_key'))
    .execute();
  const stored = await Array.fromAsync(storage.list(''));
  expect(stored.map(({ key }) => key).sort()).toEqual(named.map(({ object_key }) => object_key).sort());
  expect(stored).toHaveLength(count);
}

test('with straightToPublishing=false everything is prepared, and shown where the internal publication is asked for', async () => {
  expect(await event()).toMatchObject({
    processing_state: 'SUCCEEDED',
    status: 'EVENTS.EVENTS.STATUS.PROCESSED',
    publication_status: ['internal'],
  });
  expect(await publications()).toEqual([]);
  const [internal, ...others] = await publications(ALL);
  expect(others).toEqual([]);
  expect(internal).toMatchObject({
    channel: 'internal',
    media: [{ flavor: 'presenter/delivery' }],
    metadata: [{ flavor: 'dublincore/episode' }],
  });
  expect(internal?.attachments).toHaveLength(3);

  const listed = async (query: string) => {
    const [first] = await json<EventJson[]>(
      `/api/events?filter=identifier:${id}&withpublications=true${query}`,
    );
    return first?.publications;
  };
  expect(await listed('')).toEqual([]);
  expect(await listed('&includeInternalPublication=true')).toEqual([internal]);
});

test('a later publish leaves one publication, on engage-player, and no object of the internal one', async () => {
  const [internal] = await publications(ALL);
  await run('publish');
  expect(await event()).toMatchObject({
    processing_state: 'SUCCEEDED',
    publication_status: ['engage-player'],
  });
  const [published, ...others] = await publications(ALL);
  expect(others).toEqual([]);
  expect(published).toMatchObject({ channel: 'engage-player', media: [{ flavor: 'presenter/delivery' }] });
  expect(published?.id).not.toBe(internal?.id);
  expect((await app.anonymous(new URL(internal?.media[0]?.url ?? '').pathname)).status).toBe(404);
  // The track; the medium, three images and the catalog of the publication.
  await expectObjects(6);
});

test('running it again replaces what is internal, under the same identifier', async () => {
  const [before] = await publications(ALL);
  await run('schedule-and-upload', CONFIGURATION);
  const [after, ...others] = await publications(ALL);
  expect(others).toEqual([]);
  expect(after?.id).toBe(before?.id);
  expect(after?.media[0]?.id).not.toBe(before?.media[0]?.id);
  await expectObjects(6);
});

test('retract removes it with its objects', async () => {
  await run('retract');
  expect(await event()).toMatchObject({ processing_state: 'SUCCEEDED', publication_status: [] });
  expect(await publications(ALL)).toEqual([]);
  await expectObjects(1);
});

test('deleting the event removes it with its objects', async () => {
  expect((await remove()).status).toBe(204);
  await expectObjects(0);
});
