import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { timeZoneOf } from '#capture/agents/agents.queries.ts';
import { ownApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { send } from '../support/series.ts';
import { snapshot } from '../support/snapshot.ts';

/** Capture agents as they report and as they are listed. Lists and snapshots are of whole tables. */
const app = await ownApp();
afterEach(() => app.database.deleteFrom('capture_agents').execute());

const STATES = ['idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline'];
const URLENCODED = 'application/x-www-form-urlencoded';
const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
`;
const JSON_TEXT = '{"capture.device.names":"camera, screen","capture.device.timezone":"Europe/Berlin","a":"<&>"}';
const XML_TEXT = `${HEAD}<properties version="1.0">
<comment>mine</comment>
<entry key="capture.device.timezone">Europe/Berlin</entry>
<entry key="capture.device.names">camera, screen</entry>
<entry key="a">&lt;&amp;&#62;</entry>
</properties>`;

const pathOf = (name: string) => `/capture-admin/agents/${encodeURIComponent(name)}`;
const report = (name: string, fields: Record<string, string>) => send(app, 'POST', pathOf(name), fields);
const configure = (name: string, configuration: string) =>
  send(app, 'POST', `${pathOf(name)}/configuration`, { configuration });
/** Posts a configuration as the body of the request. */
async function post(name: string, body: BodyInit, type?: string) {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
  const answer = await app.request(`${pathOf(name)}/configuration`, { method: 'POST', headers, body });
  return { status: answer.status, type: answer.headers.get('Content-Type'), text: await answer.text() };
}
async function get<T = Record<string, unknown>>(path: string) {
  const answer = await app.request(path);
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as T };
}
const agent = async (name: string) => (await get(`/api/agents/${encodeURIComponent(name)}`)).json;
const stored = (id: string) =>
  app.database.selectFrom('capture_agents').selectAll().where('id', '=', id).executeTakeFirst();
const known = (...ids: string[]) =>
  app.database
    .insertInto('capture_agents')
    .values(ids.map((id) => ({ id })))
    .execute();
const silentFor = (seconds: number) =>
  sql`UPDATE capture_agents SET seen_at = now() - make_interval(secs => ${seconds})`.execute(app.database);
/** Asserts that something leaves every row as it is. */
async function changesNothing(work: () => Promise<unknown>) {
  const before = await snapshot(app.database);
  await work();
  expect(await snapshot(app.database)).toEqual(before);
}

describe('GET /api/agents', () => {
  test('has the fields of the reference, by identifier', async () => {
    expect((await get('/api/agents')).json).toEqual([]);
    await report('room-2', { state: 'capturing' });
    await report('room-1', { state: 'idle', address: 'http://room-1.test' });
    await configure('room-1', '{"capture.device.names":"camera,screen"}');
    const update = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const inputs = ['camera', 'screen'];
    expect((await get('/api/agents')).json).toEqual([
      { agent_id: 'room-1', status: 'idle', inputs, update, url: 'http://room-1.test' },
      { agent_id: 'room-2', status: 'capturing', inputs: [], update, url: '' },
    ]);
  });

  test('limit and offset cut the list; a limit of 0 is none, past the end nothing is left', async () => {
    await known('a', 'b', 'c', 'd');
    const page = async (query: string) =>
      (await get<{ agent_id: string }[]>(`/api/agents?${query}`)).json.map(({ agent_id }) => agent_id);
    expect(await page('limit=2')).toEqual(['a', 'b']);
    expect(await page('limit=2&offset=1')).toEqual(['b', 'c']);
    expect(await page('limit=0&offset=1')).toEqual(['b', 'c', 'd']);
    expect(await page('limit=&offset=')).toEqual(['a', 'b', 'c', 'd']);
    expect(await page('offset=4')).toEqual([]);
    expect(await page('limit=5&offset=9007199254740991')).toEqual([]);
    expect((await send(app, 'GET', '/api/agents?limit=-1')).status).toBe(400);
    const { headers } = await get('/api/agents?limit=3');
    expect([headers.get('X-Total-Count'), headers.get('X-Total-Count-Relation')]).toEqual(['4', 'eq']);
    const next = /<http:\/\/inlet\.test([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1] ?? '';
    expect((await get(next)).json).toMatchObject([{ agent_id: 'd' }]);
  });

  test('comes whole when it is long, each agent once', async () => {
    await known(...Array.from({ length: 1100 }, (_, i) => `room ${i}`));
    const { json } = await get<{ agent_id: string }[]>('/api/agents');
    expect([json.length, new Set(json.map(({ agent_id }) => agent_id)).size]).toEqual([1100, 1100]);
  });
});

describe('GET /api/agents/{id}', () => {
  test('is one agent', async () => {
    await report('room-1', { state: 'uploading', address: 'http://room-1.test' });
    const json = { agent_id: 'room-1', status: 'uploading', inputs: [], url: 'http://room-1.test' };
    expect(await get('/api/agents/room-1')).toMatchObject({ status: 200, json });
  });

  test('is 404 for an agent that is not known', async () => {
    const answer = await send(app, 'GET', '/api/agents/nowhere');
    expect(answer).toMatchObject({ status: 404, text: "Cannot find an agent with id 'nowhere'." });
  });
});

describe('status and update', () => {
  test.each(STATES)('an agent that reports %s has this status', async (state) => {
    expect(await report('room-1', { state })).toMatchObject({ status: 200, text: `room-1 set to ${state}` });
    expect(await agent('room-1')).toMatchObject({ status: state });
  });

  test('an agent that never reported is unknown, since it became known', async () => {
    await known('room-1');
    const { rows } = await sql<{ since: string }>`
      UPDATE capture_agents SET known_since = known_since - interval '1 year'
      RETURNING to_char(known_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since`.execute(app.database);
    expect(await agent('room-1')).toMatchObject({ status: 'unknown', update: rows[0]?.since });
  });

  test.each([
    [90, 'idle'],
    [121, 'offline'],
  ])('an agent that was idle %i seconds ago is %s', async (seconds, status) => {
    await report('room-1', { state: 'idle' });
    await silentFor(seconds);
    expect(await agent('room-1')).toMatchObject({ status });
    expect((await get('/api/agents')).json).toMatchObject([{ status }]);
    await report('room-1', { state: 'idle' });
    expect(await agent('room-1')).toMatchObject({ status: 'idle' });
  });
});

test('the time zone of an agent is its own; UTC for one that has not said or is not known', async () => {
  await configure('room-1', '{"capture.device.timezone":"Europe/Berlin"}');
  await known('room-2');
  const zones = ['room-1', 'room-2', 'room-3'].map((id) => timeZoneOf(app.database, id));
  expect(await Promise.all(zones)).toEqual(['Europe/Berlin', 'UTC', 'UTC']);
});

describe('POST /capture-admin/agents/{name}', () => {
  test('makes an agent known and answers with a sentence in plain text', async () => {
    const answer = await report('first', { state: 'idle', address: ' http://first.test ' });
    const sentence = { type: 'text/plain; charset=utf-8', text: 'first set to idle' };
    expect(answer).toMatchObject({ status: 200, ...sentence });
    expect(await agent('first')).toMatchObject({ status: 'idle', url: 'http://first.test' });
  });

  test('leaves the address alone when none is sent, and empties it when it is empty', async () => {
    await report('moved', { state: 'idle', address: 'http://a.test' });
    await report('moved', { state: 'error' });
    expect(await agent('moved')).toMatchObject({ status: 'error', url: 'http://a.test' });
    for (const address of ['http://b.test', '']) {
      await report('moved', { state: 'error', address });
      expect(await agent('moved')).toMatchObject({ url: address });
    }
  });

  const WRONG_STATE = (state: string) =>
    `The form parameter 'state' is "${state}"; allowed values: idle, capturing, uploading, unknown, shutting_down, error, offline.`;
  const WRONG_ADDRESS = "The form parameter 'address' is \"";
  test.each<[what: string, fields: Record<string, string>, sentence: string]>([
    ['no state', {}, WRONG_STATE('').replace(/^.*;/, "The form parameter 'state' is missing;")],
    ['an unknown state', { state: 'flying' }, WRONG_STATE('flying')],
    ['an empty state', { state: '' }, WRONG_STATE('')],
    ['a state in capitals', { state: 'IDLE' }, WRONG_STATE('IDLE')],
    ['a long address', { state: 'idle', address: 'x'.repeat(2001) }, `${WRONG_ADDRESS}xxx`],
    ['an address of two lines', { state: 'idle', address: 'a\nb' }, `${WRONG_ADDRESS}a\\nb"; it must have`],
    ['a NUL in the address', { state: 'idle', address: 'a\0' }, `${WRONG_ADDRESS}a\\u0000"; it must have`],
  ])('is 400 for %s, and makes nothing known', async (_what, fields, sentence) => {
    await changesNothing(async () => {
      const answer = await report('refused', fields);
      expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
      expect(answer.text).toContain(sentence);
      expect(answer.text.length).toBeLessThan(400);
    });
  });

  test('is 405 for any other method, 404 for any other path', async () => {
    expect((await send(app, 'PUT', pathOf('first'))).status).toBe(405);
    expect((await send(app, 'GET', pathOf('first'))).status).toBe(404);
    expect((await send(app, 'POST', '/capture-admin/agents', {})).status).toBe(405);
    expect((await send(app, 'POST', `${pathOf('first')}/nothing`, {})).status).toBe(404);
  });
});

