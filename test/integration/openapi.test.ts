import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routerPath } from '../../src/http/endpoint/rules.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { DocumentedClient } from '../support/documented-client.ts';
import { AREAS, DOCUMENT } from '../support/openapi.ts';
import { insertEvent } from '../support/publication.ts';
import { unlessBusy } from '../support/readiness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

test('the document has every endpoint of the API, and no other', () => {
  const documented = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${routerPath(path)}`),
  );
  const routes = app.routes
    .filter(({ method, path }) => method !== 'ALL' && AREAS.test(path))
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(documented)].sort()).toEqual([...new Set(routes)].sort());
});

test('the API hands out the document that its schemas make, with its own address', async () => {
  const served = await (await app.request('/api/openapi.json')).json();
  expect(served).toEqual({ ...DOCUMENT, servers: [{ url: 'http://inlet.test' }] });
});

describe('a client that knows nothing but the document and its examples', () => {
  const client = () => new DocumentedClient((path, init) => app.request(path, init));

  test('creates, reads, updates and deletes an event', async () => {
    const { identifier } = (await client().call('postEvents')).json as { identifier: string };
    const event = { event_id: identifier };
    expect((await client().call('getEventsEventId', { path: event })).json).toMatchObject({ identifier });
    // Its access control list cannot be changed while it is being processed.
    await app.database.updateTable('events').set({ processing_state: 'SUCCEEDED' }).execute();
    for (const part of ['', 'Metadata', 'Acl']) {
      const operation = `${part === '' ? 'post' : 'put'}EventsEventId${part}`;
      // It is an upload; what it may say of scheduling has tests of its own.
      const call = { path: event, without: 'scheduling' };
      expect((await client().call(operation, call)).status, operation).toBe(204);
    }
    for (const operation of ['postEventsEventIdAclAction', 'deleteEventsEventIdAclActionRole']) {
      expect((await client().call(operation, { path: event })).status, operation).toBe(204);
    }
    for (const part of ['Metadata', 'Acl', 'Media', 'Publications']) {
      const operation = `getEventsEventId${part}`;
      expect((await client().call(operation, { path: event })).status, operation).toBe(200);
    }
    expect((await client().call('deleteEventsEventId', { path: event })).status).toBe(204);
    expect((await client().call('getEventsEventId', { path: event })).status).toBe(404);
  });

  test('creates, reads, updates and deletes a series', async () => {
    const { identifier } = (await client().call('postSeries')).json as { identifier: string };
    const series = { series_id: identifier };
    const changes = ['', 'Metadata', 'Acl', 'Properties'].map((part) => `putSeriesSeriesId${part}`);
    for (const operation of changes) {
      expect((await client().call(operation, { path: series })).status, operation).toBe(200);
    }
    for (const part of ['', 'Metadata', 'Acl', 'Properties']) {
      const operation = `getSeriesSeriesId${part}`;
      expect((await client().call(operation, { path: series })).status, operation).toBe(200);
    }
    expect((await client().call('getSeriesSeriesIdAcl', { path: series })).json).toEqual(
      JSON.parse(client().example('putSeriesSeriesIdAcl').acl ?? ''),
    );
    expect((await client().call('deleteSeriesSeriesId', { path: series })).status).toBe(204);
  });

  test.each(
    Object.values(DOCUMENT.paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ operationId, requestBody }) => {
        const [media] = Object.values(requestBody?.content ?? {});
        const required = (media?.schema.required ?? []) as string[];
        return required.map((field) => [operationId, field] as const);
      }),
  )('%s is refused without %s', async (operation, without) => {
    const path = { event_id: await insertEvent(app.database), series_id: await newSeries() };
    expect((await client().call(operation, { path, without })).status).toBe(400);
  });

  async function newSeries(): Promise<string> {
    return ((await client().call('postSeries')).json as { identifier: string }).identifier;
  }

  test.each(
    Object.entries(DOCUMENT.paths)
      .filter(([path, { get }]) => get && !path.includes('{') && path !== '/health/ready')
      .map(([, { get }]) => get?.operationId ?? ''),
  )('%s answers in every version it has', async (operation) => {
    for (const type of client().mediaTypes(operation)) {
      const answer = await unlessBusy(() => client().call(operation, { accept: type, query: true }));
      expect([answer.status, answer.type], operation).toEqual([200, type]);
    }
  });
});
