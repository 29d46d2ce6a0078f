import { describe, expect, test } from 'vitest';
import { routerPath } from '#platform/http/endpoint/rules.ts';
import { workerApp } from '../support/app.ts';
import { DocumentedClient } from '../support/documented-client.ts';
import { AREAS, checkAnswer, DOCUMENT } from '../support/openapi.ts';
import { insertEvent } from '../support/publication.ts';
import { unlessBusy } from '../support/readiness.ts';
import { createSeries } from '../support/series.ts';

const app = await workerApp();

test('the document has every endpoint of the API, and no other', () => {
  const documented = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${routerPath(path)}`),
  );
  const routes = app.routes
    // Beside launches, which are pages, the document has what recorders ask.
    .filter(({ method, path }) => method !== 'ALL' && (AREAS.test(path) || `${method} ${path}` === 'GET /lti'))
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(documented)].sort()).toEqual([...new Set(routes)].sort());
});

test('the API hands out the document that its schemas make, with its own address', async () => {
  const served = await (await app.request('/api/openapi.json')).json();
  expect(served).toEqual({ ...DOCUMENT, servers: [{ url: 'http://inlet.test' }] });
});

describe('a client that knows nothing but the document and its examples', () => {
  const client = new DocumentedClient((path, init) => app.request(path, init));
  const expectAll = async (status: number, operations: string[], path: Record<string, string>) => {
    for (const operation of operations) {
      // Updating an event is an upload; what it may say of scheduling has tests of its own.
      const answer = await client.call(operation, { path, without: 'scheduling' });
      expect([operation, answer.status]).toEqual([operation, status]);
    }
  };
  const each = (operation: string, parts: string[]) => parts.map((part) => operation + part);

  test('creates, reads, updates and deletes an event', async () => {
    const { identifier } = (await client.call('postEvents')).json as { identifier: string };
    const event = { event_id: identifier };
    expect((await client.call('getEventsEventId', { path: event })).json).toMatchObject({ identifier });
    // Its access control list cannot be changed while it is being processed.
    const row = app.database.updateTable('events').where('id', '=', identifier);
    await row.set({ processing_state: 'SUCCEEDED' }).execute();
    const changes = ['postEventsEventId', ...each('putEventsEventId', ['Metadata', 'Acl'])];
    await expectAll(204, [...changes, 'postEventsEventIdAclAction', 'deleteEventsEventIdAclActionRole'], event);
    await expectAll(200, each('getEventsEventId', ['Metadata', 'Acl', 'Media', 'Publications']), event);
    await expectAll(204, ['deleteEventsEventId'], event);
    await expectAll(404, ['getEventsEventId'], event);
  });

  test('creates, reads, updates and deletes a series', async () => {
    const { identifier } = (await client.call('postSeries')).json as { identifier: string };
    const series = { series_id: identifier };
    const parts = ['', 'Metadata', 'Acl', 'Properties'];
    await expectAll(200, [...each('putSeriesSeriesId', parts), ...each('getSeriesSeriesId', parts)], series);
    expect((await client.call('getSeriesSeriesIdAcl', { path: series })).json).toEqual(
      JSON.parse(client.example('putSeriesSeriesIdAcl').acl ?? ''),
    );
    await expectAll(204, ['deleteSeriesSeriesId'], series);
  });

  const requests = Object.values(DOCUMENT.paths).flatMap((operations) => Object.values(operations));
  const required = requests.flatMap(({ operationId, requestBody }) => {
    const [media] = Object.values(requestBody?.content ?? {});
    return ((media?.schema.required ?? []) as string[]).map((field) => [operationId, field] as const);
  });
  test.each(required)('%s is refused without %s', async (operation, without) => {
    const path = { event_id: await insertEvent(app.database), series_id: await createSeries(app) };
    expect((await client.call(operation, { path, without })).status).toBe(400);
  });

  // Nothing runs here that would be ready, and an agent without conflicts gets 204.
  const others = ['/health/ready', '/recordings/conflicts.json', '/recordings/conflicts.xml'];
  const lists = Object.entries(DOCUMENT.paths).flatMap(([path, { get }]) =>
    get && !path.includes('{') && !others.includes(path) ? [get.operationId] : [],
  );
  test.each(lists)('%s answers in every version it has', async (operation) => {
    for (const type of client.mediaTypes(operation)) {
      const answer = await unlessBusy(() => client.call(operation, { accept: type, query: true }));
      expect([answer.status, answer.type], operation).toEqual([200, type]);
    }
  });
});

describe('the check of every answer in tests', () => {
  const EVENT = DOCUMENT.paths['/api/events/{event_id}']?.get?.responses['200']?.content?.['application/v1.11.0+json']
    ?.example as Record<string, unknown>;
  const check = (body: object | string, { status = 200, version = '1.11.0', headers = {} } = {}) => {
    const all = { 'Content-Type': `application/v${version}+json`, ETag: '"a"', ...headers };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return checkAnswer('GET', '/api/events/x', new Response(text, { status, headers: all }));
  };

  test('an answer that is as documented passes', async () => {
    await check(EVENT);
    const { language, rightsholder, license, is_part_of, series, source, status, duration, ...old } = EVENT;
    await check(old, { version: '1.0.0' });
  });

  const otherType = { headers: { 'Content-Type': 'application/json' } };
  test.each([
    ['a field that is not documented', () => check({ ...EVENT, colour: 'blue' })],
    ['a field of another type', () => check({ ...EVENT, duration: '5' })],
    ['a missing field', () => check({ ...EVENT, title: undefined })],
    ['a missing field that came later', () => check({ ...EVENT, license: undefined })],
    ['a field that the version does not have', () => check(EVENT, { version: '1.0.0' })],
    ['another media type', () => check(EVENT, otherType)],
    ['a missing header', () => checkAnswer('GET', '/api/events/x', new Response(null, { status: 200 }))],
    ['a status that is not documented', () => check('', { status: 418 })],
    ['a refusal as JSON', () => check('{}', { status: 404 })],
    ['a body where there is none', () => checkAnswer('DELETE', '/api/events/x', Response.json({}))],
    ['a path that is not documented', () => checkAnswer('GET', '/api/nothing', Response.json({}))],
  ])('%s fails', async (_fault, checking) => {
    await expect(checking()).rejects.toThrow('which the OpenAPI document does not allow');
  });
});
