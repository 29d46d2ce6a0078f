import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const ROLES = ['VIEW', 'CREATE', 'EDIT', 'DELETE'].map((right) => `ROLE_API_SERIES_${right}`);

let app: TestApp;
let ada: { Authorization: string };
let bob: { Authorization: string };
beforeAll(async () => {
  app = await createTestApp();
  ada = { Authorization: await app.account('ada', ...ROLES, 'ROLE_ADA') };
  bob = { Authorization: await app.account('bob', ...ROLES, 'ROLE_BOB') };
});
afterAll(() => app?.close());

const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(app, 'POST', '/api/series', fields, headers);

async function read(id: string, query = '', headers: Record<string, string> = {}) {
  const answer = await send(app, 'GET', `/api/series/${id}${query}`, undefined, headers);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text) as Record<string, unknown>;
}

test('GET /api/series/{id} has every field of the contract', async () => {
  const values = {
    title: 'Mathematics',
    description: 'On numbers',
    subjects: ['Maths', 'Logic, formal'],
    language: 'deu',
    rightsHolder: 'The university',
    license: 'CC-BY',
    creator: ['Faculty'],
    contributor: ['Ada L.', 'Charles B.'],
    publisher: ['Press'],
  };
  const answer = await post({ metadata: catalogOf(values), acl: JSON.stringify([ace('ROLE_ADA')]) }, ada);
  const { identifier } = JSON.parse(answer.text) as { identifier: string };
  const series = await read(identifier, '', ada);
  expect(series).toEqual({
    identifier,
    title: 'Mathematics',
    description: 'On numbers',
    creator: 'ada',
    created: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
    subjects: ['Maths', 'Logic, formal'],
    contributors: ['Ada L.', 'Charles B.'],
    organizers: ['Faculty'],
    publishers: ['Press'],
    language: 'deu',
    license: 'CC-BY',
    rightsholder: 'The university',
    organization: 'mh_default_org',
    opt_out: false,
  });
  expect(Math.abs(Date.now() - Date.parse(String(series.created)))).toBeLessThan(60_000);
});

test('GET /api/series/{id} leaves out what its version does not have', async () => {
  const id = await createSeries(app);
  const fields = (version: string) =>
    read(id, '?withacl=true', { Accept: `application/v${version}+json` }).then(Object.keys);
  const first = await fields('1.0.0');
  expect(first).toContain('description');
  for (const name of ['language', 'license', 'rightsholder', 'acl']) expect(first).not.toContain(name);
  expect(await fields('1.4.0')).toEqual(expect.arrayContaining(['language', 'license', 'rightsholder']));
  expect(await fields('1.4.0')).not.toContain('acl');
  expect(await fields('1.5.0')).toContain('acl');
});

test('GET /api/series/{id}?withacl=true has the ACL', async () => {
  const acl = [ace('ROLE_B'), ace('ROLE_A', 'write'), ace('ROLE_A', 'annotate', false)];
  const id = await createSeries(app, {}, acl);
  expect((await read(id, '?withacl=true')).acl).toEqual(acl);
  expect(await read(id, '?withacl=1')).not.toHaveProperty('acl');
});

test('GET /api/series/{id} answers 304 to a client that has it already', async () => {
  const id = await createSeries(app);
  const first = await app.request(`/api/series/${id}`);
  const again = await app.request(`/api/series/${id}`, {
    headers: { 'If-None-Match': first.headers.get('ETag') ?? '' },
  });
  expect(again.status).toBe(304);
});

test.each(['GET', 'DELETE'])('%s of an unknown series is 404', async (method) => {
  const article = method === 'GET' ? 'an' : 'a';
  expect(await send(app, method, '/api/series/nobody')).toMatchObject({
    status: 404,
    type: 'text/plain; charset=utf-8',
    text: `Cannot find ${article} series with id 'nobody'.`,
  });
});

test('DELETE needs the right to write; without the right to read there is no such series', async () => {
  const id = await createSeries(app, {}, [ace('ROLE_ADA'), ace('ROLE_ADA', 'write', false)]);
  const remove = (headers: Record<string, string>) =>
    send(app, 'DELETE', `/api/series/${id}`, undefined, headers);
  expect(await remove(ada)).toMatchObject({ status: 401, text: 'unauthorized' });
  expect(await remove(bob)).toMatchObject({ status: 404, text: `Cannot find a series with id '${id}'.` });
  await read(id);
});

test('events of a deleted series keep its identifier and lose its title and rights', async () => {
  const id = await createSeries(app, {}, [ace('ROLE_ADA'), ace('ROLE_ADA', 'write')]);
  const eventId = await insertEvent(app.database, { series_id: id });
  const viewer = { Authorization: await app.account('viewer', 'ROLE_API_EVENTS_VIEW', 'ROLE_ADA') };
  const event = (headers = {}) => send(app, 'GET', `/api/events/${eventId}`, undefined, headers);
  expect((await event(viewer)).status).toBe(200);
  const answer = await send(app, 'DELETE', `/api/series/${id}`, undefined, ada);
  expect(answer).toMatchObject({ status: 204, text: '' });
  expect((await send(app, 'DELETE', `/api/series/${id}`)).status).toBe(404);
  expect(JSON.parse((await event()).text)).toMatchObject({ is_part_of: id, series: '' });
  expect((await event(viewer)).status).toBe(404);
});
