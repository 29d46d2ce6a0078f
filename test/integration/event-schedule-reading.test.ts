import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPool } from '../../src/database/pool.ts';
import type { DB } from '../../src/database/schema.ts';
import { loadExtras } from '../../src/events/extras.ts';
import type { EventRow } from '../../src/events/queries.ts';
import { EventQuery } from '../../src/events/query.schemas.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { readPage } from '../support/lists.ts';
import { insertEvent } from '../support/publication.ts';
import { insertScheduled, type ScheduleValues } from '../support/scheduled-event.ts';

const PREFIX = 'EVENTS.EVENTS.STATUS.';
const MORNING = { start: '2031-03-03T08:00:00Z', end: '2031-03-03T09:30:00Z' };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

type Read = (id: string, query?: string, version?: string) => Promise<Record<string, unknown>>;

const accept = (version: string) => ({ Accept: `application/v${version}+json` });
const single: Read = async (id, query = '', version = '1.11.0') => {
  const answer = await app.request(`/api/events/${id}?${query}`, { headers: accept(version) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};
const listed: Read = async (id, query = '', version = '1.11.0') => {
  const { rows } = await readPage(app, `/api/events?${query}`, accept(version));
  const [event, ...others] = rows.filter(({ identifier }) => identifier === id);
  expect(others).toEqual([]);
  return event ?? {};
};
const PLACES: [string, Read][] = [
  ['GET /api/events/{id}', single],
  ['GET /api/events', listed],
];

let agents = 0;
/** A scheduled event on a new agent, the last one of so many. */
const scheduled = (
  schedule: Partial<Omit<ScheduleValues, 'agent_id'>> = {},
  values: Parameters<typeof insertScheduled>[2] = {},
) => insertScheduled(app.database, { ...MORNING, agent_id: `Agent ${++agents}`, ...schedule }, values);

describe.each(PLACES)('%s', (_, read) => {
  test('withscheduling=true adds agent_id, start, end and inputs of a scheduled event', async () => {
    const id = await scheduled({ inputs: ['camera', 'screen'] });
    expect((await read(id, 'withscheduling=true')).scheduling).toEqual({
      agent_id: `Agent ${agents}`,
      start: '2031-03-03T08:00:00Z',
      end: '2031-03-03T09:30:00Z',
      inputs: ['camera', 'screen'],
    });
  });

  test('withscheduling leaves out inputs when the agent is to decide', async () => {
    const { scheduling } = await read(await scheduled(), 'withscheduling=true');
    expect(Object.keys(scheduling as object).sort()).toEqual(['agent_id', 'end', 'start']);
  });

  test('withscheduling is an empty object for an event that is not scheduled', async () => {
    const id = await insertEvent(app.database);
    expect((await read(id, 'withscheduling=TRUE')).scheduling).toEqual({});
  });

  test.each([
    ['withscheduling=true', '1.0.0'],
    ['withscheduling=false', '1.11.0'],
    ['withscheduling=1', '1.11.0'],
    ['', '1.11.0'],
  ])('"%s" adds nothing in %s', async (query, version) => {
    expect(await read(await scheduled(), query, version)).not.toHaveProperty('scheduling');
  });

  test('withscheduling is there from 1.1.0 on', async () => {
    expect(await read(await scheduled(), 'withscheduling=true', '1.1.0')).toHaveProperty(
      'scheduling.agent_id',
    );
  });

  test('a scheduled event has no processing state, the status SCHEDULED and the location of its agent', async () => {
    expect(await read(await scheduled())).toMatchObject({
      processing_state: '',
      status: `${PREFIX}SCHEDULED`,
      location: `Agent ${agents}`,
      start: '2031-03-03T08:00:00Z',
      created: '2031-03-03T08:00:00Z',
      duration: 5_400_000,
    });
  });

  const RECORDED = {
    start_date: new Date('2031-03-03T08:15:00Z'),
    duration: 3_600_000,
  };

  test.each(['1.0.0', '1.3.0'])('in %s start and duration are the technical ones', async (version) => {
    expect(await read(await scheduled({}, RECORDED), '', version)).toMatchObject({
      start: '2031-03-03T08:00:00Z',
      duration: 5_400_000,
    });
  });

  test.each(['1.4.0', '1.11.0'])('in %s start and duration are the bibliographic ones', async (version) => {
    expect(await read(await scheduled({}, RECORDED), '', version)).toMatchObject({
      start: '2031-03-03T08:15:00Z',
      duration: 3_600_000,
    });
  });

  test('from 1.4.0 on a duration that is not known is null, also of a scheduled event', async () => {
    expect((await read(await scheduled({}, { duration: null }), '', '1.4.0')).duration).toBeNull();
  });

  test('before 1.4.0 an event that is not scheduled starts as its catalog says and has no duration', async () => {
    const id = await insertEvent(app.database, RECORDED);
    const event = await read(id, '', '1.3.0');
    expect(event.start).toBe('2031-03-03T08:15:00Z');
    expect(event).not.toHaveProperty('duration');
  });
});

test('the single event is another one to caches as soon as its schedule is moved', async () => {
  const id = await scheduled();
  const tag = async () => (await app.request(`/api/events/${id}?withscheduling=true`)).headers.get('ETag');
  const before = await tag();
  expect(await tag()).toBe(before);
  await app.database
    .updateTable('schedules')
    .set({ end_date: new Date('2031-03-03T10:00:00Z') })
    .where('event_id', '=', id)
    .execute();
  expect(await tag()).not.toBe(before);
});

test('withscheduling costs a list one query, however many events it has', async () => {
  const ids = [await scheduled(), await scheduled(), await insertEvent(app.database)];
  const queries: CompiledQuery[] = [];
  const pool = createPool(app.context.config.databaseUrl ?? '', { max: 1, onError: () => undefined });
  const database = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void queries.push(query),
  });
  const events = ids.map((id) => ({ id })) as EventRow[];
  const extrasOf = await loadExtras(database, events, EventQuery.parse({ withscheduling: 'true' }), {
    ...app.context,
    publicUrl: '',
    version: '1.11.0',
    catalogs: app.context.catalogs.event,
  });
  await database.destroy();
  expect(queries).toHaveLength(1);
  expect(ids.map((id) => Object.keys(extrasOf(id).scheduling ?? {}).length)).toEqual([3, 3, 0]);
});

