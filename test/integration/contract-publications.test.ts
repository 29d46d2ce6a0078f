import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { send } from '../support/series.ts';

let app: TestApp;
let event: string;
let publication: string;
beforeAll(async () => {
  app = await createTestApp();
  event = await insertEvent(app.database);
  publication = await insertPublication(app.database, event);
  for (const kind of ['media', 'attachment', 'metadata'] as const) {
    await insertElement(app.database, app.storage, Buffer.from('bytes'), {
      event_id: event,
      publication_id: publication,
      kind,
      tags: ['engage'],
      ...(kind === 'media' && { duration: 10_000 }),
    });
  }
});
afterAll(() => app?.close());

const json = async (path: string) => JSON.parse((await send(app, 'GET', path)).text);

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
    expect(await json(`/api/events/${await insertEvent(app.database)}/publications`)).toEqual([]);
  });

  test('has every field of the contract', async () => {
    expect(await json(`/api/events/${event}/publications`)).toMatchObject([
      {
        id: publication,
        channel: 'engage-player',
        mediatype: 'text/html',
        url: `http://inlet.test/watch/${publication}`,
      },
    ]);
  });

  test('is 404 for an event that does not exist', async () => {
    expect(await send(app, 'GET', '/api/events/nowhere/publications')).toMatchObject({
      status: 404,
      text: "Unable to find event with id 'nowhere'",
    });
  });
});

describe('GET /api/events/{id}/publications/{publication_id}', () => {
  test('has every field of the contract', async () => {
    const single = await json(`/api/events/${event}/publications/${publication}`);
    expect(single).toMatchObject({
      id: publication,
      channel: 'engage-player',
      mediatype: 'text/html',
      url: `http://inlet.test/watch/${publication}`,
      media: [{ ...ELEMENT, has_audio: true, has_video: true, duration: 10_000, description: '' }],
      attachments: [ELEMENT],
      metadata: [ELEMENT],
    });
    expect([single]).toEqual(await json(`/api/events/${event}/publications`));
  });

  test('is 404 for an event that does not exist', async () => {
    expect(await send(app, 'GET', `/api/events/nowhere/publications/${publication}`)).toMatchObject({
      status: 404,
      text: "Unable to find event with id 'nowhere'",
    });
  });

  test('is 404 for a publication that does not exist, or belongs to another event', async () => {
    const other = await insertPublication(app.database, await insertEvent(app.database));
    for (const id of ['nothing', randomUUID(), other]) {
      expect(await send(app, 'GET', `/api/events/${event}/publications/${id}`)).toMatchObject({
        status: 404,
        text: `Unable to find publication with id '${id}' in event with id '${event}'`,
      });
    }
  });
});
