import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UNIMPLEMENTED_ROUTES } from '#access/roles/api-roles.ts';
import { REFERENCE } from '#app/routes.ts';
import { API_VERSIONS, atLeast } from '#platform/http/answer/version.ts';
import type { Rule } from '#platform/http/endpoint/rules.ts';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertEvent, insertPublication } from '../support/publication.ts';
import { ace, createSeries, send } from '../support/series.ts';

const app = await ownApp();

async function read(path: string, version = '1.11.0') {
  const answer = await send(app, 'GET', path, undefined, { Accept: `application/v${version}+json` });
  expect(answer, answer.text).toMatchObject({ status: 200, type: `application/v${version}+json` });
  return JSON.parse(answer.text);
}

async function list(query: string, headers: Record<string, string> = {}): Promise<string[]> {
  const { status, text } = await send(app, 'GET', `/api/events?${query}`, undefined, headers);
  expect(status, text).toBe(200);
  return JSON.parse(text).map(({ identifier }: { identifier: string }) => identifier);
}

/** An account that may read events, and sees those that its roles open. */
const viewer = async (...roles: string[]) => ({
  Authorization: await app.account(`viewer-${randomUUID()}`, 'ROLE_API_EVENTS_VIEW', ...roles),
});

/** Events of a series that holds no others, by the last parts of their identifiers and their days. */
async function inSeries(days: Record<string, number>) {
  const series_id = randomUUID();
  for (const [name, day] of Object.entries(days)) {
    const start_date = new Date(Date.UTC(2026, 0, day));
    await insertEvent(app.database, { id: `${series_id}-${name}`, series_id, start_date });
  }
  const listed = async (query = '') => {
    const ids = await list(`filter=series:${series_id}${query}`);
    return ids.map((id) => id.slice(series_id.length + 1));
  };
  return { series_id, listed };
}

/** An event with something in every field, and how the contract shows it. */
async function fullEvent() {
  const id = randomUUID();
  const series_id = await createSeries(app, { title: 'Algebra' });
  const texts = { title: 'Groups', description: 'On symmetry', location: 'Hall 1', source: 'Tape 7' };
  const same = { ...texts, subjects: ['Maths', 'Symmetry'], language: 'deu', license: 'CC-BY' };
  const facts = { creator: 'Video team', duration: 5_400_000, archive_version: 3 };
  await insertEvent(app.database, {
    id,
    ...same,
    ...facts,
    presenters: ['Emmy N.'],
    contributors: ['Camera team'],
    rights_holder: 'The university',
    series_id,
    start_date: new Date('2026-04-13T08:15:30Z'),
    created: new Date('2026-04-12T10:00:00Z'),
    processing_state: 'SUCCEEDED',
  });
  await insertPublication(app.database, id);
  await giveAcl(app, id, [ace('ROLE_STUDENT')]);
  const shown = {
    ...same,
    ...facts,
    contributor: ['Camera team'],
    created: '2026-04-12T10:00:00Z',
    has_previews: false,
    identifier: id,
    is_part_of: series_id,
    presenter: ['Emmy N.'],
    processing_state: 'SUCCEEDED',
    publication_status: ['engage-player'],
    rightsholder: 'The university',
    series: 'Algebra',
    start: '2026-04-13T08:15:30Z',
    status: 'EVENTS.EVENTS.STATUS.PROCESSED',
  };
  return { id, shown };
}

describe('GET /api/events', () => {
  test('is an empty array when there is nothing to see', async () => {
    await insertEvent(app.database);
    expect(await list('', await viewer())).toEqual([]);
  });

  test('has every field of the contract', async () => {
    const { id, shown } = await fullEvent();
    expect(await read(`/api/events?filter=identifier:${id}`)).toEqual([shown]);
  });

  test('has empty texts and lists where nothing is known', async () => {
    const id = await insertEvent(app.database, { title: '' });
    const [event] = await read(`/api/events?filter=identifier:${id}`);
    const texts = ['title', 'description', 'location', 'language', 'rightsholder', 'license', 'is_part_of'];
    for (const name of [...texts, 'series', 'source', 'processing_state'])
      expect([name, event[name]]).toEqual([name, '']);
    for (const name of ['presenter', 'contributor', 'subjects', 'publication_status']) {
      expect([name, event[name]]).toEqual([name, []]);
    }
    expect(event).toMatchObject({ duration: null, archive_version: 0 });
  });
});

