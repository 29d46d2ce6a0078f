import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, post } from '../support/app-uploads.ts';
import { licenseCatalog } from '../support/event-writes.ts';
import { eventFields, field, type Part } from '../support/form.ts';
import { newAgent, type SchedulingJson, schedule, scheduledFields } from '../support/scheduling.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const HOUR_MS = 3_600_000;
const DAILY = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0';

let app: TestApp;
let remove: () => Promise<void>;
beforeAll(async () => {
  const folder = await licenseCatalog();
  remove = folder.remove;
  app = await createTestApp((storage) => storage, { METADATA_DIR: folder.dir });
});
afterAll(async () => {
  await app?.close();
  await remove?.();
});

/** Every day at nine, from the first of January 2030 on. */
const days = (count: number, agent = newAgent()): SchedulingJson => ({
  agent_id: agent,
  start: '2030-01-01T00:00:00Z',
  end: new Date(Date.UTC(2030, 0, count, 23)).toISOString(),
  duration: HOUR_MS,
  rrule: DAILY,
});
const scheduling = (json: SchedulingJson): Part => field('scheduling', JSON.stringify(json));

async function identifiers(parts: readonly Part[], headers: Record<string, string> = {}): Promise<string[]> {
  const answer = await post(app, parts, headers);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return (JSON.parse(text) as { identifier: string }[]).map(({ identifier }) => identifier);
}

const event = async (id: string) => JSON.parse((await send(app, 'GET', `/api/events/${id}`)).text);

test('the events of a rule are numbered in chronological order, as wide as the last number', async () => {
  const ids = await identifiers(scheduledFields(days(12), 'Logic'));
  const events = await Promise.all(ids.map(event));
  expect(events.map(({ title, start }) => [title, start])).toEqual(
    Array.from({ length: 12 }, (_, i) => {
      const number = String(i + 1).padStart(2, '0');
      return [`Logic ${number}`, `2030-01-${number}T09:00:00Z`];
    }),
  );
});

test('a title that has no room for a number is refused; one that has just room can be written back', async () => {
  const answer = await post(app, scheduledFields(days(12), 'é'.repeat(999)));
  expect(answer.status).toBe(400);
  expect(await answer.text()).toBe(
    "The value of 'title' has 1998 bytes of UTF-8; allowed are 1997, because numbers are added to it.",
  );
  const [id = ''] = await identifiers(scheduledFields(days(12), 'x'.repeat(1997)));
  const title = (await event(id)).title as string;
  expect(title).toMatch(/^x{1997} 01$/);
  const body = new URLSearchParams({ metadata: JSON.stringify([{ id: 'title', value: title }]) });
  const path = `/api/events/${id}/metadata?type=dublincore/episode`;
  expect((await app.request(path, { method: 'PUT', body })).status).toBe(204);
});

test('nine events need one digit; without a title the number is all', async () => {
  const ids = await identifiers([
    field('acl', '[]'),
    field('metadata', catalogOf({ description: 'No title' }, 'dublincore/episode')),
    field('processing', '{"workflow":"schedule-and-upload"}'),
    scheduling(days(9)),
  ]);
  const titles = (await Promise.all(ids.map(event))).map(({ title }) => title);
  expect(titles).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
});

test('a rule that gives one event numbers it as well, under an identifier of its own', async () => {
  const identifier = `single-${randomUUID()}`;
  const parts = [...eventFields({ title: 'Logic', metadata: { identifier } }), scheduling(days(1))];
  const answer = await post(app, parts);
  const body = (await answer.json()) as { identifier: string };
  expect(answer.status).toBe(201);
  expect(answer.headers.get('Location')).toBe(`http://inlet.test/api/events/${body.identifier}`);
  expect(body.identifier).not.toBe(identifier);
  expect(await event(body.identifier)).toMatchObject({ title: 'Logic 1', start: '2030-01-01T09:00:00Z' });
});

