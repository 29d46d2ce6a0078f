import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { workerApp } from '../support/app.ts';
import { field, form } from '../support/form.ts';
import { refusal } from '../support/packages.ts';
import { parseAsPyca } from '../support/pyca.ts';
import { newAgent, type SchedulingJson, schedule } from '../support/scheduling.ts';
import { createSeries, send } from '../support/series.ts';

/** What agents are to record, how far it is, and what is known of them. */
const app = await workerApp();

const pathOf = (id: string) => `/capture-admin/recordings/${encodeURIComponent(id)}`;
const agentPathOf = (name: string) => `/capture-admin/agents/${encodeURIComponent(name)}`;
const get = (path: string) => send(app, 'GET', path);
const read = async (path: string) => JSON.parse((await get(path)).text);
const scheduled = (agent_id = newAgent()) =>
  schedule(app, { agent_id, start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' });
const report = (id: string, state: string, headers = {}) => send(app, 'POST', pathOf(id), { state }, headers);
const change = (id: string, values: Record<string, unknown>) =>
  app.database.updateTable('events').set(values).where('id', '=', id).execute();
const changeSchedule = (id: string, values: Record<string, unknown>) =>
  app.database.updateTable('schedules').set(values).where('event_id', '=', id).execute();
const status = async (id: string) => (await read(`/api/events/${id}`)).status.split('.').at(-1);
const state = (id: string) =>
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
      ['compressing', 'INGESTING'],
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

  test('is 404 for an event that there is not, and 400 for a state that there is not', async () => {
    expect(await report('nobody', 'capturing')).toMatchObject({ status: 404 });
    const id = await scheduled();
    const none = await send(app, 'POST', pathOf(id), {});
    expect(none).toMatchObject(refusal(400, 'allowed are unknown, capturing'));
    expect(await report(id, 'flying')).toMatchObject(refusal(400, '"flying"; allowed are'));
  });

  test('an account that is bound to an agent reports that one alone', async () => {
    const [own, other] = [newAgent(), newAgent()];
    const username = own.replace(' ', '-');
    await addMachine(app.database, username, { agentId: own });
    const headers = { Authorization: `Basic ${Buffer.from(`${username}:secret`).toString('base64')}` };
    expect(await report(await scheduled(own), 'capturing', headers)).toMatchObject({ status: 200 });
    const foreign = await scheduled(other);
    expect(await report(foreign, 'capturing', headers)).toMatchObject({ status: 403 });
    expect((await state(foreign)).state).toBe('');
  });
});

describe('what is known of recordings', () => {
  test('one, all, as JSON and XML; a failed one can be forgotten', async () => {
    const id = await scheduled();
    await report(id, 'capture_error');
    const { 'recording-state-update': update } = await read(`${pathOf(id)}.json`);
    expect(update).toMatchObject({ id, state: 'capture_error' });
    expect(update['time-since-last-update']).toBeLessThan(60_000);
    expect((await get(`${pathOf(id)}.xml`)).text).toContain(`<id>${id}</id><state>capture_error</state>`);
    expect((await get('/capture-admin/recordings.json')).text).toContain(id);
    expect((await get('/capture-admin/recordings')).text).toContain(`<id>${id}</id>`);
    expect(await send(app, 'DELETE', pathOf(id))).toMatchObject({ status: 200 });
    expect((await state(id)).state).toBe('');
    expect(await get(`${pathOf('nobody')}.json`)).toMatchObject({ status: 404 });
  });
});

