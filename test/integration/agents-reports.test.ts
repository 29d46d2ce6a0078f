import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { send } from '../support/series.ts';
import { snapshot } from '../support/snapshot.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const pathOf = (name: string) => `/capture-admin/agents/${encodeURIComponent(name)}`;
const report = (name: string, fields: Record<string, string>, headers = {}) =>
  send(app, 'POST', pathOf(name), fields, headers);
const configure = (name: string, configuration: string) =>
  send(app, 'POST', `${pathOf(name)}/configuration`, { configuration });
const agent = async (name: string) =>
  JSON.parse((await send(app, 'GET', `/api/agents/${encodeURIComponent(name)}`)).text) as Record<
    string,
    unknown
  >;

describe('POST /capture-admin/agents/{name}', () => {
  test('makes an agent known and answers with a sentence in plain text', async () => {
    expect(await report('first', { state: 'idle', address: ' http://first.test ' })).toMatchObject({
      status: 200,
      type: 'text/plain; charset=utf-8',
      text: 'first set to idle',
    });
    expect(await agent('first')).toMatchObject({ status: 'idle', url: 'http://first.test' });
  });

  test('takes a multipart form as well', async () => {
    const { type, body } = form([field('address', 'http://curl.test'), field('state', 'capturing')]);
    const answer = await app.request(pathOf('curl'), {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    expect([answer.status, await answer.text()]).toEqual([200, 'curl set to capturing']);
    expect(await agent('curl')).toMatchObject({ status: 'capturing', url: 'http://curl.test' });
  });

  test('leaves the address alone when none is sent, and empties it when it is empty', async () => {
    await report('moved', { state: 'idle', address: 'http://a.test' });
    await report('moved', { state: 'error' });
    expect(await agent('moved')).toMatchObject({ status: 'error', url: 'http://a.test' });
    await report('moved', { state: 'error', address: 'http://b.test' });
    expect(await agent('moved')).toMatchObject({ url: 'http://b.test' });
    await report('moved', { state: 'error', address: '' });
    expect(await agent('moved')).toMatchObject({ url: '' });
  });

  test.each([
    [
      'no state',
      {},
      "Missing form parameter 'state'; allowed are idle, capturing, uploading, unknown, shutting_down, error, offline.",
    ],
    [
      'an unknown state',
      { state: 'flying' },
      `The form parameter 'state' is "flying"; allowed are idle, capturing,`,
    ],
    ['an empty state', { state: '' }, `The form parameter 'state' is ""; allowed are idle, capturing,`],
    [
      'a state in capitals',
      { state: 'IDLE' },
      `The form parameter 'state' is "IDLE"; allowed are idle, capturing,`,
    ],
    ['a long address', { state: 'idle', address: 'x'.repeat(2001) }, "The form parameter 'address' is \"xxx"],
    [
      'an address of two lines',
      { state: 'idle', address: 'a\nb' },
      'The form parameter \'address\' is "a\\nb"; allowed',
    ],
    [
      'a NUL in the address',
      { state: 'idle', address: 'a\0' },
      'The form parameter \'address\' is "a\\u0000"; allowed',
    ],
  ])('is 400 for %s, and makes nothing known', async (_what, fields, sentence) => {
    const before = await snapshot(app.database);
    const answer = await report('refused', fields);
    expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' });
    expect(answer.text).toContain(sentence);
    expect(answer.text.length).toBeLessThan(400);
    expect(await snapshot(app.database)).toEqual(before);
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
    'room/1',
    'room/1/configuration',
    '100%',
    '%2F',
    'a+b',
    'a?b#c&d=e;f',
    'o\'room "x" <b>\\',
    '教室 😀',
    'configuration',
    'x'.repeat(255),
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
      const before = await snapshot(app.database);
      for (const answer of [await report(name, { state: 'idle' }), await configure(name, '{}')]) {
        expect(answer.status).toBe(400);
        expect(answer.text).toContain(
          `The name of the capture agent is ${JSON.stringify(name).slice(0, 10)}`,
        );
      }
      expect(await snapshot(app.database)).toEqual(before);
    },
  );

  test.each(['%FF', '%ED%A0%80', 'a%', '%zz'])('%s is no name', async (encoded) => {
    for (const path of [
      `/capture-admin/agents/${encoded}`,
      `/capture-admin/agents/${encoded}/configuration`,
    ]) {
      expect(await send(app, 'POST', path, { state: 'idle', configuration: '{}' })).toMatchObject({
        status: 400,
        text: 'The name of the capture agent is not percent-encoded UTF-8.',
      });
    }
  });
});

describe('whoever reports', () => {
  const both = [pathOf('guarded'), `${pathOf('guarded')}/configuration`];
  const fields = { state: 'idle', configuration: '{}' };

  test.each(both)('%s needs credentials: 401 with a challenge', async (path) => {
    const answer = await app.anonymous(path, { method: 'POST', body: new URLSearchParams(fields) });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
    const wrong = { Authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` };
    expect((await send(app, 'POST', path, fields, wrong)).status).toBe(401);
  });

  test.each(both)('%s needs the role ROLE_CAPTURE_AGENT: 403 without it', async (path) => {
    const Authorization = await app.account(randomUUID(), 'ROLE_API_CAPTURE_AGENTS_VIEW', 'ROLE_USER');
    expect(await send(app, 'POST', path, fields, { Authorization })).toMatchObject({
      status: 403,
      text: 'This needs the role ROLE_CAPTURE_AGENT.',
    });
    const agentAccount = { Authorization: await app.account(randomUUID(), 'ROLE_CAPTURE_AGENT') };
    expect((await send(app, 'POST', path, fields, agentAccount)).status).toBe(200);
    expect((await send(app, 'GET', '/api/agents/guarded', undefined, agentAccount)).status).toBe(403);
  });

  test.each(both)('%s does nothing in the name of others without the right to: 403', async (path) => {
    const Authorization = await app.account(randomUUID(), 'ROLE_CAPTURE_AGENT');
    const before = await snapshot(app.database);
    for (const [name, value] of [
      ['X-RUN-AS-USER', 'admin'],
      ['X-RUN-WITH-ROLES', 'ROLE_CAPTURE_AGENT'],
    ] as const) {
      const answer = await send(app, 'POST', path, fields, { Authorization, [name]: value });
      expect(answer).toMatchObject({ status: 403 });
    }
    expect(await snapshot(app.database)).toEqual(before);
  });

  test.each([
    '/%63apture-admin/agents/guarded',
    '/capture-admin/agents/guarded/',
    '/capture-admin/agents/a%2Fconfiguration',
    '/capture-admin/agents/guarded/configuration/',
    '/capture-admin/./agents/guarded',
  ])('%s is guarded as well', async (path) => {
    expect((await app.anonymous(path, { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(
      401,
    );
    expect((await send(app, 'POST', path, fields)).status).toBe(200);
  });
});