describe('names', () => {
  test.each([
    'Hörsaal 1',
    'room/1/configuration',
    '%2F',
    'a+b?c&d=e;f#g',
    'o\'room "x" <b>\\',
    '教室 😀',
    'configuration',
    '😀'.repeat(255),
  ])('%.20s is reported, configured and read', async (name) => {
    expect(await report(name, { state: 'idle' })).toMatchObject({ status: 200, text: `${name} set to idle` });
    expect((await configure(name, '{"capture.device.names":"camera"}')).status).toBe(200);
    expect(await agent(name)).toMatchObject({ agent_id: name, status: 'idle', inputs: ['camera'] });
  });

  test('a blank may be sent as %20 alone, and small letters encode as well', async () => {
    const path = '/capture-admin/agents/a%20+%2fb/';
    expect((await send(app, 'POST', path, { state: 'idle' })).text).toBe('a +/b set to idle');
  });

  test.each([' ', 'x'.repeat(256), '😀'.repeat(256), 'x'.repeat(10_000), 'a\nb', '\0', 'a\u0085'])(
    '%.10j is refused by its name, by both routes',
    async (name) => {
      await changesNothing(async () => {
        for (const answer of [await report(name, { state: 'idle' }), await configure(name, '{}')]) {
          expect(answer.status).toBe(400);
          const start = JSON.stringify(name).slice(0, 10);
          expect(answer.text).toContain(`The name of the capture agent is ${start}`);
        }
      });
    },
  );

  test.each(['%FF', '%ED%A0%80', 'a%', '%zz'])('%s is no name', async (encoded) => {
    const text = 'The name of the capture agent is not percent-encoded UTF-8.';
    for (const path of ['', '/configuration'].map((end) => `/capture-admin/agents/${encoded}${end}`)) {
      const answer = await send(app, 'POST', path, { state: 'idle', configuration: '{}' });
      expect(answer).toMatchObject({ status: 400, text });
    }
  });
});

