import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { mergeViews } from '#statistics/views/view-counts.ts';
import { type TestApp, workerApp } from '../support/app.ts';
import { giveAcl, insertPublicEvent } from '../support/event-writes.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace, createSeries } from '../support/series.ts';

const app = await workerApp();
const ORGANIZATION = 'mh_default_org';
const ADMIN_HEADERS = {};
const APRIL = { from: '2026-04-01T00:00:00Z', to: '2026-04-30T23:59:59Z', dataResolution: 'monthly' };

type Times = { from: string; to: string; dataResolution: string };

const queryOf = (type: string, resourceId: string, more: object = APRIL) => ({
  provider: { identifier: `${type}.views.sum` },
  parameters: { resourceId, ...more },
});

async function post(at: TestApp, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields);
  const answer = await at.request(`/api/statistics/data/${path}`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

const ask = (data: unknown, headers: Record<string, string> = ADMIN_HEADERS, at = app) =>
  post(at, 'query', { data: typeof data === 'string' ? data : JSON.stringify(data) }, headers);

/** The labels, values and total that a query returns. */
async function seriesOf(type: string, id: string, times: object, at = app, headers = {}) {
  const { status, text } = await ask([queryOf(type, id, times)], headers, at);
  expect(status, text).toBe(200);
  return JSON.parse(text)[0].data as { labels: string[]; values: number[]; total: number };
}

/** Exports; reads the CSV. */
async function exportOf(data: unknown, fields: Record<string, string> = {}, headers = {}) {
  const { status, text } = await post(app, 'export.csv', { data: JSON.stringify(data), ...fields }, headers);
  expect(status, text).toBe(200);
  return (JSON.parse(text) as { csv: string }).csv;
}

/** Gives an event views at instants; one of each unless it has a number behind it. */
async function addViews(at: TestApp, event_id: string, views: Record<string, number>) {
  const rows = Object.entries(views).map(([hour, count]) => ({ event_id, hour, views: count }));
  await at.database.insertInto('event_views').values(rows).execute();
}

const viewsOf = async (at: TestApp, id: string) =>
  (await at.database.selectFrom('event_views').select(['hour', 'views']).where('event_id', '=', id).execute()).map(
    ({ views }) => views,
  );

describe('the requests of the PHP library', () => {
  test.each([
    ['', 3],
    ['?withparameters=1', 3],
    ['?withparameters=true', 3],
    ['?withparameters=false&filter=resourceType%3Aepisode', 1],
    ['?withparameters=0&filter=resourceType%3Aseries', 1],
    ['?withparameters=true&filter=resourceType%3Aorganization', 1],
    ['?filter=resourceType', 3],
  ])('find providers with the query %s', async (query, count) => {
    const answer = await app.request(`/api/statistics/providers${query}`);
    expect([answer.status, (await answer.json()).length]).toEqual([200, count]);
  });

  test('read a provider with its parameters, and 404 for an unknown one', async () => {
    const provider = await app.request('/api/statistics/providers/series.views.sum?withparameters=true');
    expect(await provider.json()).toMatchObject({
      identifier: 'series.views.sum',
      type: 'timeseries',
      resourceType: 'series',
      parameters: [
        { name: 'resourceId', type: 'string', optional: false },
        { name: 'from', type: 'datetime', optional: false },
        { name: 'to', type: 'datetime', optional: false },
        { name: 'dataResolution', values: ['hourly', 'daily', 'weekly', 'monthly', 'yearly'] },
        { name: 'detailLevel', optional: true },
      ],
    });
    const missing = await app.request('/api/statistics/providers/a-timeseries-provider');
    expect([missing.status, await missing.text()]).toEqual([
      404,
      "Cannot find a statistics provider with id 'a-timeseries-provider'.",
    ]);
  });

  test.each(['colour:red', 'resourceType:user'])('refuse the filter %s', async (filter) => {
    expect((await app.request(`/api/statistics/providers?filter=${filter}`)).status).toBe(400);
  });

  test('need version 1.3.0, and 1.4.0 for exports', async () => {
    const status = async (path: string, version: string, method = 'GET') => {
      const headers = { Accept: `application/v${version}+json` };
      return (await app.request(`/api/statistics/${path}`, { method, headers })).status;
    };
    expect(await status('providers', '1.2.0')).toBe(406);
    expect(await status('providers', '1.3.0')).toBe(200);
    expect(await status('data/export.csv', '1.3.0', 'POST')).toBe(406);
    expect(await status('data/export.csv', '1.4.0', 'POST')).toBe(400);
  });
});

describe('a time series', () => {
  test('begins with the start, has a value for each period, and returns the query', async () => {
    const event = await insertEvent(app.database);
    const berlin = await workerApp({ TZ: 'UTC' });
    const own = await insertEvent(berlin.database);
    await addViews(berlin, own, {
      '2026-04-10T12:00:00Z': 7,
      '2026-04-10T13:00:00Z': 20,
      '2026-04-11T23:00:00Z': 100,
      '2026-04-12T00:00:00Z': 300,
      '2026-04-12T01:00:00Z': 7,
    });
    const times = { from: '2026-04-10T13:45:32Z', to: '2026-04-12T00:00:00Z', dataResolution: 'DAILY' };
    const query = queryOf('episode', own, { ...times, custom: [1] });
    const { text } = await ask([query], {}, berlin);
    expect(JSON.parse(text)).toEqual([
      {
        provider: { identifier: 'episode.views.sum', type: 'timeseries', resourceType: 'episode' },
        parameters: query.parameters,
        data: {
          labels: ['2026-04-10T13:45:32Z', '2026-04-11T00:00:00Z', '2026-04-12T00:00:00Z'],
          values: [20, 100, 300],
          total: 420,
        },
      },
    ]);
    expect(await seriesOf('episode', event, APRIL)).toMatchObject({ values: [0], total: 0 });
  });

  const MARCH = { from: '2026-03-27T23:00:00Z', to: '2026-03-30T21:59:59Z' };
  const OCTOBER = { from: '2026-10-24T22:00:00Z', to: '2026-10-25T22:59:59Z' };
  test.each<[string, string, Times, Record<string, number>, string[], number[]]>([
    [
      'a day of 23 hours',
      'Europe/Berlin',
      { ...MARCH, dataResolution: 'daily' },
      { '2026-03-28T22:00:00Z': 1, '2026-03-28T23:00:00Z': 2, '2026-03-29T21:00:00Z': 4, '2026-03-29T22:00:00Z': 8 },
      ['2026-03-27T23:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
      [1, 6, 8],
    ],
    [
      'half an hour off',
      'Asia/Kolkata',
      { from: '2026-04-10T18:30:00Z', to: '2026-04-12T18:29:59Z', dataResolution: 'daily' },
      { '2026-04-10T17:30:00Z': 1, '2026-04-10T18:30:00Z': 2, '2026-04-11T17:30:00Z': 4, '2026-04-11T18:30:00Z': 8 },
      ['2026-04-10T18:30:00Z', '2026-04-11T18:30:00Z'],
      [6, 8],
    ],
    [
      'weeks from Monday',
      'Europe/Berlin',
      { from: '2026-03-22T23:00:00Z', to: '2026-04-05T21:59:59Z', dataResolution: 'weekly' },
      { '2026-03-22T23:00:00Z': 1, '2026-03-29T21:00:00Z': 2, '2026-03-29T22:00:00Z': 4 },
      ['2026-03-22T23:00:00Z', '2026-03-29T22:00:00Z'],
      [3, 4],
    ],
    [
      'months',
      'Europe/Berlin',
      { from: '2026-02-28T23:00:00Z', to: '2026-04-30T21:59:59Z', dataResolution: 'monthly' },
      { '2026-03-31T21:00:00Z': 1, '2026-03-31T22:00:00Z': 2 },
      ['2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
      [1, 2],
    ],
    [
      'years',
      'America/New_York',
      { from: '2025-01-01T05:00:00Z', to: '2027-01-01T04:59:59Z', dataResolution: 'yearly' },
      { '2026-01-01T04:00:00Z': 1, '2026-01-01T05:00:00Z': 2 },
      ['2025-01-01T05:00:00Z', '2026-01-01T05:00:00Z'],
      [1, 2],
    ],
  ])('follows the time zone: %s (%s)', async (_, TZ, times, views, labels, values) => {
    const at = await workerApp({ TZ });
    const event = await insertEvent(at.database);
    await addViews(at, event, views);
    expect(await seriesOf('episode', event, times, at)).toMatchObject({ labels, values });
  });

  test('has the hour twice when clocks go back, also by half an hour', async () => {
    const berlin = await workerApp({ TZ: 'Europe/Berlin' });
    const event = await insertEvent(berlin.database);
    await addViews(berlin, event, { '2026-10-25T00:00:00Z': 1, '2026-10-25T01:00:00Z': 2 });
    const { values } = await seriesOf('episode', event, { ...OCTOBER, dataResolution: 'hourly' }, berlin);
    expect(values).toEqual([0, 0, 1, 2, ...Array(21).fill(0)]);

    const island = await workerApp({ TZ: 'Australia/Lord_Howe' });
    const other = await insertEvent(island.database);
    await sql`INSERT INTO event_views SELECT DISTINCT ${other}, date_trunc('hour', moment, 'Australia/Lord_Howe'), 1
      FROM generate_series('2026-04-04T00:00:00Z'::timestamptz, '2026-04-05T23:00:00Z', '30 minutes') AS moment`.execute(
      island.database,
    );
    const times = { from: '2026-04-04T00:00:00Z', to: '2026-04-05T23:59:59Z', dataResolution: 'hourly' };
    const { values: hours } = await seriesOf('episode', other, times, island);
    expect(hours.reduce((sum, count) => sum + count, 0)).toBe((await viewsOf(island, other)).length);
  });

  test.each<[string, unknown]>([
    ['No query data provided', ' '],
    ['JSON malformed', '[{'],
    ['the queries must be a JSON array', {}],
    ['a query must be a JSON object', [1]],
    ["'provider' must be a JSON object", [{}]],
    ['Identifier of provider is missing', [{ provider: {}, parameters: {} }]],
    ['Provider not found', [queryOf('user', 'x')]],
    ["'parameters' must be a JSON object", [{ provider: { identifier: 'x' } }]],
    ["Parameter 'resourceId' is missing", [queryOf('episode', ' ')]],
    ["Parameter 'to' is missing", [queryOf('episode', 'x', { from: APRIL.from })]],
    [
      "Parameter 'from' not in ISO 8601 UTC format, such as 2026-04-13T08:15:00Z",
      [queryOf('episode', 'x', { ...APRIL, from: '2026-04-31T00:00:00Z' })],
    ],
    [
      "Illegal value for 'dataResolution'; allowed are hourly, daily, weekly, monthly, yearly",
      [queryOf('episode', 'x', { ...APRIL, dataResolution: 'minutely' })],
    ],
    ["'from' date must be before 'to' date", [queryOf('episode', 'x', { ...APRIL, to: APRIL.from })]],
    ['more than 100 queries', Array(101).fill(queryOf('episode', 'x'))],
    [
      "more than 50000 values; choose a later 'from', an earlier 'to' or a coarser 'dataResolution'",
      Array(6).fill(queryOf('episode', 'x', { ...APRIL, to: '2027-04-30T00:00:00Z', dataResolution: 'hourly' })),
    ],
  ])('is refused: %s', async (reason, data) => {
    expect(await ask(data)).toEqual({ status: 400, text: `Unable to parse form parameter 'data': ${reason}` });
  });
});

describe('the numbers of an account', () => {
  test('are those of resources that it may read; the organization is for administrators', async () => {
    const role = `ROLE_READER_${randomUUID()}`;
    const headers = { Authorization: await app.account(`reader-${randomUUID()}`, 'ROLE_API_STATISTICS_VIEW', role) };
    const series = await createSeries(app, {}, [ace(role)]);
    const hidden = await createSeries(app);
    const [readable, secret] = [
      await insertEvent(app.database, { series_id: series }),
      await insertEvent(app.database, { series_id: series }),
    ];
    await giveAcl(app, readable, [ace(role)]);
    await giveAcl(app, secret, [ace('ROLE_OTHER')]);
    for (const event of [readable, secret]) await addViews(app, event, { '2026-04-10T12:00:00Z': 5 });

    expect((await seriesOf('episode', readable, APRIL, app, headers)).total).toBe(5);
    expect((await seriesOf('series', series, APRIL, app, headers)).total).toBe(5);
    expect((await seriesOf('series', series, APRIL)).total).toBe(10);
    const refused = [
      ['episode', secret],
      ['episode', randomUUID()],
      ['series', hidden],
      ['series', 'a\0b'],
      ['organization', ORGANIZATION],
    ] as const;
    for (const [type, id] of refused) {
      expect((await ask([queryOf(type, id)], headers)).status).toBe(id.includes('\0') ? 400 : 401);
    }
    expect(await ask([queryOf('organization', 'other')])).toEqual({ status: 401, text: 'unauthorized' });
    const other = { Authorization: await app.account(`other-${randomUUID()}`, 'ROLE_API_EVENTS_VIEW') };
    expect((await ask([queryOf('episode', readable)], other)).status).toBe(403);
  });
});

describe('an export', () => {
  test('has a line per period with the metadata, and no formulas', async () => {
    const title = '=SUM(A1), "quoted"\nagain';
    const event = await insertEvent(app.database, { title, presenters: ['Ada', 'Charles'] });
    await addViews(app, event, { '2026-04-10T12:00:00Z': 5 });
    const csv = await exportOf(queryOf('episode', event, { ...APRIL, detailLevel: 'EPISODE' }));
    const [header, first] = csv.split('\r\n');
    expect(header).toMatch(/^ID,title,subjects,description,.*,Date,Value$/);
    expect(first).toMatch(`${event},"'=SUM(A1), ""quoted""\nagain",`);
    expect(first).toContain('"Ada, Charles"');
    expect(csv).toMatch(/,2026-04,5\r\n$/);
    expect(await exportOf(queryOf('episode', event), { offset: '1' })).toBe('');
  });

  test.each([
    ['hourly', '2026-12-29 08:00'],
    ['daily', '2026-12-29'],
    ['weekly', '2026-53'],
    ['monthly', '2026-12'],
    ['yearly', '2026'],
  ])('names a period of the resolution %s %s', async (dataResolution, name) => {
    const at = await workerApp({ TZ: 'UTC' });
    const event = await insertEvent(at.database);
    const times = { from: '2026-12-29T08:10:00Z', to: '2026-12-29T08:20:00Z', dataResolution };
    const { text } = await post(at, 'export.csv', { data: JSON.stringify(queryOf('episode', event, times)) });
    expect(JSON.parse(text).csv).toMatch(new RegExp(`,${name},0\r\n$`));
  });

  test('lists the readable events of a series, in pages and filtered', async () => {
    const role = `ROLE_READER_${randomUUID()}`;
    const headers = { Authorization: await app.account(`reader-${randomUUID()}`, 'ROLE_API_STATISTICS_VIEW', role) };
    const series = await createSeries(app, {}, [ace(role)]);
    const events: string[] = [];
    for (const title of ['Optics', 'Waves', 'Hidden']) {
      const event = await insertEvent(app.database, { title, series_id: series });
      await giveAcl(app, event, [ace(title === 'Hidden' ? 'ROLE_OTHER' : role)]);
      await addViews(app, event, { '2026-04-10T12:00:00Z': 3 });
      events.push(event);
    }
    const detailed = queryOf('series', series, { ...APRIL, detailLevel: 'episode' });
    const ids = (csv: string) => csv.split('\r\n').map((line) => line.split(',', 1)[0]);
    const lines = ids(await exportOf(detailed, {}, headers));
    expect(lines.toSorted()).toEqual(['', ...events.slice(0, 2), 'ID'].toSorted());
    const pages = [
      await exportOf(detailed, { limit: '1' }, headers),
      await exportOf(detailed, { limit: '1', offset: '1' }, headers),
    ];
    expect(ids(pages.join('')).toSorted()).toEqual(lines.toSorted());
    expect(ids(await exportOf(detailed, { filter: 'title:Waves' }, headers))).toEqual(['ID', events[1], '']);
    expect((await exportOf(queryOf('series', series), {}, headers)).split('\r\n')[1]).toMatch(/,2026-04,6$/);
    const unknown = await post(app, 'export.csv', { data: JSON.stringify(detailed), filter: 'colour:red' });
    expect(unknown.status).toBe(400);
  });

  test('of the organization has its own line, or those of its series', async () => {
    const series = await createSeries(app, { title: 'Exported' });
    const own = await exportOf(queryOf('organization', ORGANIZATION));
    expect(own).toMatch(/^ID,Name,Date,Value\r\nmh_default_org,Opencast Project,2026-04,\d+\r\n$/);
    const all = await exportOf(queryOf('organization', ORGANIZATION, { ...APRIL, detailLevel: 'series' }), {
      filter: 'title:Exported',
    });
    expect(all.split('\r\n').at(-2)).toContain(`${series},Exported`);
  });

  test('that is too large is refused', async () => {
    const event = await insertEvent(app.database, { description: 'x'.repeat(100_000) });
    const times = { from: '2026-01-01T00:00:00Z', to: '2026-12-31T00:00:00Z', dataResolution: 'daily' };
    const { status, text } = await post(app, 'export.csv', { data: JSON.stringify(queryOf('episode', event, times)) });
    expect([status, text]).toEqual([400, expect.stringContaining('An export may have 1000 resources')]);
  });
});

describe('a view', () => {
  /** Publishes a video. */
  const publish = async (at: TestApp, event: string) => {
    const id = await insertPublication(at.database, event);
    const of = { event_id: event, publication_id: id, track: 0 };
    await insertElement(at.database, at.storage, Buffer.from('x'), { ...of, kind: 'media', filename: 'a.mp4' });
    return id;
  };
  /** Loads a page and sends what its player would. @returns the statuses and the address */
  const watch = async (at: TestApp, path: string, headers: Record<string, string> = {}) => {
    const page = await at.anonymous(path, { headers });
    const [, url] = /data-views="([^"]*)"/.exec(await page.text()) ?? [];
    if (url === undefined) return { page: page.status };
    const { pathname, search } = new URL(url.replaceAll('&amp;', '&'), `http://inlet.test${path}`);
    const answer = await at.anonymous(pathname + search, { method: 'POST', headers });
    return { page: page.status, view: answer.status, cookie: answer.headers.get('Set-Cookie') };
  };
  const beacon = async (at: TestApp, id: string, headers: Record<string, string> = {}) =>
    (await at.anonymous(`/watch/${id}/views`, { method: 'POST', headers })).status;
  const COUNTED = { page: 200, view: 204, cookie: null };

  test('is counted by hour from the watch page and from the player in frames', async () => {
    const event = await insertPublicEvent(app.database);
    const id = await publish(app, event);
    expect(await watch(app, `/watch/${id}`)).toEqual(COUNTED);
    expect(await watch(app, `/embed/${id}`)).toEqual(COUNTED);
    expect(await viewsOf(app, event)).toEqual([2]);
    const page = await (await app.request(`/admin/recordings/${event}`)).text();
    expect(page.replaceAll(/<[^>]*>|\s+/g, ' ')).toMatch(/Views +2 /);
    const hour = { from: '2026-01-01T00:00:00Z', to: '2200-01-01T00:00:00Z', dataResolution: 'yearly' };
    expect((await seriesOf('episode', event, hour)).total).toBe(2);
    await app.request(`/api/events/${event}`, { method: 'DELETE' });
    expect(await viewsOf(app, event)).toEqual([]);
    expect((await seriesOf('organization', ORGANIZATION, hour)).total).toBeGreaterThanOrEqual(2);
  });

  test.each(['page', 'strict', 'link'])('needs what the page needs with WATCH_ACCESS=%s', async (WATCH_ACCESS) => {
    const at = await workerApp({ WATCH_ACCESS });
    const event = await insertEvent(at.database);
    await giveAcl(at, event, [ace('ROLE_READER')]);
    const id = await publish(at, event);
    const reader = { Authorization: await at.account(`reader-${randomUUID()}`, 'ROLE_READER') };
    const other = { Authorization: await at.account(`other-${randomUUID()}`, 'ROLE_OTHER') };
    const open = WATCH_ACCESS === 'link' ? 204 : 404;
    expect(await beacon(at, id)).toBe(open);
    expect(await beacon(at, id, other)).toBe(open);
    expect(await beacon(at, id, reader)).toBe(204);
    expect(await viewsOf(at, event)).toEqual([open === 204 ? 3 : 1]);
  });

  test('needs the signature that the page hands on where addresses are signed', async () => {
    const at = await workerApp({ URL_SIGNING_SECRET: 'secret' });
    const event = await insertPublicEvent(at.database);
    const id = await publish(at, event);
    const { publicUrl, signer } = at.context.addresses;
    const page = signer?.sign(`${publicUrl}/embed/${id}`, { validUntil: Date.now() + 60_000 }).slice(publicUrl.length);
    expect(await watch(at, page ?? '')).toEqual(COUNTED);
    expect(await beacon(at, id)).toBe(404);
    expect(await viewsOf(at, event)).toEqual([1]);
  });

  test('of nothing is not found, whatever names it', async () => {
    for (const id of [randomUUID(), 'x', '%00', '%F0%9F', "'"]) expect(await beacon(app, id)).toBe(404);
  });

  test('is neither offered nor counted with STATISTICS=false', async () => {
    const at = await workerApp({ STATISTICS: 'false' });
    const event = await insertPublicEvent(at.database);
    const id = await publish(at, event);
    expect(await watch(at, `/watch/${id}`)).toEqual({ page: 200 });
    expect(await beacon(at, id)).toBe(404);
    expect(await (await at.request('/api/statistics/providers')).json()).toEqual([]);
    expect((await at.request('/api/statistics/providers/episode.views.sum')).status).toBe(404);
    expect((await ask([queryOf('episode', event)], {}, at)).text).toContain('Provider not found');
  });

  test('of another site is refused, and too many of one network wait', async () => {
    const event = await insertPublicEvent(app.database);
    const id = await publish(app, event);
    expect(await beacon(app, id, { Origin: 'https://elsewhere.example.org', 'Sec-Fetch-Site': 'cross-site' })).toBe(
      403,
    );
    let status = 204;
    for (let i = 0; i < 1000 && status !== 429; i += 1) status = await beacon(app, 'x');
    expect(status).toBe(429);
    expect(await beacon(app, id)).toBe(429);
    expect(await viewsOf(app, event)).toEqual([]);
  });
});

test('old hours are merged into days, and no view is lost', async () => {
  const zone = 'Europe/Berlin';
  const at = await workerApp({ TZ: zone });
  const event = await insertEvent(at.database);
  await sql`INSERT INTO event_views SELECT ${event}, date_trunc('hour', now(), ${zone}) - n * interval '1 hour', 1
    FROM generate_series(0, 24 * 450) AS n`.execute(at.database);
  const facts = async () => {
    const { rows } = await sql<{ total: number; old: number; young: number; misplaced: number }>`
      WITH own AS (SELECT *, hour < now() - interval '13 months' AS is_old FROM event_views WHERE event_id = ${event})
      SELECT sum(views)::integer AS total, (count(*) FILTER (WHERE is_old))::integer AS old,
        (count(*) FILTER (WHERE NOT is_old))::integer AS young,
        (count(*) FILTER (WHERE is_old AND hour <> date_trunc('day', hour, ${zone})))::integer AS misplaced
      FROM own`.execute(at.database);
    return rows[0];
  };
  const before = await facts();
  while ((await mergeViews(at.database, zone)) > 0);
  const after = await facts();
  expect(after).toMatchObject({ total: before?.total, young: before?.young, misplaced: 0 });
  expect(after?.old).toBeLessThanOrEqual(Math.ceil((before?.old ?? 0) / 24) + 1);
});
