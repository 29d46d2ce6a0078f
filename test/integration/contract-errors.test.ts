import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNSERVED } from '../../src/access/roles/unserved.ts';
import { REFERENCE } from '../../src/endpoints.ts';
import type { Rule } from '../../src/http/endpoint/rules.ts';
import { API_VERSIONS, atLeast } from '../../src/http/version.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createSeries, send } from '../support/series.ts';

let app: TestApp;
let outsider: { Authorization: string };
beforeAll(async () => {
  app = await createTestApp();
  outsider = { Authorization: await app.account('outsider', 'ROLE_API_SERIES_VIEW') };
  await createSeries(app, { identifier: 'course' });
});
afterAll(() => app?.close());

test.each<[number, string, string, Record<string, string> | undefined]>([
  [400, 'POST', '/api/series', {}],
  [400, 'PUT', '/api/series/course/metadata?type=dublincore/series', { metadata: '[' }],
  [403, 'DELETE', '/api/series/course/metadata?type=dublincore/series', undefined],
  [404, 'GET', '/api/series/nowhere', undefined],
  [404, 'GET', '/api/events/nowhere/acl', undefined],
  [404, 'GET', '/api/nowhere', undefined],
  [405, 'PUT', '/api/events', {}],
])('an error is a bare sentence in plain text: %i for %s %s', async (status, method, path, fields) => {
  for (const version of ['1.0.0', '1.11.0']) {
    const answer = await send(app, method, path, fields, { Accept: `application/v${version}+json` });
    expect(answer).toMatchObject({ status, type: 'text/plain; charset=utf-8' });
    expect(answer.text).toMatch(/^[A-Z][^{}]+/);
  }
});

test('403 is for whoever lacks the role of the URL, 401 for whoever is not known', async () => {
  expect((await send(app, 'POST', '/api/series', {}, outsider)).status).toBe(403);
  expect((await app.anonymous('/api/series', { method: 'POST' })).status).toBe(401);
});

const later = [...REFERENCE.flatMap(({ endpoints }): readonly Rule[] => endpoints), ...UNSERVED].flatMap(
  ({ method, path, since }) => (since ? [[method.toUpperCase(), path, since] as const] : []),
);

test.each(later)('%s %s is 406 before %s', async (method, path, since) => {
  for (const version of API_VERSIONS) {
    const headers = { Accept: `application/v${version}+json` };
    const { status } = await app.request(path.replaceAll(/\{\w+\}/g, 'some'), { method, headers });
    expect([version, status === 406]).toEqual([version, !atLeast(version, since)]);
  }
});
