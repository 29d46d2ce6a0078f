import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { licenseCatalog } from '../support/event-writes.ts';
import { eventFields, field, file, type Part } from '../support/form.ts';
import { newAgent, schedule, scheduledFields } from '../support/scheduling.ts';
import { ace, catalogOf, createSeries, send } from '../support/series.ts';

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:30:00Z';
const clip = file('presenter', 'a.mp4', bytes(5000));

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

const slot = (agent: string) => ({ agent_id: agent, start: START, end: END });
const withMetadata = (agent: string, metadata: Record<string, unknown>) => [
  ...eventFields({ metadata }),
  field('scheduling', JSON.stringify(slot(agent))),
];
const event = async (id: string) => JSON.parse((await send(app, 'GET', `/api/events/${id}`)).text);
const refused = async (parts: readonly Part[]) => {
  const answer = await post(app, parts);
  return { status: answer.status, text: await answer.text() };
};
const stored = (event_id: string) =>
  app.database.selectFrom('schedules').selectAll().where('event_id', '=', event_id).executeTakeFirstOrThrow();
const workflowsOf = (event_id: string) =>
  app.database.selectFrom('workflows').selectAll().where('event_id', '=', event_id).execute();

describe('a scheduled event', () => {
  test('is where and when it is recorded, whatever its metadata say', async () => {
    const agent = newAgent();
    const id = await created(
      await post(
        app,
        withMetadata(agent, {
          location: 'Elsewhere',
          startDate: '2019-01-01',
          startTime: '01:00:00Z',
          created: '2018-01-01T00:00:00Z',
          duration: '00:00:05',
        }),
      ),
    );
    expect(await event(id)).toMatchObject({
      title: 'Lecture',
      location: agent,
      start: START,
      created: START,
      duration: 5_400_000,
      processing_state: '',
      status: 'EVENTS.EVENTS.STATUS.SCHEDULED',
      creator: 'Administrator',
    });
  });

  test('starts no workflow; which one is to run is kept with the schedule', async () => {
    const parts = eventFields({ workflow: 'my own', configuration: { flagForReview: 'true' } });
    const id = await created(
      await post(app, [...parts, field('scheduling', JSON.stringify(slot(newAgent())))]),
    );
    expect(await workflowsOf(id)).toEqual([]);
    expect(await stored(id)).toMatchObject({
      workflow: 'my own',
      configuration: { flagForReview: 'true' },
      recording_state: '',
      gap_ms: 0,
      allow_conflict: false,
    });
  });

  test('has the ACL, the further catalogs, the series and the presenters that were sent', async () => {
    await app.account('ada', 'ROLE_USER');
    await app.database
      .updateTable('accounts')
      .set({ name: 'Ada L.' })
      .where('username', '=', 'ada')
      .execute();
    const series = await createSeries(app, { title: 'Logic' });
    const catalogs = [
      catalogOf({ title: 'Lecture', isPartOf: series, creator: ['ada', 'Grace'] }, 'dublincore/episode'),
      catalogOf({ licensor: 'Ada', permits: ['copy'] }, 'license/episode'),
    ];
    const id = await created(
      await post(app, [
        field('acl', JSON.stringify([ace('ROLE_A'), ace('ROLE_B', 'write')])),
        field('metadata', JSON.stringify(catalogs.flatMap((catalog) => JSON.parse(catalog)))),
        field('processing', '{"workflow":"schedule-and-upload"}'),
        field('scheduling', JSON.stringify(slot(newAgent()))),
      ]),
    );
    expect(await event(id)).toMatchObject({
      is_part_of: series,
      series: 'Logic',
      presenter: ['Ada L.', 'Grace'],
    });
    const { text } = await send(app, 'GET', `/api/events/${id}/acl`);
    expect(JSON.parse(text)).toEqual([ace('ROLE_A'), ace('ROLE_B', 'write')]);
    const license = await send(app, 'GET', `/api/events/${id}/metadata?type=license/episode`);
    expect(JSON.parse(license.text)).toMatchObject([{ value: 'Ada' }, { value: ['copy'] }]);
  });

  test('may have an identifier of the client’s choice', async () => {
    const identifier = `choice-${randomUUID()}`;
    expect(await created(await post(app, withMetadata(newAgent(), { identifier })))).toBe(identifier);
  });

  test('makes its agent known', async () => {
    const agent = newAgent();
    await schedule(app, slot(agent));
    const { text } = await send(app, 'GET', `/api/agents/${encodeURIComponent(agent)}`);
    expect(JSON.parse(text)).toMatchObject({ agent_id: agent, status: 'unknown', inputs: [] });
  });

  test('is recorded by an agent with a slash in its name only when that has reported itself', async () => {
    const agent = `${newAgent()}/east`;
    expect(await refused(scheduledFields(slot(agent)))).toMatchObject({
      status: 400,
      text: expect.stringContaining(`Unable to parse device: the value of 'agent_id' is "${agent}"`),
    });
    await send(app, 'POST', `/capture-admin/agents/${encodeURIComponent(agent)}`, { state: 'idle' });
    expect((await event(await schedule(app, slot(agent)))).location).toBe(agent);
  });

  test('keeps a gap to others where one is configured', async () => {
    const careful = await createTestApp((storage) => storage, { SCHEDULE_MIN_GAP_SECONDS: '600' });
    try {
      const agent = newAgent();
      await schedule(careful, slot(agent));
      const from = (start: string) =>
        post(careful, scheduledFields({ ...slot(agent), start, end: '2030-01-07T12:00:00Z' }));
      expect((await from('2030-01-07T10:39:59Z')).status).toBe(409);
      expect((await from('2030-01-07T10:40:00Z')).status).toBe(201);
    } finally {
      await careful.close();
    }
  });
});