describe('GET /api/events/{id}', () => {
  test('has every field of the contract', async () => {
    const { id, shown } = await fullEvent();
    expect(await read(`/api/events/${id}`)).toEqual(shown);
  });

  test('is 404 with a sentence for an event that does not exist', async () => {
    const text = "Cannot find an event with id 'nowhere'.";
    const answer = await send(app, 'GET', '/api/events/nowhere');
    expect(answer).toMatchObject({ status: 404, type: 'text/plain; charset=utf-8', text });
  });

  test.each([
    ['withacl', 'acl', [{ allow: true, action: 'read', role: 'ROLE_STUDENT' }]],
    ['withmetadata', 'metadata', [expect.objectContaining({ flavor: 'dublincore/episode' })]],
    ['withpublications', 'publications', [expect.objectContaining({ channel: 'engage-player' })]],
    ['withscheduling', 'scheduling', {}],
  ])('and the list add %s when it is true', async (parameter, member, value) => {
    const { id, shown } = await fullEvent();
    const more = { ...shown, [member]: value };
    expect(await read(`/api/events/${id}?${parameter}=true`)).toEqual(more);
    expect(await read(`/api/events?${parameter}=true&filter=identifier:${id}`)).toEqual([more]);
    expect(await read(`/api/events/${id}?${parameter}=false`)).toEqual(shown);
  });

  test.each([
    ['INSTANTIATED', 'PENDING'],
    ['RUNNING', 'PROCESSING'],
    ['PAUSED', 'PAUSED'],
    ['STOPPED', 'PROCESSING_CANCELLED'],
    ['FAILING', 'PROCESSING'],
    ['FAILED', 'PROCESSING_FAILURE'],
    ['SUCCEEDED', 'PROCESSED'],
    ['', 'PROCESSED'],
  ])('with the processing_state "%s" has the status %s', async (processing_state, status) => {
    const id = await insertEvent(app.database, { processing_state });
    const shown = { processing_state, status: `EVENTS.EVENTS.STATUS.${status}` };
    expect(await read(`/api/events/${id}`)).toMatchObject(shown);
  });
});

test('pages cut the list, which is sorted by start, without a gap or an overlap', async () => {
  const { listed } = await inSeries({ a: 1, b: 2, c: 1, d: 2, e: 1, f: 2, g: 1 });
  const all = ['f', 'd', 'b', 'g', 'e', 'c', 'a'];
  expect(await listed()).toEqual(all);
  for (const offset of [0, 3, 6]) {
    expect(await listed(`&limit=3&offset=${offset}`)).toEqual(all.slice(offset, offset + 3));
  }
  expect(await listed('&limit=0')).toEqual(all);
  expect(await listed('&offset=5')).toEqual(all.slice(5));
  expect(await listed('&offset=100')).toEqual([]);
});

test.each(['limit=-1', 'limit=ten', 'limit=1.5', 'offset=-1', 'limit=1e3', `offset=${2 ** 60}`])(
  '%s is refused',
  async (query) => {
    const { status, text } = await send(app, 'GET', `/api/events?${query}`);
    expect(status).toBe(400);
    expect(text).toMatch(/^The parameter '(limit|offset)' is ".*"; allowed is a whole number/);
  },
);

describe('the entity tag of an event', () => {
  const tag = async (id: string, query = '', headers = {}) =>
    (await app.request(`/api/events/${id}${query}`, { headers })).headers.get('ETag') ?? '';

  test('changes with everything that is shown of it, and with nothing else', async () => {
    const id = await insertEvent(app.database);
    const first = await tag(id);
    await insertEvent(app.database);
    expect(await tag(id)).toBe(first);
    expect(await tag(id, '', { Accept: 'application/v1.10.0+json' })).not.toBe(first);
    expect(await tag(id, '?withacl=true')).not.toBe(first);
    const event = app.database.updateTable('events').where('id', '=', id);
    await event.set({ processing_state: 'RUNNING' }).execute();
    const second = await tag(id);
    expect(second).not.toBe(first);
    await insertPublication(app.database, id);
    expect(await tag(id)).not.toBe(second);
  });

  test('saves the body of an answer that is known, and reveals no event that must not be seen', async () => {
    const id = await insertEvent(app.database);
    const known = await tag(id);
    const status = async (tags: string, account = {}) => {
      const headers = { 'If-None-Match': tags, ...account };
      return (await app.request(`/api/events/${id}`, { headers })).status;
    };
    expect([await status(`"other", ${known}`), await status('"other"')]).toEqual([304, 200]);
    expect(await status(known, await viewer())).toBe(404);
  });
});

