import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent } from '../support/scheduling.ts';
import { ace, createSeries, send } from '../support/series.ts';

/** The requests of the plugin of Stud.IP, as its sources make them. */
const app = await workerApp();
const { database } = app;
const HOUR = 3_600_000;
const MORNING = Date.UTC(2031, 0, 6, 8);
const iso = (ms: number) => new Date(ms).toISOString().replace('.000', '');

/** Schedules an hour, so many hours after the morning. */
async function scheduled(agent: string, hours = 0, values = {}): Promise<string> {
  const start = MORNING + hours * HOUR;
  return insertScheduled(database, { agent_id: agent, start: iso(start), end: iso(start + HOUR) }, values);
}
const scheduling = async (id: string) => JSON.parse((await send(app, 'GET', `/api/events/${id}/scheduling`)).text);

describe('PUT /recordings/{id}', () => {
  test('moves a recording to another time, room and inputs, and to another workflow', async () => {
    const [agent, other] = [newAgent(), newAgent()];
    const id = await scheduled(agent);
    const agentparameters = [
      ...['event.title=Algebra (Mo 08:00)', `event.location=${other}`, `capture.device.id=${other}`],
      ...['capture.device.names=camera,screen', 'org.opencastproject.workflow.definition=publish', ''],
    ].join('\n');
    const fields = {
      start: String(MORNING + 2 * HOUR),
      end: String(MORNING + 3 * HOUR),
      agent: other,
      agentparameters,
    };
    expect(await send(app, 'PUT', `/recordings/${id}`, fields)).toMatchObject({ status: 200, text: '' });
    expect(await scheduling(id)).toEqual({
      agent_id: other,
      start: iso(MORNING + 2 * HOUR),
      end: iso(MORNING + 3 * HOUR),
      inputs: ['camera', 'screen'],
    });
    const { workflow } = await database
      .selectFrom('schedules')
      .select('workflow')
      .where('event_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(workflow).toBe('publish');
  });

  test('keeps what is not sent', async () => {
    const agent = newAgent();
    const id = await scheduled(agent);
    expect((await send(app, 'PUT', `/recordings/${id}`, { start: String(MORNING + HOUR / 2) })).status).toBe(200);
    const moved = { agent_id: agent, start: iso(MORNING + HOUR / 2), end: iso(MORNING + HOUR) };
    expect(await scheduling(id)).toEqual(moved);
    expect((await send(app, 'PUT', `/recordings/${id}`, { agent: '', wfproperties: 'cut=true' })).status).toBe(200);
    expect(await scheduling(id)).toEqual(moved);
  });

  test('is refused where the agent has another recording, and for bad or unknown ones', async () => {
    const agent = newAgent();
    const id = await scheduled(agent);
    await scheduled(agent, 4);
    const put = (fields: Record<string, string>, event = id) => send(app, 'PUT', `/recordings/${event}`, fields);
    const occupied = { start: String(MORNING + 4 * HOUR), end: String(MORNING + 5 * HOUR) };
    expect((await put(occupied)).status).toBe(409);
    expect(await put({ start: 'tomorrow' })).toMatchObject({ status: 400, text: expect.stringContaining("'start'") });
    expect((await put({ start: String(MORNING + 9 * HOUR) })).status).toBe(400);
    expect((await put({ agent: '\u0007' })).status).toBe(400);
    expect((await put(occupied, 'nowhere')).status).toBe(404);
    await database.updateTable('schedules').set({ recording_state: 'capturing' }).where('event_id', '=', id).execute();
    expect((await put({ start: String(MORNING + 6 * HOUR), end: String(MORNING + 7 * HOUR) })).status).toBe(400);
  });

  test('refuses a configuration that no workflow could use, and long lines at once', async () => {
    const id = await scheduled(newAgent());
    const put = (wfproperties: string) => send(app, 'PUT', `/recordings/${id}`, { wfproperties });
    expect(await put('heights=abc')).toMatchObject({ status: 400, text: expect.stringContaining("'heights'") });
    const lines = (start: number) => Array.from({ length: 600 }, (_, i) => `key${start + i}=1`).join('\n');
    expect((await put(lines(0))).status).toBe(200);
    const text = 'The configuration of a workflow has at most 1000 values.';
    expect(await put(lines(600))).toMatchObject({ status: 400, text });
    const begun = performance.now();
    expect((await put(`a${' '.repeat(50_000)}b`)).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  test('needs write access', async () => {
    const id = await scheduled(newAgent());
    const name = `plugin-${randomUUID()}`;
    const Authorization = await app.account(
      name,
      'ROLE_API_EVENTS_SCHEDULING_EDIT',
      'ROLE_API_EVENTS_DELETE',
      'ROLE_R',
    );
    const ask = (method: string) =>
      send(app, method, `/recordings/${id}`, method === 'PUT' ? {} : undefined, { Authorization });
    for (const method of ['PUT', 'DELETE']) expect((await ask(method)).status).toBe(404);
    await giveAcl(app, id, [ace('ROLE_R')]);
    for (const method of ['PUT', 'DELETE']) expect((await ask(method)).status).toBe(401);
  });
});

describe('DELETE /recordings/{id}', () => {
  test('cancels what was scheduled', async () => {
    const id = await scheduled(newAgent());
    expect(await send(app, 'DELETE', `/recordings/${id}`)).toMatchObject({ status: 200, text: '' });
    expect((await send(app, 'GET', `/api/events/${id}`)).status).toBe(404);
    expect((await send(app, 'DELETE', `/recordings/${id}`)).status).toBe(404);
  });

  test('keeps a recording that has arrived', async () => {
    const id = await scheduled(newAgent(), 0, { processing_state: 'SUCCEEDED' });
    expect((await send(app, 'DELETE', `/recordings/${id}`)).status).toBe(409);
    expect((await send(app, 'GET', `/api/events/${id}`)).status).toBe(200);
  });
});

describe('GET /recordings/conflicts', () => {
  const ask = (type: string, query: Record<string, string>, headers = {}) =>
    send(app, 'GET', `/recordings/conflicts.${type}?${new URLSearchParams(query)}`, undefined, headers);

  test('finds the recordings that overlap, as JSON and XML, and else nothing', async () => {
    const agent = newAgent();
    const id = await scheduled(agent, 0, { title: 'Algebra <1>' });
    const query = { agent, start: String(MORNING + HOUR / 2), end: String(MORNING + 2 * HOUR) };
    const found = await ask('json', query);
    expect([found.status, JSON.parse(found.text)]).toEqual([
      200,
      { totalCount: '1', events: [{ id, title: 'Algebra <1>', start: iso(MORNING), duration: HOUR }] },
    ]);
    expect((await ask('xml', query)).text).toContain(
      `<mediapackage id="${id}" start="${iso(MORNING)}" duration="${HOUR}"><title>Algebra &lt;1&gt;</title></mediapackage>`,
    );
    const later = { ...query, start: String(MORNING + HOUR) };
    for (const type of ['json', 'xml']) expect(await ask(type, later)).toMatchObject({ status: 204, text: '' });
    const weekly = { ...query, rrule: 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=8;BYMINUTE=30', duration: String(HOUR) };
    const month = { ...weekly, end: String(MORNING + 30 * 24 * HOUR), timezone: 'UTC' };
    expect(JSON.parse((await ask('json', month)).text).totalCount).toBe('1');
  });

  test('without a title or identifier of what the account may not read', async () => {
    const agent = newAgent();
    await scheduled(agent, 0, { title: 'Secret' });
    const Authorization = await app.account(`planner-${randomUUID()}`, 'ROLE_API_EVENTS_SCHEDULING_VIEW');
    const query = { agent, start: String(MORNING), end: String(MORNING + HOUR) };
    const { text } = await ask('json', query, { Authorization });
    expect(JSON.parse(text).events).toMatchObject([{ id: '', title: '' }]);
  });

  test.each([
    [{ agent: '' }, "'agent', 'start' and 'end' are required"],
    [{ end: '1' }, "'end' must be after 'start'"],
    [{ start: 'x' }, "The parameter 'start' is"],
    [{ rrule: 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=8;BYMINUTE=0' }, "With 'rrule', 'duration' must be"],
    [{ rrule: 'x', duration: '1000' }, 'RRule'],
  ])('with %j is refused', async (fields, sentence) => {
    const usual = { agent: 'a', start: String(MORNING), end: String(MORNING + HOUR) };
    const { status, text } = await ask('json', { ...usual, ...(fields as object) });
    expect([status, text]).toEqual([400, expect.stringContaining(sentence)]);
  });
});

test('an account of one agent reads the calendar of this agent only', async () => {
  const [own, other] = [newAgent(), newAgent()];
  const [mine, theirs] = [await scheduled(own), await scheduled(other)];
  const name = `machine-${randomUUID()}`;
  await addMachine(database, name, { agentId: own });
  const headers = { Authorization: `Basic ${Buffer.from(`${name}:secret`).toString('base64')}` };
  for (const path of ['/recordings/calendars', '/recordings/calendar.json']) {
    for (const query of ['', `?agentid=${encodeURIComponent(own)}`]) {
      const { status, text } = await send(app, 'GET', `${path}${query}`, undefined, headers);
      expect([status, text.includes(mine), text.includes(theirs)]).toEqual([200, true, false]);
    }
    const refused = await send(app, 'GET', `${path}?agentid=${encodeURIComponent(other)}`, undefined, headers);
    expect([refused.status, refused.text]).toEqual([403, `This account may act for the capture agent '${own}' only.`]);
  }
  const busy = `?agent=${encodeURIComponent(other)}&start=${MORNING}&end=${MORNING + HOUR}`;
  expect((await send(app, 'GET', `/recordings/conflicts.json${busy}`, undefined, headers)).status).toBe(403);
});

test('GET /series/{id}.json: the series of a course is found before a recording is scheduled', async () => {
  const id = await createSeries(app, { title: 'Algebra', creator: ['Emmy Noether', 'Emil Artin'] });
  const found = await send(app, 'GET', `/series/${id}.json`);
  expect([found.status, JSON.parse(found.text)]).toEqual([
    200,
    {
      'http://purl.org/dc/terms/': {
        title: [{ value: 'Algebra' }],
        creator: [{ value: 'Emmy Noether' }, { value: 'Emil Artin' }],
        identifier: [{ value: id }],
      },
    },
  ]);
  const stranger = { Authorization: await app.account('stranger', 'ROLE_API_SERIES_VIEW') };
  expect((await send(app, 'GET', `/series/${id}.json`, undefined, stranger)).status).toBe(404);
  expect((await send(app, 'GET', `/series/${id}`)).status).toBe(404);
});
