import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EventQuery } from '#catalogue/events/event.schemas.ts';
import { type EventRow, loadExtras } from '#catalogue/events/event-json.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { follow, readPage } from '../support/lists.ts';
import { loggedDatabase } from '../support/logged-database.ts';
import { insertEvent } from '../support/publication.ts';
import { insertScheduled, type ScheduleValues } from '../support/scheduled-event.ts';
import { ace } from '../support/series.ts';

const PREFIX = 'EVENTS.EVENTS.STATUS.';
const MORNING = { start: '2031-03-03T08:00:00Z', end: '2031-03-03T09:30:00Z' };

const app = await workerApp();
const { database } = app;

/** Reads the event that has a word for its identifier and its title. */
type Read = (id: string, query?: string, version?: string) => Promise<Record<string, unknown>>;
type EventValues = Parameters<typeof insertScheduled>[2];

const accept = (version: string) => ({ Accept: `application/v${version}+json` });
const single: Read = async (id, query = '', version = '1.11.0') => {
  const answer = await app.request(`/api/events/${id}?${query}`, { headers: accept(version) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};
const listed: Read = async (id, query = '', version = '1.11.0') => {
  const { rows } = await readPage(app, `/api/events?filter=textFilter:${id}&${query}`, accept(version));
  expect(rows.map(({ identifier }) => identifier)).toEqual([id]);
  return rows[0] ?? {};
};
const word = () => `word${randomUUID().replaceAll('-', '')}`;
const named = (id = word()) => ({ id, title: id });
let agent = '';
/** A scheduled event on a new agent. */
const scheduled = (schedule: Partial<ScheduleValues> = {}, values: EventValues = {}) => {
  agent = `Agent ${randomUUID()}`;
  return insertScheduled(database, { ...MORNING, agent_id: agent, ...schedule }, { ...named(), ...values });
};

describe.each([
  ['GET /api/events/{id}', single],
  ['GET /api/events', listed],
])('%s', (_, read) => {
  test.each([['1.1.0'], ['1.11.0']])(
    'withscheduling=true adds agent_id, start, end and the inputs that were chosen in %s',
    async (version) => {
      const ask = async (id: string) => (await read(id, 'withscheduling=true', version)).scheduling;
      const inputs = ['camera', 'screen'];
      const expected = () => ({ agent_id: agent, start: MORNING.start, end: MORNING.end });
      expect(await ask(await scheduled({ inputs }))).toEqual({ ...expected(), inputs });
      expect(await ask(await scheduled())).toEqual(expected());
    },
  );

  test('withscheduling is an empty object for an event that is not scheduled', async () => {
    const id = await insertEvent(database, named());
    expect((await read(id, 'withscheduling=TRUE')).scheduling).toEqual({});
  });

  test.each([
    ['withscheduling=true', '1.0.0'],
    ['withscheduling=false', '1.11.0'],
    ['', '1.11.0'],
  ])('"%s" adds nothing in %s', async (query, version) => {
    expect(await read(await scheduled(), query, version)).not.toHaveProperty('scheduling');
  });

  test('a scheduled event has no processing state, the status SCHEDULED and the location of its agent', async () => {
    expect(await read(await scheduled())).toMatchObject({
      ...{ processing_state: '', status: `${PREFIX}SCHEDULED`, location: agent, duration: 5_400_000 },
      ...{ start: MORNING.start, created: MORNING.start },
    });
  });

  const RECORDED = { start_date: new Date('2031-03-03T08:15:00Z'), duration: 3_600_000 };

  test.each([
    ['1.0.0', 'technical', MORNING.start, 5_400_000],
    ['1.3.0', 'technical', MORNING.start, 5_400_000],
    ['1.4.0', 'bibliographic', '2031-03-03T08:15:00Z', 3_600_000],
    ['1.11.0', 'bibliographic', '2031-03-03T08:15:00Z', 3_600_000],
  ])('in %s start and duration are the %s ones', async (version, _kind, start, duration) => {
    expect(await read(await scheduled({}, RECORDED), '', version)).toMatchObject({ start, duration });
  });

  test('from 1.4.0 on a duration that is not known is null, also of a scheduled event', async () => {
    expect((await read(await scheduled({}, { duration: null }), '', '1.4.0')).duration).toBeNull();
  });

  test('before 1.4.0 an event that is not scheduled starts as its catalog says and has no duration', async () => {
    const event = await read(await insertEvent(database, { ...named(), ...RECORDED }), '', '1.3.0');
    expect(event.start).toBe('2031-03-03T08:15:00Z');
    expect(event).not.toHaveProperty('duration');
  });
});

test('the single event is another one to caches as soon as its schedule is moved', async () => {
  const id = await scheduled();
  const tag = async () => (await app.request(`/api/events/${id}?withscheduling=true`)).headers.get('ETag');
  const before = await tag();
  expect(await tag()).toBe(before);
  const end_date = new Date('2031-03-03T10:00:00Z');
  await database.updateTable('schedules').set({ end_date }).where('event_id', '=', id).execute();
  expect(await tag()).not.toBe(before);
});

test('withscheduling costs a list one query, however many events it has', async () => {
  const ids = [await scheduled(), await scheduled(), await insertEvent(database)];
  const logged = loggedDatabase(app.context.config.databaseUrl ?? '');
  const events = ids.map((id) => ({ id })) as EventRow[];
  const query = EventQuery.parse({ withscheduling: 'true' });
  const extrasOf = await loadExtras(logged.database, events, query, {
    ...app.context.addresses,
    version: '1.11.0',
    catalogs: app.context.catalogs.event,
  });
  await logged.database.destroy();
  expect(logged.queries).toHaveLength(1);
  expect(ids.map((id) => Object.keys(extrasOf(id).scheduling ?? {}).length)).toEqual([3, 3, 0]);
});

describe('the status', () => {
  const find = async (status: string) =>
    (await readPage(app, `/api/events?filter=${encodeURIComponent(`status:${status},agent_id:${agent}`)}`)).ids;

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
    await database.updateTable('schedules').set({ recording_state }).where('event_id', '=', id).execute();
    expect(await single(id)).toMatchObject({ processing_state: '', status: PREFIX + status });
    expect(await find(PREFIX + status)).toEqual([id]);
    expect(await find(`${PREFIX}PROCESSED`)).toEqual([]);
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
    async (processing_state, status) => {
      for (const recording_state of ['', 'capture_error']) {
        const id = await scheduled({ recording_state });
        await database.updateTable('events').set({ processing_state }).where('id', '=', id).execute();
        expect(await single(id)).toMatchObject({ processing_state, status: PREFIX + status });
        expect(await find(PREFIX + status)).toEqual([id]);
      }
    },
  );

  test('is filtered by as a whole: nothing else finds an event', async () => {
    await scheduled();
    const others = ['SCHEDULED', PREFIX, `${PREFIX}scheduled`, `${PREFIX}SCHEDULED.`, `x${PREFIX}SCHEDULED`];
    for (const status of others) expect(await find(status)).toEqual([]);
  });
});

describe('lists of scheduled events', async () => {
  const HALL = 'Hall 1: left';
  const lists = await ownApp();
  const at = (day: number) => ({ start_date: new Date(Date.UTC(2031, 2, day)) });
  const insert = (agent_id: string, start: string, end: string, values: EventValues) =>
    insertScheduled(lists.database, { agent_id, start, end }, values);
  // Recorded in the order a, b, c; by the catalog they take place in the order c, a, b.
  const [a, b] = [
    { id: 'a', title: 'Algebra', ...at(5) },
    { id: 'b', title: 'Calculus', ...at(6) },
  ];
  await insert(HALL, '2031-03-03T08:00:00Z', '2031-03-03T09:00:00Z', a);
  await insert(HALL, '2031-03-04T08:00:00Z', '2031-03-04T12:00:00Z', b);
  const c = { id: 'c', title: 'Botany', location: 'Garden', ...at(4) };
  await insert('Hall 2', '2031-03-04T09:00:00.250Z', '2031-03-04T10:00:00Z', c);
  const start_date = new Date('2031-03-07T08:00:00Z');
  const d = { id: 'd', title: 'Drawing', location: 'Hall 2', duration: 60_000, start_date };
  await insertEvent(lists.database, d);

  const list = async (query: Record<string, string>, headers: Record<string, string> = {}) =>
    (await readPage(lists, `/api/events?${new URLSearchParams(query)}`, headers)).ids.join('');

  describe('the filter', () => {
    test.each([
      [`agent_id:${HALL}`, 'ba'],
      ['agent_id:Hall 1', ''],
      ['agent_id:hall 2', ''],
      ['agent_id:Hall 2', 'c'],
      ['agent_id:Hall 2,agent_id:Hall 1: left', 'ba'],
      // Where something takes place, by its catalog: the agent's id unless somebody has changed that.
      [`location:${HALL}`, 'ba'],
      ['location:Hall 2', 'd'],
      ['location:Garden', 'c'],
      // When it is recorded; the catalog's time for what is not scheduled.
      ['technical_start:2031-03-03T08:00:00Z/2031-03-04T08:00:00Z', 'ba'],
      ['technical_start:2031-03-03T08:00:01Z/2031-03-04T07:59:59Z', ''],
      ['technical_start:2031-03-04T09:00:00Z/2031-03-04T09:00:00Z', 'c'],
      ['technical_start:2031-03-04T09:00:00.251Z/2031-03-04T10:00:00Z', ''],
      ['technical_start:2031-03-04T09:00:00.25Z/2031-03-04T09:00:00.25Z', 'c'],
      ['technical_start:2031-03-05T00:00:00Z/2031-03-08T00:00:00Z', 'd'],
      ['technical_start:2031-03-05T00:00:00Z/2031-03-01T00:00:00Z', ''],
      // When it takes place by its catalog.
      ['start:2031-03-04T00:00:00Z/2031-03-05T00:00:00Z', 'ac'],
      ['start:2031-03-03T08:00:00Z/2031-03-03T23:00:00Z', ''],
      [`agent_id:${HALL},technical_start:2031-03-04T00:00:00Z/2031-03-05T00:00:00Z`, 'b'],
      [`agent_id:${HALL},start:2031-03-05T00:00:00Z/2031-03-05T00:00:00Z`, 'a'],
      [`agent_id:${HALL},technical_start:2031-03-04T00:00:00Z/2031-03-05T00:00:00Z,title:Algebra`, ''],
      [`status:${PREFIX}SCHEDULED`, 'bac'],
      [`status:${PREFIX}SCHEDULED,agent_id:Hall 2`, 'c'],
      [`status:${PREFIX}PROCESSED`, 'd'],
    ])('%s finds "%s"', async (filter, ids) => expect(await list({ filter })).toBe(ids));

    test('in 1.0.0 agent_id, technical_start and status are not known and ignored', async () => {
      for (const filter of ['agent_id:Hall 2', 'technical_start:nonsense', `status:${PREFIX}SCHEDULED`])
        expect(await list({ filter }, accept('1.0.0'))).toBe('dbac');
    });

    test('agents in several filters are a union', async () => {
      const query = new URLSearchParams({ filter: 'agent_id:Hall 2' });
      query.append('filter', `agent_id:${HALL}`);
      expect((await readPage(lists, `/api/events?${query}`)).ids.join('')).toBe('bac');
    });
  });

  describe('the order', () => {
    test.each([
      ['technical_start:ASC', 'abcd'],
      ['technical_start:DESC', 'dcba'],
      ['technical_date:DESC', 'dcba'],
      ['technical_end:ASC', 'acbd'],
      ['technical_end:DESC', 'dbca'],
      ['start_date:ASC', 'cabd'],
      ['end_date:ASC', 'cabd'],
      ['scheduling_status:ASC', 'dbac'],
    ])('%s is %s', async (sort, ids) => expect(await list({ sort })).toBe(ids));

    const SPRING = 'technical_start:2031-03-01T00:00:00Z/2031-04-01T00:00:00Z';
    test.each([
      ['', 'technical_start:ASC', 'abcd'],
      ['', 'technical_end:DESC', 'dbca'],
      [`agent_id:${HALL}`, 'technical_start:DESC', 'ba'],
      [`agent_id:${HALL},${SPRING}`, 'technical_start:ASC', 'ab'],
      [`agent_id:${HALL},${SPRING}`, '', 'ba'],
      [`agent_id:${HALL},${SPRING}`, 'title:DESC', 'ba'],
      ['technical_start:2031-03-04T00:00:00Z/2031-03-05T00:00:00Z', 'technical_start:DESC', 'cb'],
    ])('of filter=%s, sort=%s leads from page to page and back', async (filter, sort, ids) => {
      const path = `/api/events?${new URLSearchParams({ filter, sort, limit: '1' })}`;
      const pages = await follow(lists, path);
      expect(pages.flatMap((page) => page.ids).join('')).toBe(ids);
      expect(pages[0]?.total).toBe(`eq ${ids.length}`);
      const back = await follow(lists, pages.at(-1)?.links.prev ?? '', 'prev');
      expect(back.flatMap((page) => page.ids).join('')).toBe([...ids].reverse().slice(1).join(''));
    });
  });

  test("an agent's week shows an account nothing that it may not read", async () => {
    const Authorization = await lists.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_R');
    await giveAcl(lists, 'a', [ace('ROLE_R')]);
    const week = `agent_id:${HALL},technical_start:2031-03-01T00:00:00Z/2031-03-08T00:00:00Z`;
    for (const [filter, sort, ids] of [
      [week, '', ['a']],
      [week, 'technical_start:ASC', ['a']],
      [week, 'title:ASC', ['a']],
      ['agent_id:Hall 2', '', []],
    ] as const) {
      const path = `/api/events?${new URLSearchParams({ filter, sort })}`;
      const page = await readPage(lists, path, { Authorization });
      expect(page).toMatchObject({ ids, total: `eq ${ids.length}` });
    }
  });
});