describe('what is known of agents', () => {
  const name = `Hörsaal_1/2_ä ${newAgent()}`;
  const agentPath = agentPathOf(name);
  beforeAll(async () => {
    await send(app, 'POST', agentPath, { state: 'capturing', address: 'http://hall.test' });
    const configuration = JSON.stringify({ 'capture.device.names': 'camera,screen', 'other.key': 'x' });
    await send(app, 'POST', `${agentPath}/configuration`, { configuration });
  });

  test('rule 19: a display reads the state of one whose name has a slash and an umlaut', async () => {
    const { 'agent-state-update': update } = await read(`${agentPath}.json`);
    expect(update).toMatchObject({
      ...{ name, state: 'capturing', url: 'http://hall.test' },
      capabilities: { item: [{ key: 'capture.device.names', value: 'camera,screen' }] },
    });
    expect(update['time-since-last-update']).toBeLessThan(60_000);
    expect((await get(`${agentPath}.xml`)).text).toMatch(/^<\?xml .*<state>capturing<\/state>/s);
  });

  test('all of them, their capabilities and their configuration', async () => {
    const { agents } = await read('/capture-admin/agents.json');
    expect(agents.agent).toContainEqual(expect.objectContaining({ name, state: 'capturing' }));
    for (const path of ['agents', 'agents.xml']) {
      expect((await get(`/capture-admin/${path}`)).text).toContain(name);
    }
    const names = { key: 'capture.device.names', value: 'camera,screen' };
    expect(await read(`${agentPath}/capabilities.json`)).toEqual({
      'properties-response': { properties: { item: [names] } },
    });
    const items = [names, { key: 'other.key', value: 'x' }];
    expect(await read(`${agentPath}/configuration.json`)).toMatchObject({
      'properties-response': { properties: { item: expect.arrayContaining(items) } },
    });
    for (const [what, entry] of [
      ['capabilities', '<entry key="capture.device.names">camera,screen</entry>'],
      ['configuration', '<entry key="other.key">x</entry>'],
    ]) {
      expect((await get(`${agentPath}/${what}.xml`)).text).toContain(entry);
      expect(await get(`/capture-admin/agents/nobody/${what}.json`)).toMatchObject({ status: 404 });
    }
    expect(await get(`${agentPath}/nothing.json`)).toMatchObject({ status: 404 });
    expect(await get('/capture-admin/agents/nobody.json')).toMatchObject({ status: 404 });
  });

  test('a silent one is offline, and it counts since when it is what it is', async () => {
    const row = app.database.selectFrom('capture_agents').select('state_since').where('id', '=', name);
    const since = async () => (await row.executeTakeFirstOrThrow()).state_since?.getTime();
    const before = await since();
    const ago = (seconds: number) =>
      sql`UPDATE capture_agents SET seen_at = now() - make_interval(secs => ${seconds}) WHERE id = ${name}`.execute(
        app.database,
      );
    await ago(60);
    await send(app, 'POST', agentPath, { state: 'capturing' });
    expect(await since()).toBe(before);
    await ago(200);
    // Some report every five minutes only.
    expect((await get(`${agentPath}.json`)).text).toContain('"capturing"');
    await ago(3 * 3600);
    expect((await get(`${agentPath}.json`)).text).toContain('"offline"');
    await send(app, 'POST', agentPath, { state: 'capturing' });
    expect(await since()).toBeGreaterThan(before ?? 0);
  });

  test('one that has recorded can be forgotten, and is known again when it reports or has something to record', async () => {
    const busy = newAgent();
    const path = agentPathOf(busy);
    const event = await scheduled(busy);
    const listed = async () => [
      (await get('/api/agents')).text.includes(busy),
      (await get('/capture-admin/agents.json')).text.includes(busy),
      (await get(`/api/agents/${encodeURIComponent(busy)}`)).status,
      (await get(`${path}.json`)).status,
    ];
    const told = () =>
      app.database.selectFrom('changes').select('kind').where('agent_id', '=', busy).orderBy('id').execute();
    await send(app, 'POST', path, { state: 'capturing' });
    await send(app, 'POST', `${path}/configuration`, { configuration: '{"capture.device.names":"camera"}' });
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 409 });
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
    await changeSchedule(event, { start_date: hours(-2), end_date: hours(-1) });
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 200 });
    expect(await listed()).toEqual([false, false, 404, 404]);
    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 404 });
    expect((await told()).map(({ kind }) => kind)).toEqual(['agent.state', 'agent.deleted']);
    expect(await read(`/api/events/${event}/scheduling`)).toMatchObject({ agent_id: busy });

    await send(app, 'POST', path, { state: 'idle' });
    expect(await listed()).toEqual([true, true, 200, 200]);
    expect((await get(`${path}.json`)).text).not.toContain('camera');
    expect((await told()).at(-1)).toEqual({ kind: 'agent.state' });

    expect(await send(app, 'DELETE', path)).toMatchObject({ status: 200 });
    await scheduled(busy);
    expect(await listed()).toEqual([true, true, 200, 200]);
  });
});