describe('whoever reports', () => {
  const both = [pathOf('guarded'), `${pathOf('guarded')}/configuration`];
  const fields = { state: 'idle', configuration: '{}' };

  test.each(both)('%s needs the role ROLE_CAPTURE_AGENT: 403 without it', async (path) => {
    const Authorization = await app.account(randomUUID(), 'ROLE_API_CAPTURE_AGENTS_VIEW', 'ROLE_USER');
    expect(await send(app, 'POST', path, fields, { Authorization })).toMatchObject({
      status: 403,
      text: 'This request requires the role ROLE_CAPTURE_AGENT.',
    });
    const agentAccount = { Authorization: await app.account(randomUUID(), 'ROLE_CAPTURE_AGENT') };
    expect((await send(app, 'POST', path, fields, agentAccount)).status).toBe(200);
    expect((await send(app, 'GET', '/api/agents/guarded', undefined, agentAccount)).status).toBe(403);
  });

  test.each(both)('%s does nothing in the name of others without the right to: 403', async (path) => {
    const Authorization = await app.account(randomUUID(), 'ROLE_CAPTURE_AGENT');
    const others = { 'X-RUN-AS-USER': 'admin', 'X-RUN-WITH-ROLES': 'ROLE_CAPTURE_AGENT' };
    await changesNothing(async () => {
      for (const [name, value] of Object.entries(others))
        expect((await send(app, 'POST', path, fields, { Authorization, [name]: value })).status).toBe(403);
    });
  });

  test.each([
    '/capture-admin/agents/guarded',
    '/%63apture-admin/agents/guarded',
    '/capture-admin/agents/guarded/',
    '/capture-admin/agents/a%2Fconfiguration',
    '/capture-admin/agents/guarded/configuration/',
    '/capture-admin/./agents/guarded',
  ])('%s is guarded as well', async (path) => {
    const answer = await app.anonymous(path, { method: 'POST', body: new URLSearchParams(fields) });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
    expect((await send(app, 'POST', path, fields)).status).toBe(200);
  });
});