const ALWAYS = [
  ...['archive_version', 'contributor', 'created', 'creator', 'description', 'has_previews', 'identifier'],
  ...['location', 'presenter', 'processing_state', 'publication_status', 'start', 'subjects', 'title'],
];
const SINCE_1_1 = ['is_part_of', 'language', 'license', 'rightsholder', 'series', 'source', 'status'];

test.each([
  ['application/v1.0.0+json', '1.0.0', ALWAYS],
  ['application/v1.1.0+json', '1.1.0', [...ALWAYS, ...SINCE_1_1]],
  ['application/v1.3.0+json', '1.3.0', [...ALWAYS, ...SINCE_1_1]],
  ['application/v1.4.0+json', '1.4.0', [...ALWAYS, ...SINCE_1_1, 'duration']],
  ['*/*', '1.11.0', [...ALWAYS, ...SINCE_1_1, 'duration']],
])('Accept: %s is answered in version %s', async (Accept, version, fields) => {
  const id = await insertEvent(app.database, { duration: 1000 });
  const role = `ROLE_${id}`;
  await giveAcl(app, id, [ace(role)]);
  const headers = { Accept, ...(await viewer(role)) };
  // Version 1.0.0 knows no filter that finds one event.
  for (const path of [`/api/events/${id}`, '/api/events']) {
    const { type, text } = await send(app, 'GET', path, undefined, headers);
    expect(type).toBe(`application/v${version}+json`);
    const [event] = [JSON.parse(text)].flat();
    expect(Object.keys(event).sort()).toEqual([...fields].sort());
  }
});

const CATALOG_OF_SERIES = '/api/series/{id}/metadata?type=dublincore/series';

test.each<[number, string, string, Record<string, string> | undefined]>([
  [400, 'POST', '/api/series', {}],
  [400, 'PUT', CATALOG_OF_SERIES, { metadata: '[' }],
  [403, 'DELETE', CATALOG_OF_SERIES, undefined],
  [404, 'GET', '/api/series/nowhere', undefined],
  [404, 'GET', '/api/events/nowhere/acl', undefined],
  [404, 'GET', '/api/nowhere', undefined],
  [405, 'PUT', '/api/events', {}],
])('an error is a bare sentence in plain text: %i for %s %s', async (status, method, path, fields) => {
  const url = path.replace('{id}', await createSeries(app));
  for (const version of ['1.0.0', '1.11.0']) {
    const answer = await send(app, method, url, fields, { Accept: `application/v${version}+json` });
    expect(answer).toMatchObject({ status, type: 'text/plain; charset=utf-8' });
    expect(answer.text).toMatch(/^[A-Z][^{}]+/);
  }
});

test('403 is for whoever lacks the role of the URL, 401 for whoever is not known', async () => {
  expect((await send(app, 'POST', '/api/series', {}, await viewer('ROLE_API_SERIES_VIEW'))).status).toBe(403);
  expect((await app.anonymous('/api/series', { method: 'POST' })).status).toBe(401);
});

const later = [...REFERENCE.flatMap(({ endpoints }): readonly Rule[] => endpoints), ...UNIMPLEMENTED_ROUTES].flatMap(
  ({ method, path, since }) => (since ? [[method.toUpperCase(), path, since] as const] : []),
);

test.each(later)('%s %s is 406 before %s', async (method, path, since) => {
  for (const version of API_VERSIONS) {
    const headers = { Accept: `application/v${version}+json` };
    const { status } = await app.request(path.replaceAll(/\{\w+\}/g, 'some'), { method, headers });
    expect([version, status === 406]).toEqual([version, !atLeast(version, since)]);
  }
});