describe('GET /recordings/calendars', () => {
  const PROPERTIES = 'org.opencastproject.capture.agent.properties';
  let agent: string;
  beforeEach(() => {
    agent = newAgent();
  });
  const in_ = (minutes: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + minutes * 60_000);
  const iso = (date: Date) => date.toISOString().replace('.000', '');
  const planned = (from: number, to: number, more: SchedulingJson = {}, title?: string) =>
    schedule(app, { agent_id: agent, start: iso(in_(from)), end: iso(in_(to)), ...more }, title);
  const ask = async (more = '', headers: Record<string, string> = {}, by = agent) => {
    const path = `/recordings/calendars?agentid=${encodeURIComponent(by)}${more}`;
    const answer = await app.request(path, { headers });
    const etag = answer.headers.get('ETag') ?? '';
    const type = answer.headers.get('Content-Type');
    return { status: answer.status, etag, type, text: await answer.text() };
  };
  const uids = async (more?: string) => parseAsPyca((await ask(more)).text).map(({ uid }) => uid);

  test('rule 5: CRLF, times in UTC, unquoted parameters, and the properties file with two line ends', async () => {
    const title = 'Größe, Zahl; 100 % — ein langer Titel \\ mit 日本語 über mehr als fünfundsiebzig Bytes';
    const [start, end] = [iso(in_(60)), iso(in_(120))];
    const id = await planned(60, 120, { start, end, inputs: ['Channel A', 'Channel B'] }, title);
    const { status, type, text } = await ask();
    expect([status, type]).toEqual([200, 'text/calendar; charset=UTF-8']);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    const [event] = parseAsPyca(text);
    expect(event).toMatchObject({
      uid: id,
      dtstart: start.replaceAll(/[-:]/g, ''),
      dtend: end.replaceAll(/[-:]/g, ''),
      location: agent,
      summary: title.replaceAll(/[,;\\]/g, '\\$&'),
    });
    expect(text).not.toContain('"');
    expect(event?.attach.map(({ fmttype, filename }) => [fmttype, filename])).toEqual([
      ['application/xml', 'episode.xml'],
      ['application/text', PROPERTIES],
    ]);
    const properties = event?.attach[1]?.data ?? '';
    expect(properties.split('\n').length).toBeGreaterThanOrEqual(3);
    expect(properties).toContain('capture.device.names=Channel A,Channel B\n');
    expect(properties).toContain('org.opencastproject.workflow.definition=schedule-and-upload\n');
    expect(event?.attach[0]?.data).toContain('<dcterms:title>Größe, Zahl; 100 %');
  });

  test('line ends in a title make no other property', async () => {
    await change(await planned(60, 120), { title: 'a\nevil.key=1\r\nEND:VEVENT' });
    const [event] = parseAsPyca((await ask()).text);
    expect(event?.attach[1]?.data).toContain('event.title=a evil.key=1 END:VEVENT\n');
    expect(event?.attach[1]?.data).toContain('capture.device.names=default\n');
    expect(event?.summary).toBe('a\\nevil.key=1\\nEND:VEVENT');
  });

  test('an event in a series brings it along', async () => {
    const id = await planned(60, 120);
    const series_id = await createSeries(app, { title: 'Algebra <1>' });
    await change(id, { series_id });
    const [event] = parseAsPyca((await ask()).text);
    expect(event?.['related-to']).toBe(series_id);
    expect(event?.attach.map(({ filename }) => filename)).toEqual(['episode.xml', 'series.xml', PROPERTIES]);
    expect(event?.attach[1]?.data).toContain('Algebra &lt;1&gt;');
    expect(await uids(`&seriesid=${series_id}`)).toEqual([id]);
    expect(await uids('&seriesid=other')).toEqual([]);
  });

  test('a series that there cannot be is refused as an agent is, and not by an answer that breaks off', async () => {
    expect(await ask('&seriesid=%00')).toMatchObject({ status: 400 });
    expect(await ask('', {}, '\0')).toMatchObject({ status: 400 });
  });

  test('the window: until an hour after the end, up to the cutoff, by start', async () => {
    await planned(-200, -61);
    const [late, now] = [await planned(-60, -58), await planned(-10, 30)];
    const [next, far] = [await planned(40, 50), await planned(5000, 5010)];
    expect(await uids()).toEqual([late, now, next, far]);
    expect(await uids(`&cutoff=${in_(1000).getTime()}`)).toEqual([late, now, next]);
    expect(await uids(`&cutoff=${in_(-5).getTime()}`)).toEqual([late, now]);
  });

  test('what has come stays in the window: displays show what goes on', async () => {
    const id = await planned(-10, 30);
    for (const recording_state of ['capturing', 'upload_finished'] as const) {
      await changeSchedule(id, { recording_state });
      expect(await uids()).toEqual([id]);
    }
  });

  test('an unknown agent has an empty calendar', async () => {
    const { status, text } = await ask('', {}, 'Hörsaal_1/2_ä nobody');
    expect([status, parseAsPyca(text)]).toEqual([200, []]);
    expect(text).toMatch(/^BEGIN:VCALENDAR\r\n[\s\S]*END:VCALENDAR\r\n$/);
  });

  test.each(['tomorrow', '-1', '1.5', '9'.repeat(15)])('the cutoff %s is refused', async (cutoff) => {
    expect(await ask(`&cutoff=${cutoff}`)).toMatchObject(refusal(400, 'cutoff'));
  });

  test('rule 17 and 2.3: the tag is known again raw and quoted, and changes with what is shown alone', async () => {
    const id = await planned(60, 120);
    const until = (tag: string) => ask(`&cutoff=${in_(100_000).getTime()}`, tag === '' ? {} : { 'If-None-Match': tag });
    let { etag } = await until('');
    expect((await until(etag.slice(1, -1))).status).toBe(304);
    expect((await until('-1')).status).toBe(200);
    const changes: [string, () => Promise<unknown>][] = [
      ['title', () => change(id, { title: 'Other' })],
      ['new', () => planned(200, 300)],
      ['inputs', () => changeSchedule(id, { inputs: ['x'] })],
      ['moved', () => changeSchedule(id, { end_date: in_(130) })],
      ['deleted', () => send(app, 'DELETE', `/api/events/${id}`)],
    ];
    for (const [what, make] of changes) {
      expect((await until(etag)).status, `before ${what}`).toBe(304);
      await make();
      const changed = await until(etag);
      expect(changed.status, what).toBe(200);
      etag = changed.etag;
    }
    await schedule(app, { agent_id: newAgent(), start: iso(in_(60)), end: iso(in_(70)) });
    const seen_at = new Date(Date.now() + 1000);
    await app.database.updateTable('capture_agents').set({ seen_at }).where('id', '=', agent).execute();
    expect((await until(etag)).status).toBe(304);
  });

  test('without an agent the tag is that of all that is shown', async () => {
    const id = await planned(60, 120);
    const series_id = await createSeries(app);
    await change(id, { series_id });
    const path = `/recordings/calendars?seriesid=${series_id}`;
    const tag = async () => (await app.request(path)).headers.get('ETag') ?? '';
    const first = await tag();
    expect((await app.request(path, { headers: { 'If-None-Match': first } })).status).toBe(304);
    await change(id, { title: 'Another' });
    expect(await tag()).not.toBe(first);
  });

  test('the tag changes when a recording slides into the window, or out of it', async () => {
    const id = await planned(60, 120);
    const { etag } = await ask(`&cutoff=${in_(30).getTime()}`);
    expect((await ask(`&cutoff=${in_(50).getTime()}`, { 'If-None-Match': etag })).status).toBe(304);
    const later = await ask(`&cutoff=${in_(61).getTime()}`, { 'If-None-Match': etag });
    expect(later.status).toBe(200);
    expect(later.text).toContain(id);
    const { etag: all } = await ask();
    // As time does it: without the triggers that note a change.
    await app.database.transaction().execute(async (trx) => {
      await sql`SET LOCAL session_replication_role = replica`.execute(trx);
      await sql`UPDATE schedules SET start_date = now() - interval '3 hours', end_date = now() - interval '2 hours'
        WHERE event_id = ${id}`.execute(trx);
    });
    expect((await ask('', { 'If-None-Match': all })).status).toBe(200);
  });
});

describe('GET /recordings/calendar.json', () => {
  test('moments in milliseconds for displays, names of months for cameras', async () => {
    const agent_id = newAgent();
    const [start, end] = ['2031-03-07T10:00:00Z', '2031-03-07T11:30:00Z'];
    await schedule(app, { agent_id, start, end }, 'Algebra');
    const calendar = (more: string) => read(`/recordings/calendar.json?agentid=${encodeURIComponent(agent_id)}${more}`);
    const [startDate, endDate] = [start, end].map((moment) => Date.parse(moment));
    const agentConfig = { 'event.title': 'Algebra' };
    expect(await calendar('&timestamp=true')).toMatchObject([{ data: { startDate, endDate, agentConfig } }]);
    const [{ data }] = await calendar('');
    expect(data.startDate).toBe('Mar 7, 2031, 10:00:00 AM UTC');
    expect(Date.parse(data.endDate)).toBe(endDate);
    expect(await calendar('&cutoff=0')).toEqual([]);
  });
});