describe('POST /capture-admin/agents/{name}/configuration', () => {
  describe.each([
    ['JSON', JSON_TEXT, 'application/json'],
    ['properties XML', XML_TEXT, 'text/xml; charset=utf-8'],
  ])('%s', (_kind, text, own) => {
    test.each([
      ['of its own type', own, text],
      ['as curl sends it', URLENCODED, text],
      ['of no type', '', Buffer.from(text)],
      ['of some type', 'application/octet-stream', Buffer.from(`\ufeff\n ${text}`)],
      ['in an urlencoded form', URLENCODED, new URLSearchParams({ configuration: text }).toString()],
      ['in a multipart form', 'multipart', ''],
    ])('is taken %s', async (_how, type, body) => {
      const multipart = form([field('other', 'x'), field('configuration', text)]);
      const sent = type === 'multipart' ? multipart : { type, body };
      expect((await post('taken', sent.body, sent.type)).status).toBe(200);
      const [names, time_zone] = ['camera, screen', 'Europe/Berlin'];
      expect(await stored('taken')).toMatchObject({
        configuration: { a: '<&>', 'capture.device.names': names, 'capture.device.timezone': time_zone },
        ...{ inputs: ['camera', 'screen'], time_zone },
      });
    });
  });

  test('answers with what is stored as properties XML, by key and escaped', async () => {
    expect(await post('room-1', JSON_TEXT)).toEqual({
      status: 200,
      type: 'text/xml; charset=utf-8',
      text: `${HEAD}<properties>
<comment>Configuration of room-1</comment>
<entry key="a">&lt;&amp;&gt;</entry>
<entry key="capture.device.names">camera, screen</entry>
<entry key="capture.device.timezone">Europe/Berlin</entry>
</properties>
`,
    });
    const { text } = await post('echo', '{"b":"x\\r\\n\\t \\"y\\"","ü":"😀"}');
    expect((await post('echo', text)).text).toBe(text);
    expect((await stored('echo'))?.configuration).toEqual({ b: 'x\r\n\t "y"', ü: '😀' });
  });

  test('replaces the former configuration as a whole', async () => {
    await post('replaced', JSON_TEXT);
    await post('replaced', '{"b":1}');
    const replaced = { configuration: { b: '1' }, inputs: [], time_zone: 'UTC' };
    expect(await stored('replaced')).toMatchObject(replaced);
  });

  test('makes an agent known that has told nothing else, and leaves the state of others alone', async () => {
    await post('silent', '{}');
    expect(await agent('silent')).toMatchObject({ status: 'unknown' });
    expect((await stored('silent'))?.seen_at).toBeInstanceOf(Date);
    await report('busy', { state: 'capturing', address: 'http://busy.test' });
    await post('busy', JSON_TEXT);
    const busy = { status: 'capturing', url: 'http://busy.test', inputs: ['camera', 'screen'] };
    expect(await agent('busy')).toMatchObject(busy);
  });

  // The unit tests of the parser have every fault; here is one of each kind.
  test.each<[what: string, body: BodyInit, type: string | undefined, sentence: string]>([
    ['nothing', '', undefined, "Missing form parameter 'configuration'"],
    ['a form without it', 'state=idle', URLENCODED, "Missing form parameter 'configuration'"],
    ['an empty field', 'configuration=', URLENCODED, 'must be a JSON object or Java properties XML'],
    ['half a document', '<properties>', 'text/xml', 'is not well-formed XML: see line 1'],
    ['Latin-1', Buffer.from('{"a":"\xe4"}', 'latin1'), 'application/json', 'is not encoded in UTF-8'],
  ])('is 400 for %s, and nothing changes', async (_what, body, type, sentence) => {
    await post('kept', JSON_TEXT);
    await changesNothing(async () => {
      const answer = await post('kept', body, type);
      expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
      expect(answer.text).toContain(sentence);
      expect(answer.text.length).toBeLessThan(400);
    });
  });

  test('is 413 beyond 64 KiB', async () => {
    expect((await post('large', `{"a":"${'x'.repeat(2 ** 20)}"}`)).status).toBe(413);
  });
});

