import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadDefinitions } from '#processing/load-definitions.ts';
import { startWorkflow } from '#processing/start-workflow.ts';
import { workerApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import type { EventJson, PublicationJson } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventFields, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { send } from '../support/series.ts';

const app = await workerApp();

const json = async <T>(path: string): Promise<T> => JSON.parse((await send(app, 'GET', path)).text) as T;
const publications = (id: string, query = '') => json<PublicationJson[]>(`/api/events/${id}/publications${query}`);
const ALL = '?includeInternalPublication=true';

/** An event with a publication that has an element of each kind. */
async function published(channel?: string) {
  const event_id = await insertEvent(app.database, { processing_state: 'SUCCEEDED' });
  const publication_id = await insertPublication(app.database, event_id, channel);
  const of = { event_id, publication_id, tags: ['engage'] };
  const bytes = Buffer.from('bytes');
  await insertElement(app.database, app.storage, bytes, { ...of, kind: 'media', duration: 10_000 });
  await insertElement(app.database, app.storage, bytes, { ...of, kind: 'attachment' });
  await insertElement(app.database, app.storage, bytes, { ...of, kind: 'metadata' });
  return { event: event_id, publication: publication_id };
}

const ELEMENT = {
  id: expect.any(String),
  mediatype: 'application/octet-stream',
  url: expect.stringMatching(/^http:\/\/inlet\.test\//),
  flavor: 'presenter/delivery',
  size: 5,
  checksum: expect.stringMatching(/^[0-9a-f]+ \(\w+\)$/),
  tags: ['engage'],
};

describe('GET /api/events/{id}/publications', () => {
  test('is an empty array for an event without publications', async () => {
    expect(await publications(await insertEvent(app.database))).toEqual([]);
  });

  test('has every field of the contract', async () => {
    const { event, publication } = await published();
    const [single, ...others] = await publications(event);
    expect(others).toEqual([]);
    expect(single).toEqual(await json(`/api/events/${event}/publications/${publication}`));
  });

  test('is 404 for an event that does not exist', async () => {
    const answer = await send(app, 'GET', '/api/events/nowhere/publications');
    expect(answer).toMatchObject({ status: 404, text: "Unable to find event with id 'nowhere'" });
  });
});

describe('GET /api/events/{id}/publications/{publication_id}', () => {
  const get = (event: string, id: string) => send(app, 'GET', `/api/events/${event}/publications/${id}`);

  test('has every field of the contract', async () => {
    const { event, publication } = await published();
    expect(JSON.parse((await get(event, publication)).text)).toMatchObject({
      id: publication,
      channel: 'engage-player',
      mediatype: 'text/html',
      url: `http://inlet.test/watch/${publication}`,
      media: [{ ...ELEMENT, has_audio: true, has_video: true, duration: 10_000, description: '' }],
      attachments: [ELEMENT],
      metadata: [ELEMENT],
    });
  });

  test('is 404 for an event that does not exist', async () => {
    const text = "Unable to find event with id 'nowhere'";
    expect(await get('nowhere', (await published()).publication)).toMatchObject({ status: 404, text });
  });

  test('is 404 for a publication that does not exist, or belongs to another event', async () => {
    const event = await insertEvent(app.database);
    for (const id of ['nothing', randomUUID(), (await published()).publication]) {
      const text = `Unable to find publication with id '${id}' in event with id '${event}'`;
      expect(await get(event, id)).toMatchObject({ status: 404, text });
    }
  });
});

/** Runs a built-in workflow on an event. */
async function run(eventId: string, workflow: string, configuration: Record<string, string> = {}) {
  const definition = (await loadDefinitions(undefined)).resolve(workflow);
  const start = { eventId, definition, configuration, creator: 'test', requestId: randomUUID() };
  await app.database.transaction().execute((trx) => startWorkflow(trx, start));
  await processEvent(app, eventId);
}

const keysOfStorage = async () => (await Array.fromAsync(app.storage.list(''))).map(({ key }) => key);

/** Objects that were stored before the event. */
let former: Set<string>;

/** Expects so many rows of the event that name an object, and no other object since, once releases are swept. */
async function expectObjects(id: string, count: number): Promise<void> {
  const { database, context } = app;
  const staged = await database.selectFrom('staging').select('object_key').execute();
  const fresh = staged.map(({ object_key }) => object_key).filter((key) => !former.has(key));
  await context.staging.discard(fresh);
  const elements = database.selectFrom('publication_elements').select('object_key').where('event_id', '=', id);
  const tracks = database.selectFrom('tracks').select('object_key').where('event_id', '=', id);
  const attachments = database.selectFrom('attachments').select('object_key').where('event_id', '=', id);
  const named = (await tracks.unionAll(elements).unionAll(attachments).execute()).map(({ object_key }) => object_key);
  const stored = (await keysOfStorage()).filter((key) => !former.has(key));
  expect(stored.sort()).toEqual(named.sort());
  expect(stored).toHaveLength(count);
}

describe('the internal publication', () => {
  const CONFIGURATION = { straightToPublishing: 'false' };
  let id: string;

  beforeAll(async () => {
    former = new Set(await keysOfStorage());
    const clip = file('presenter', 'a.mp4', await recording({ seconds: 1 }));
    id = await created(await post(app, [...eventFields({ configuration: CONFIGURATION }), clip]));
    await processEvent(app, id);
  });

  test('with straightToPublishing=false everything is prepared, and shown where the internal publication is asked for', async () => {
    expect(await json(`/api/events/${id}`)).toMatchObject({
      processing_state: 'SUCCEEDED',
      status: 'EVENTS.EVENTS.STATUS.PROCESSED',
      publication_status: ['internal'],
    });
    expect(await publications(id)).toEqual([]);
    const [internal, ...others] = await publications(id, ALL);
    expect(others).toEqual([]);
    expect(internal).toMatchObject({
      channel: 'internal',
      media: [{ mediatype: 'video/mp4' }, { mediatype: 'application/x-mpegURL', is_master_playlist: true }],
      metadata: [{ flavor: 'dublincore/episode' }],
    });
    expect(internal?.attachments).toHaveLength(3);

    const listed = async (query: string) => {
      const path = `/api/events?filter=identifier:${id}&withpublications=true${query}`;
      return (await json<EventJson[]>(path)).map((event) => event.publications);
    };
    expect(await listed('')).toEqual([[]]);
    expect(await listed('&includeInternalPublication=true')).toEqual([[internal]]);
  });

  test('is replaced under the same identifier when the workflow runs again', async () => {
    const [before] = await publications(id, ALL);
    await run(id, 'schedule-and-upload', CONFIGURATION);
    const [after, ...others] = await publications(id, ALL);
    expect(others).toEqual([]);
    expect(after?.id).toBe(before?.id);
    expect(after?.media[0]?.id).not.toBe(before?.media[0]?.id);
    await expectObjects(id, 8);
  });

  test('a later publish leaves one publication, on engage-player, and no object of the internal one', async () => {
    const [internal] = await publications(id, ALL);
    await run(id, 'publish');
    expect(await json(`/api/events/${id}`)).toMatchObject({
      processing_state: 'SUCCEEDED',
      publication_status: ['engage-player'],
    });
    const [after, ...others] = await publications(id, ALL);
    expect(others).toEqual([]);
    expect(after).toMatchObject({ channel: 'engage-player', media: [{ flavor: 'presenter/delivery' }, {}] });
    expect(after?.id).not.toBe(internal?.id);
    expect((await app.anonymous(new URL(internal?.media[0]?.url ?? '').pathname)).status).toBe(404);
    // The track; the medium, its playlist, three images and the catalog of the publication.
    await expectObjects(id, 8);
  });

  test.each([
    ['retract', (event: string) => run(event, 'retract'), 200],
    ['the deletion of the event', (event: string) => send(app, 'DELETE', `/api/events/${event}`), 404],
  ])('goes with its objects by %s', async (_name, remove, status) => {
    former = new Set(await keysOfStorage());
    const { event } = await published('internal');
    await expectObjects(event, 3);
    await remove(event);
    const answer = await send(app, 'GET', `/api/events/${event}/publications${ALL}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.text).toBe('[]');
    await expectObjects(event, 0);
  });
});