test('an identifier that the client chose is for none of them', async () => {
  const identifier = `several-${randomUUID()}`;
  const parts = () => [...eventFields({ metadata: { identifier } }), scheduling(days(2))];
  const ids = [...(await identifiers(parts())), ...(await identifiers(parts()))];
  expect(new Set([...ids, identifier]).size).toBe(5);
});

test('each event has the ACL, the catalogs, the series, the times and the schedule to itself', async () => {
  const agent = newAgent();
  const series = await createSeries(app, { title: 'Logic' }, [ace('ROLE_SERIES')]);
  const catalogs = [
    catalogOf({ title: 'Logic', isPartOf: series, subjects: ['Maths'] }, 'dublincore/episode'),
    catalogOf({ licensor: 'Ada' }, 'license/episode'),
  ];
  const ids = await identifiers([
    field('acl', JSON.stringify([ace('ROLE_A'), ace('ROLE_B', 'write')])),
    field('metadata', JSON.stringify(catalogs.flatMap((catalog) => JSON.parse(catalog)))),
    field('processing', '{"workflow":"schedule-and-upload","configuration":{"a":"b"}}'),
    scheduling({ ...days(3, agent), inputs: ['camera'] }),
  ]);
  for (const [i, id] of ids.entries()) {
    const start = `2030-01-0${i + 1}T09:00:00Z`;
    expect(await event(id)).toMatchObject({
      location: agent,
      start,
      created: start,
      duration: HOUR_MS,
      series: 'Logic',
      subjects: ['Maths'],
      processing_state: '',
      status: 'EVENTS.EVENTS.STATUS.SCHEDULED',
    });
    const acl = await send(app, 'GET', `/api/events/${id}/acl`);
    expect(JSON.parse(acl.text)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'write')]);
    const license = await send(app, 'GET', `/api/events/${id}/metadata?type=license/episode`);
    expect(JSON.parse(license.text)).toMatchObject([{ value: 'Ada' }, {}]);
  }
  const schedules = await app.database
    .selectFrom('schedules')
    .select(['event_id', 'inputs', 'workflow', 'configuration'])
    .where('agent_id', '=', agent)
    .orderBy('start_date')
    .execute();
  expect(schedules).toEqual(
    ids.map((event_id) => ({
      event_id,
      inputs: ['camera'],
      workflow: 'schedule-and-upload',
      configuration: { a: 'b' },
    })),
  );
  const workflows = await app.database
    .selectFrom('workflows')
    .select('id')
    .where('event_id', 'in', ids)
    .execute();
  expect(workflows).toEqual([]);
});

test('each event is found by its catalogs, and by those whom its ACL lets read it', async () => {
  const word = `licensor${randomUUID().slice(0, 8)}`;
  const catalogs = [
    catalogOf({ title: 'Logic' }, 'dublincore/episode'),
    catalogOf({ licensor: word }, 'license/episode'),
  ];
  const ids = await identifiers([
    field('acl', JSON.stringify([ace('ROLE_A')])),
    field('metadata', JSON.stringify(catalogs.flatMap((catalog) => JSON.parse(catalog)))),
    field('processing', '{"workflow":"schedule-and-upload"}'),
    scheduling(days(3)),
  ]);
  const found = async (role: string) => {
    const Authorization = await app.account(`reader-${randomUUID()}`, 'ROLE_API_EVENTS_VIEW', role);
    const answer = await send(app, 'GET', `/api/events?filter=textFilter:${word}`, undefined, {
      Authorization,
    });
    return (JSON.parse(answer.text) as { identifier: string }[]).map(({ identifier }) => identifier);
  };
  expect((await found('ROLE_A')).sort()).toEqual([...ids].sort());
  expect(await found('ROLE_B')).toEqual([]);
});

test('the hour of a rule follows the clocks of the agent', async () => {
  const agent = newAgent();
  await send(app, 'POST', `/capture-admin/agents/${encodeURIComponent(agent)}/configuration`, {
    configuration: JSON.stringify({ 'capture.device.timezone': 'Europe/Berlin' }),
  });
  const ids = await identifiers(
    scheduledFields({
      agent_id: agent,
      start: '2030-03-30T00:00:00Z',
      end: '2030-04-01T00:00:00Z',
      duration: HOUR_MS,
      rrule: DAILY,
    }),
  );
  const starts = (await Promise.all(ids.map(event))).map(({ start }) => start);
  expect(starts).toEqual(['2030-03-30T09:00:00Z', '2030-03-31T08:00:00Z']);
});