describe('equal reports', () => {
  /** Which version of the row is stored: PostgreSQL makes a new one for every write. */
  const version = async (id: string) => {
    const { rows } = await sql<{ version: string }>`
      SELECT concat(xmin, ' ', xmax, ' ', ctid) AS version FROM capture_agents WHERE id = ${id}`.execute(app.database);
    return rows[0]?.version;
  };
  const idle = (name: string) => report(name, { state: 'idle' });

  test('cost no write', async () => {
    await report('calm', { state: 'idle', address: 'http://calm.test' });
    await configure('calm', '{"a":"1","b":"2"}');
    // However long the repetitions take, none is due to be written down for its age.
    await silentFor(-3600);
    const before = await version('calm');
    for (let i = 0; i < 3; i += 1) {
      expect((await report('calm', { state: 'idle', address: 'http://calm.test' })).status).toBe(200);
      expect((await idle('calm')).status).toBe(200);
      expect((await configure('calm', '{"b":2,"a":"1"}')).status).toBe(200);
    }
    expect(await version('calm')).toBe(before);
  });

  test.each([
    ['another state', (name: string) => report(name, { state: 'capturing' })],
    ['another address', (name: string) => report(name, { state: 'idle', address: 'http://else.test' })],
    ['another configuration', (name: string) => configure(name, '{"a":"2"}')],
  ])('are no longer equal with %s', async (what, change) => {
    await idle(what);
    const before = await version(what);
    await change(what);
    expect(await version(what)).not.toBe(before);
  });

  test.each([
    ['report', idle],
    ['configuration', (name: string) => configure(name, '{}')],
  ])('are written down once the last one is half a minute old: a %s', async (what, repeat) => {
    await idle(what);
    await silentFor(31);
    const before = await version(what);
    await repeat(what);
    const seen = await version(what);
    expect(seen).not.toBe(before);
    await repeat(what);
    expect(await version(what)).toBe(seen);
  });
});

test('of many first reports at once none fails, and one of them is kept', async () => {
  const states = ['idle', 'capturing', 'uploading', 'error'];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? report('first', { state: states[(i / 2) % 4] ?? '' }) : configure('first', `{"n":${i}}`),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(states).toContain((await agent('first')).status);
});
