import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { timeZoneOf } from '../../src/recordings/agents/agents.queries.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/series.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => app.database.deleteFrom('capture_agents').execute());
afterAll(() => app?.close());

const STATES = ['idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline'];
const NOW = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const report = (name: string, fields: Record<string, string>) =>
  send(app, 'POST', `/capture-admin/agents/${encodeURIComponent(name)}`, fields);
const configure = (name: string, configuration: object) =>
  send(app, 'POST', `/capture-admin/agents/${encodeURIComponent(name)}/configuration`, {
    configuration: JSON.stringify(configuration),
  });
const get = async (path: string) => {
  const answer = await app.request(path);
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as unknown };
};
const agent = (name: string) => get(`/api/agents/${encodeURIComponent(name)}`);
const known = (...ids: string[]) =>
  app.database
    .insertInto('capture_agents')
    .values(ids.map((id) => ({ id })))
    .execute();
const silentFor = (seconds: number) =>
  sql`UPDATE capture_agents SET seen_at = now() - make_interval(secs => ${seconds})`.execute(app.database);

describe('GET /api/agents', () => {
  test('is an empty array as long as no agent is known', async () => {
    expect((await get('/api/agents')).json).toEqual([]);
  });

  test('has the fields of the reference, by identifier', async () => {
    await report('room-2', { state: 'capturing' });
    await report('room-1', { state: 'idle', address: 'http://room-1.test' });
    await configure('room-1', { 'capture.device.names': 'camera,screen' });
    const { json } = await get('/api/agents');
    expect(json).toEqual([
      {
        agent_id: 'room-1',
        status: 'idle',
        inputs: ['camera', 'screen'],
        update: expect.stringMatching(NOW),
        url: 'http://room-1.test',
      },
      { agent_id: 'room-2', status: 'capturing', inputs: [], update: expect.stringMatching(NOW), url: '' },
    ]);
  });

  test('limit and offset cut the list; a limit of 0 is none, past the end nothing is left', async () => {
    await known('a', 'b', 'c', 'd');
    const page = async (query: string) =>
      ((await get(`/api/agents?${query}`)).json as { agent_id: string }[]).map(({ agent_id }) => agent_id);
    expect(await page('limit=2')).toEqual(['a', 'b']);
    expect(await page('limit=2&offset=1')).toEqual(['b', 'c']);
    expect(await page('limit=0&offset=1')).toEqual(['b', 'c', 'd']);
    expect(await page('limit=&offset=')).toEqual(['a', 'b', 'c', 'd']);
    expect(await page('offset=4')).toEqual([]);
    expect(await page('limit=5&offset=9007199254740991')).toEqual([]);
  });

  test('comes whole when it is long, each agent once', async () => {
    await known(...Array.from({ length: 1100 }, (_, i) => `room ${i}`));
    const { json } = await get('/api/agents');
    const ids = (json as { agent_id: string }[]).map(({ agent_id }) => agent_id);
    expect([ids.length, new Set(ids).size]).toEqual([1100, 1100]);
  });

  test('tells how many there are and where the next page is', async () => {
    await known('a', 'b', 'c');
    const { headers } = await get('/api/agents?limit=2');
    expect([headers.get('X-Total-Count'), headers.get('X-Total-Count-Relation')]).toEqual(['3', 'eq']);
    const next = /<http:\/\/inlet\.test([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1] ?? '';
    expect((await get(next)).json).toMatchObject([{ agent_id: 'c' }]);
  });

  test.each(['limit=-1', 'offset=-1', 'limit=x', 'offset=1.5', 'limit=1e3'])(
    'is 400 for %s',
    async (query) => {
      const answer = await send(app, 'GET', `/api/agents?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.text).toMatch(/^The parameter '(limit|offset)' is ".*"; allowed is a whole number/);
    },
  );
});

describe('GET /api/agents/{id}', () => {
  test('is one agent', async () => {
    await report('room-1', { state: 'uploading', address: 'http://room-1.test' });
    expect(await agent('room-1')).toMatchObject({
      status: 200,
      json: { agent_id: 'room-1', status: 'uploading', inputs: [], url: 'http://room-1.test' },
    });
  });

  test('is 404 for an agent that is not known', async () => {
    const answer = await send(app, 'GET', '/api/agents/nowhere');
    expect(answer).toMatchObject({ status: 404, text: "Cannot find an agent with id 'nowhere'." });
  });

  test.each(['', '/room-1'])(
    'has the role ROLE_API_CAPTURE_AGENTS_VIEW, and came with 1.1.0: /api/agents%s',
    async (path) => {
      await known('room-1');
      const name = `viewer${path.length}`;
      const headers = { Authorization: await app.account(name, 'ROLE_API_CAPTURE_AGENTS_VIEW') };
      expect((await send(app, 'GET', `/api/agents${path}`, undefined, headers)).status).toBe(200);
      const others = {
        Authorization: await app.account(`${name}-not`, 'ROLE_CAPTURE_AGENT', 'ROLE_API_EVENTS_VIEW'),
      };
      expect((await send(app, 'GET', `/api/agents${path}`, undefined, others)).status).toBe(403);
      const old = { Accept: 'application/v1.0.0+json' };
      expect((await send(app, 'GET', `/api/agents${path}`, undefined, old)).status).toBe(406);
      const first = { Accept: 'application/v1.1.0+json' };
      expect((await send(app, 'GET', `/api/agents${path}`, undefined, first)).type).toBe(first.Accept);
    },
  );
});

describe('status and update', () => {
  test.each(STATES)('an agent that reports %s has this status', async (state) => {
    await report('room-1', { state });
    expect((await agent('room-1')).json).toMatchObject({ status: state });
  });

  test('an agent that never reported is unknown, since it became known', async () => {
    await known('room-1');
    const { rows } = await sql<{ since: string }>`
      UPDATE capture_agents SET known_since = known_since - interval '1 year'
      RETURNING to_char(known_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since`.execute(
      app.database,
    );
    expect((await agent('room-1')).json).toMatchObject({ status: 'unknown', update: rows[0]?.since });
  });

  test.each([
    [90, 'idle'],
    [121, 'offline'],
  ])('an agent that was idle %i seconds ago is %s', async (seconds, status) => {
    await report('room-1', { state: 'idle' });
    await silentFor(seconds);
    expect((await agent('room-1')).json).toMatchObject({ status });
    expect((await get('/api/agents')).json).toMatchObject([{ status }]);
  });

  test('an agent that reports again is no longer offline', async () => {
    await report('room-1', { state: 'idle' });
    await silentFor(3600);
    await report('room-1', { state: 'idle' });
    expect((await agent('room-1')).json).toMatchObject({ status: 'idle' });
  });
});

test('the time zone of an agent is its own; UTC for one that has not said or is not known', async () => {
  await configure('room-1', { 'capture.device.timezone': 'Europe/Berlin' });
  await known('room-2');
  const zones = ['room-1', 'room-2', 'room-3'].map((id) => timeZoneOf(app.database, id));
  expect(await Promise.all(zones)).toEqual(['Europe/Berlin', 'UTC', 'UTC']);
});