describe('an identifier that is taken', () => {
  const TAKEN = (id: string) => ({
    status: 409,
    text: `An event with the identifier '${id}' exists already.`,
  });

  test('is refused in a sentence, not as a conflict of times', async () => {
    const identifier = `taken-${randomUUID()}`;
    const agent = newAgent();
    await created(await post(app, withMetadata(agent, { identifier })));
    expect(await refused(withMetadata(agent, { identifier }))).toEqual(TAKEN(identifier));
    expect(await refused(withMetadata(newAgent(), { identifier }))).toEqual(TAKEN(identifier));
    expect(await refused(eventFields({ metadata: { identifier } }))).toEqual(TAKEN(identifier));
  });

  test('goes to one of many requests at the same moment, whatever their agents', async () => {
    const identifier = `race-${randomUUID()}`;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        refused(
          i % 3 === 0 ? eventFields({ metadata: { identifier } }) : withMetadata(newAgent(), { identifier }),
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array.from({ length: 11 }, () => 409),
    ]);
    expect(answers.filter(({ status }) => status === 409)).toEqual(
      Array.from({ length: 11 }, () => TAKEN(identifier)),
    );
  });
});

describe('a recording that is sent along', () => {
  test('is attached, and its workflow starts at once', async () => {
    const parts = eventFields({ configuration: { flagForReview: 'true' } });
    const id = await created(
      await post(app, [...parts, clip, field('scheduling', JSON.stringify(slot(newAgent())))]),
    );
    const tracks = await app.database.selectFrom('tracks').selectAll().where('event_id', '=', id).execute();
    expect(tracks).toMatchObject([{ flavor: 'presenter/source', filename: 'a.mp4', size: 5000 }]);
    expect(await workflowsOf(id)).toMatchObject([
      { definition: 'schedule-and-upload', configuration: { flagForReview: 'true' } },
    ]);
    expect((await stored(id)).recording_state).toBe('upload_finished');
    expect(await event(id)).toMatchObject({ start: START, status: 'EVENTS.EVENTS.STATUS.PENDING' });
    expect((await counts(app)).staged).toBe(0);
  });

  test('goes away again when something else is to be recorded then', async () => {
    const agent = newAgent();
    await schedule(app, slot(agent));
    const before = await counts(app);
    expect((await post(app, [clip, ...scheduledFields(slot(agent))])).status).toBe(409);
    expect(await counts(app)).toEqual(before);
  });

  test('is refused with a rule: nothing says which event it belongs to', async () => {
    const before = await counts(app);
    const rule = {
      agent_id: newAgent(),
      start: START,
      end: '2030-01-20T00:00:00Z',
      duration: 1000,
      rrule: 'FREQ=DAILY;BYHOUR=8;BYMINUTE=0',
    };
    expect(await refused([...scheduledFields(rule), clip])).toEqual({
      status: 400,
      text: "Recordings cannot be sent along with an 'rrule': nothing says which of its events they belong to. Send each to its event.",
    });
    expect(await counts(app)).toEqual(before);
  });
});

test('version 1.0.0 ignores scheduling: the event is one of its own day', async () => {
  const answer = await post(app, scheduledFields(slot(newAgent())), { Accept: 'application/v1.0.0+json' });
  expect(await event(await created(answer))).toMatchObject({
    location: '',
    processing_state: 'INSTANTIATED',
  });
});
