import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { catalogOf, createSeries, send } from '../support/series.ts';
import { guzzlePart, wireForm } from '../support/wire.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

test('scripts send new series as multipart forms, Guzzle with the length of every part', async () => {
  const { type, body } = wireForm([
    guzzlePart('metadata', catalogOf({ title: 'Course' })),
    guzzlePart('acl', '[]'),
    guzzlePart('theme', ''),
  ]);
  const answer = await app.request('/api/series', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
  expect(answer.status).toBe(201);
  const { identifier } = await answer.json();
  expect((await send(app, 'GET', `/api/series/${identifier}/properties`)).text).toBe('{}');
});

test('scripts leave createdBy out, since it is refused', async () => {
  const metadata = catalogOf({ title: 'Course', createdBy: 'ada' });
  expect(await send(app, 'POST', '/api/series', { metadata, acl: '[]' })).toMatchObject({
    status: 400,
    text: "Cannot find a metadata field with id 'createdBy' from Catalog with Flavor 'dublincore/series'.",
  });
});

test('the PHP library empties subject and creator', async () => {
  const id = await createSeries(app, { subjects: ['Maths'], creator: ['Faculty'] });
  const metadata = '[{"id":"subject","value":""},{"id":"creator","value":[]}]';
  const path = `/api/series/${id}/metadata?type=dublincore/series`;
  expect((await send(app, 'PUT', path, { metadata })).status).toBe(200);
  expect(JSON.parse((await send(app, 'GET', `/api/series/${id}`)).text)).toMatchObject({
    subjects: [],
    organizers: [],
    title: 'Mathematics',
  });
});

test.each(['title', 'label'])('PUT /api/series/{id} takes catalogs that carry a %s', async (key) => {
  const id = await createSeries(app);
  const fields = [{ id: 'description', value: 'On numbers' }];
  const metadata = JSON.stringify([{ [key]: 'Series', flavor: 'dublincore/series', fields }]);
  expect((await send(app, 'PUT', `/api/series/${id}`, { metadata })).status).toBe(200);
  expect(JSON.parse((await send(app, 'GET', `/api/series/${id}`)).text)).toMatchObject({
    title: 'Mathematics',
    description: 'On numbers',
  });
});

test('the PHP library empties the ACL of a series', async () => {
  const id = await createSeries(app);
  expect(await send(app, 'PUT', `/api/series/${id}/acl`, { acl: '[]' })).toMatchObject({
    status: 200,
    text: '[]',
  });
});

test.each([20, 100, 1000])('clients page through series with a limit of %i', async (limit) => {
  const answer = await send(app, 'GET', `/api/series?limit=${limit}&offset=0`);
  expect(answer.status, answer.text).toBe(200);
});