test('one occurrence in the way refuses them all, and names every one that is', async () => {
  const agent = newAgent();
  await schedule(app, { agent_id: agent, start: '2030-01-02T09:30:00Z', duration: HOUR_MS }, 'Second');
  await schedule(app, { agent_id: agent, start: '2030-01-04T08:30:00Z', duration: HOUR_MS }, 'Fourth');
  const before = await counts(app);
  const answer = await post(app, scheduledFields(days(5, agent)), { Accept: 'application/v1.1.0+json' });
  expect(answer.status).toBe(409);
  expect(answer.headers.get('Content-Type')).toBe('application/v1.1.0+json');
  expect(await answer.json()).toEqual([
    { start: '2030-01-02T09:30:00Z', end: '2030-01-02T10:30:00Z', title: 'Second' },
    { start: '2030-01-04T08:30:00Z', end: '2030-01-04T09:30:00Z', title: 'Fourth' },
  ]);
  expect(await counts(app)).toEqual(before);
});

test('occurrences that overlap one another are refused with 400, and leave nothing, not even their agent', async () => {
  const agent = newAgent();
  const before = await counts(app);
  const answer = await post(app, scheduledFields({ ...days(2, agent), duration: 25 * HOUR_MS }, 'Long'));
  expect([answer.status, await answer.text()]).toEqual([400, 'RRULE periods overlap']);
  expect(await counts(app)).toEqual(before);
  expect((await app.request(`/api/agents/${encodeURIComponent(agent)}`)).status).toBe(404);
});

test('occurrences that only touch are created', async () => {
  expect(await identifiers(scheduledFields({ ...days(2), duration: 24 * HOUR_MS }))).toHaveLength(2);
});

test('the title of an event in the way is not told to who may not read it', async () => {
  const agent = newAgent();
  const author = await app.account(`author-${randomUUID()}`, 'ROLE_API_EVENTS_CREATE');
  await post(app, [
    ...eventFields({ title: 'Secret', acl: [{ role: 'ROLE_OTHER', action: 'read' }] }),
    scheduling(days(1, agent)),
  ]);
  const answer = await post(app, scheduledFields(days(1, agent)), { Authorization: author });
  expect(await answer.json()).toEqual([
    { start: '2030-01-01T09:00:00Z', end: '2030-01-01T10:00:00Z', title: '' },
  ]);
});

test('what a thousand events would multiply into the absurd is refused', async () => {
  const acl = Array.from({ length: 101 }, (_, i) => ({ role: `ROLE_${i}`, action: 'read' }));
  const refused = async (parts: readonly Part[]) => {
    const answer = await post(app, parts);
    return [answer.status, await answer.text()];
  };
  expect(await refused([...eventFields({ acl }), scheduling(days(1000))])).toEqual([
    400,
    "The part 'acl' has 101 entries, and by the part 'scheduling' there are 1000 events; allowed are 100000 entries for all events together.",
  ]);
  const description = 'x'.repeat(2000);
  const [status, text] = await refused([
    ...eventFields({ metadata: { description } }),
    scheduling(days(1000)),
  ]);
  expect(status).toBe(400);
  expect(text).toMatch(
    /^The part 'metadata' has \d+ characters, and by the part 'scheduling' there are 1000 events/,
  );
});

test('a thousand events are created by one request', async () => {
  const ids = await identifiers(scheduledFields(days(1000), 'Logic'));
  expect(new Set(ids).size).toBe(1000);
  expect((await event(ids.at(-1) ?? '')).title).toBe('Logic 1000');
  const tooMany = await post(app, scheduledFields(days(1001)));
  expect(tooMany.status).toBe(400);
  expect(await tooMany.text()).toContain('1000');
});
