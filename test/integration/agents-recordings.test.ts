import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { send } from '../support/series.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

const scheduled = (agent = newAgent()) =>
  schedule(app, { agent_id: agent, start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' });
const pathOf = (id: string) => `/capture-admin/recordings/${encodeURIComponent(id)}`;
const report = (id: string, state: string, headers = {}) => send(app, 'POST', pathOf(id), { state }, headers);
const status = async (id: string) =>
  (JSON.parse((await send(app, 'GET', `/api/events/${id}`)).text) as { status: string }).status
    .split('.')
    .at(-1);
const state = async (id: string) =>
  app.database
    .selectFrom('schedules')
    .select(['recording_state as state', 'recording_state_since as since'])
    .where('event_id', '=', id)
    .executeTakeFirstOrThrow();

describe('POST /capture-admin/recordings/{id}', () => {
  test('2.5: the status of the event follows what its agent reports', async () => {
    const id = await scheduled();
    expect(await status(id)).toBe('SCHEDULED');
    for (const [reported, expected] of [
      ['capturing', 'RECORDING'],
      ['capture_finished', 'RECORDING'],
      ['manifest', 'INGESTING'],
      ['manifest_finished', 'INGESTING'],
      ['compressing', 'INGESTING'],
      ['uploading', 'INGESTING'],
      ['upload_error', 'RECORDING_FAILURE'],
      ['uploading', 'INGESTING'],
      ['upload_finished', 'INGESTING'],
    ] as const) {
      expect(await report(id, reported)).toMatchObject({ status: 200, text: `${id} set to ${reported}` });
      expect(await status(id), reported).toBe(expected);
    }
  });

  test('rule 6: multipart as well, as pyCA sends it', async () => {
    const id = await scheduled();
    const { type, body } = form([field('state', 'capturing')]);
    const answer = await app.request(pathOf(id), { method: 'POST', headers: { 'Content-Type': type }, body });
    expect(answer.status).toBe(200);
    expect(await status(id)).toBe('RECORDING');
  });

  test('rule 14: what is repeated or goes back is answered alike, and changes nothing', async () => {
    const id = await scheduled();
    await report(id, 'uploading');
    await report(id, 'upload_finished');
    const before = await state(id);
    for (const late of ['capturing', 'upload_finished', 'capture_error', 'uploading', 'unknown']) {
      expect(await report(id, late)).toMatchObject({ status: 200, text: `${id} set to ${late}` });
      expect(await state(id)).toEqual(before);
    }
  });

  test('a recording that has begun is not to be moved any more', async () => {
    const id = await scheduled();
    await report(id, 'capturing');
    const moved = await send(app, 'PUT', `/api/events/${id}/scheduling`, {
      scheduling: JSON.stringify({ start: '2030-02-07T09:00:00Z', end: '2030-02-07T10:00:00Z' }),
    });
    expect(moved.status).toBe(400);
  });

  test('many that come at once end in the state that is furthest', async () => {
    const id = await scheduled();
    const states = ['capturing', 'capture_finished', 'uploading', 'upload_finished'];
    const answers = await Promise.all([...states, ...states].map((each) => report(id, each)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await state(id)).state).toBe('upload_finished');
  });

  test.each([
    ['no state', undefined, 400, 'allowed are unknown, capturing'],
    ['a state that does not exist', 'flying', 400, '"flying"; allowed are'],
  ])('%s', async (_, sent, status, sentence) => {
    const id = await scheduled();
    const answer = await send(app, 'POST', pathOf(id), sent === undefined ? {} : { state: sent });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(sentence);
  });

  test('an unknown event, and one that was never scheduled, are 404', async () => {
    expect(await report('nobody', 'capturing')).toMatchObject({ status: 404 });
  });

  test('an account that is bound to an agent reports that one alone', async () => {
    const [own, other] = [newAgent(), newAgent()];
    const { Authorization } = await bound(own);
    expect(await report(await scheduled(own), 'capturing', { Authorization })).toMatchObject({ status: 200 });
    const foreign = await scheduled(other);
    expect(await report(foreign, 'capturing', { Authorization })).toMatchObject({ status: 403 });
    expect((await state(foreign)).state).toBe('');
  });
});

describe('what is known of recordings', () => {
  test('one, all, as JSON and XML; a failed one can be forgotten', async () => {
    const id = await scheduled();
    await report(id, 'capture_error');
    const read = async (path: string) => send(app, 'GET', path);
    const one = JSON.parse((await read(`${pathOf(id)}.json`)).text);
    expect(one['recording-state-update']).toMatchObject({ id, state: 'capture_error' });
    expect(one['recording-state-update']['time-since-last-update']).toBeLessThan(60_000);
    expect((await read(`${pathOf(id)}.xml`)).text).toContain(`<id>${id}</id><state>capture_error</state>`);
    expect((await read('/capture-admin/recordings.json')).text).toContain(id);
    expect((await read('/capture-admin/recordings')).text).toContain(id);
    expect(await send(app, 'DELETE', pathOf(id))).toMatchObject({ status: 200 });
    expect((await state(id)).state).toBe('');
    expect(await read(`${pathOf('nobody')}.json`)).toMatchObject({ status: 404 });
  });
});

describe('what is known of agents', () => {
  const name = 'Hörsaal_1/2_ä';
  const agentPath = `/capture-admin/agents/${encodeURIComponent(name)}`;
  beforeAll(async () => {
    await send(app, 'POST', agentPath, { state: 'capturing', address: 'http://hall.test' });
    const configuration = JSON.stringify({ 'capture.device.names': 'camera,screen', 'other.key': 'x' });
    await send(app, 'POST', `${agentPath}/configuration`, { configuration });
  });

  test('rule 19: a display reads the state of one whose name has a slash and an umlaut', async () => {
    const { 'agent-state-update': update } = JSON.parse((await send(app, 'GET', `${agentPath}.json`)).text);
    expect(update).toMatchObject({
      ...{ name, state: 'capturing', url: 'http://hall.test' },
      capabilities: { item: [{ key: 'capture.device.names', value: 'camera,screen' }] },
    });
    expect(update['time-since-last-update']).toBeLessThan(60_000);
    expect((await send(app, 'GET', `${agentPath}.xml`)).text).toContain('<state>capturing</state>');
  });

  test('all of them, their capabilities and their configuration', async () => {
    const { agents } = JSON.parse((await send(app, 'GET', '/capture-admin/agents.json')).text);
    expect(agents.agent).toContainEqual(expect.objectContaining({ name, state: 'capturing' }));
    for (const path of ['agents', 'agents.xml'])
      expect((await send(app, 'GET', `/capture-admin/${path}`)).text).toContain(name);
    const read = async (what: string) => (await send(app, 'GET', `${agentPath}/${what}`)).text;
    const names = { key: 'capture.device.names', value: 'camera,screen' };
    expect(JSON.parse(await read('capabilities.json'))).toEqual({
      'properties-response': { properties: { item: [names] } },
    });
    const items = [names, { key: 'other.key', value: 'x' }];
    expect(JSON.parse(await read('configuration.json'))).toMatchObject({
      'properties-response': { properties: { item: expect.arrayContaining(items) } },
    });
    expect(await read('configuration.xml')).toContain('<entry key="other.key">x</entry>');
    expect(await send(app, 'GET', `${agentPath}/nothing.json`)).toMatchObject({ status: 404 });
    expect(await send(app, 'GET', '/capture-admin/agents/nobody.json')).toMatchObject({ status: 404 });
  });

  test('a silent one is offline, and it counts since when it is what it is', async () => {
    const since = async () =>
      (
        await app.database
          .selectFrom('capture_agents')
          .select('state_since')
          .where('id', '=', name)
          .executeTakeFirstOrThrow()
      ).state_since?.getTime();
    const before = await since();
    const ago = (seconds: number) =>
      app.database
        .updateTable('capture_agents')
        .set({ seen_at: new Date(Date.now() - seconds * 1000) })
        .where('id', '=', name)
        .execute();
    await ago(60);
    await send(app, 'POST', agentPath, { state: 'capturing' });
    expect(await since()).toBe(before);
    await ago(200);
    // Some report every five minutes only.
    expect((await send(app, 'GET', `${agentPath}.json`)).text).toContain('"capturing"');
    await ago(3 * 3600);
    expect((await send(app, 'GET', `${agentPath}.json`)).text).toContain('"offline"');
    await send(app, 'POST', agentPath, { state: 'capturing' });
    expect(await since()).toBeGreaterThan(before ?? 0);
  });

  test('one can be forgotten unless it has something to record', async () => {
    const busy = newAgent();
    await scheduled(busy);
    expect(await send(app, 'DELETE', `/capture-admin/agents/${encodeURIComponent(busy)}`)).toMatchObject({
      status: 409,
    });
    expect(await send(app, 'DELETE', agentPath)).toMatchObject({ status: 200 });
    expect(await send(app, 'DELETE', agentPath)).toMatchObject({ status: 404 });
  });

  test('one that has recorded can be forgotten, and is known again when it reports or has something to record', async () => {
    const busy = newAgent();
    const path = `/capture-admin/agents/${encodeURIComponent(busy)}`;
    const event = await scheduled(busy);
    const listed = async () => [
      (await send(app, 'GET', '/api/agents')).text.includes(busy),
      (await send(app, 'GET', '/capture-admin/agents.json')).text.includes(busy),
      (await send(app, 'GET', `/api/agents/${encodeURIComponent(busy)}`)).status,
      (await send(app, 'GET', `${path}.json`)).status,
    ];
    const told = () =>
      app.database.selectFrom('changes').select('kind').where('agent_id', '=', busy).orderBy('id').execute();
    await send(app, 'POST', path, { state: 'capturing' });
    await send(app, 'POST', `${path}/configuration`, { configuration: '{"capture.device.names":"camera"}' });
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 409 });
    await app.database
      .updateTable('schedules')
      .set({ start_date: new Date(Date.now() - 7_200_000), end_date: new Date(Date.now() - 3_600_000) })
      .where('event_id', '=', event)
      .execute();
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 200 });
    expect(await listed()).toEqual([false, false, 404, 404]);
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 404 });
    expect((await told()).map(({ kind }) => kind)).toEqual(['agent.state', 'agent.deleted']);
    expect(JSON.parse((await send(app, 'GET', `/api/events/${event}/scheduling`)).text)).toMatchObject({
      agent_id: busy,
    });

    await send(app, 'POST', path, { state: 'idle' });
    expect(await listed()).toEqual([true, true, 200, 200]);
    expect((await send(app, 'GET', `${path}.json`)).text).not.toContain('camera');
    expect((await told()).at(-1)).toEqual({ kind: 'agent.state' });

    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 200 });
    await scheduled(busy);
    expect(await listed()).toEqual([true, true, 200, 200]);
  });
});

async function bound(agentId: string): Promise<{ Authorization: string }> {
  const username = `bound-${agentId.slice(-8)}`;
  await addMachine(app.database, username, { agentId });
  return { Authorization: `Basic ${Buffer.from(`${username}:secret`).toString('base64')}` };
}