describe('the status', () => {
  const find = async (status: string, agent: string) =>
    (await readPage(app, `/api/events?filter=${encodeURIComponent(`status:${status},agent_id:${agent}`)}`))
      .ids;

  test.each([
    ['', 'SCHEDULED'],
    ['capturing', 'RECORDING'],
    ['capture_finished', 'RECORDING'],
    ['manifest', 'INGESTING'],
    ['manifest_finished', 'INGESTING'],
    ['compressing', 'INGESTING'],
    ['uploading', 'INGESTING'],
    ['upload_finished', 'INGESTING'],
    ['capture_error', 'RECORDING_FAILURE'],
    ['manifest_error', 'RECORDING_FAILURE'],
    ['compressing_error', 'RECORDING_FAILURE'],
    ['upload_error', 'RECORDING_FAILURE'],
  ])('of a scheduled event with the recording state "%s" is %s', async (recording_state, status) => {
    const id = await scheduled();
    await app.database.updateTable('schedules').set({ recording_state }).where('event_id', '=', id).execute();
    expect(await single(id)).toMatchObject({ processing_state: '', status: PREFIX + status });
    expect(await find(PREFIX + status, `Agent ${agents}`)).toEqual([id]);
    expect(await find(`${PREFIX}PROCESSED`, `Agent ${agents}`)).toEqual([]);
  });

  test.each([
    ['INSTANTIATED', 'PENDING'],
    ['RUNNING', 'PROCESSING'],
    ['FAILING', 'PROCESSING'],
    ['PAUSED', 'PAUSED'],
    ['SUCCEEDED', 'PROCESSED'],
    ['FAILED', 'PROCESSING_FAILURE'],
    ['STOPPED', 'PROCESSING_CANCELLED'],
  ])(
    'of a scheduled event whose workflow is %s is %s, whatever is known of its recording',
    async (state, status) => {
      for (const recording_state of ['', 'upload_finished', 'capture_error']) {
        const id = await scheduled({ recording_state }, { processing_state: state });
        expect(await single(id)).toMatchObject({ processing_state: state, status: PREFIX + status });
        expect(await find(PREFIX + status, `Agent ${agents}`)).toEqual([id]);
      }
    },
  );

  test.each(['SCHEDULED', `${PREFIX}`, `${PREFIX}scheduled`, `${PREFIX}SCHEDULED.`, `x${PREFIX}SCHEDULED`])(
    'is filtered by as a whole: %s finds nothing',
    async (status) => {
      await scheduled();
      expect(await find(status, `Agent ${agents}`)).toEqual([]);
    },
  );
});
