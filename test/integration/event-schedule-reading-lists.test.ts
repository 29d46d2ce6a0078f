import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { follow, readPage } from '../support/lists.ts';
import { insertEvent } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';

const STATUS = 'EVENTS.EVENTS.STATUS.';
const HALL = 'Hall 1: left';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  const at = (text: string) => ({ start_date: new Date(text), created: new Date(text) });
  const schedule = (agent_id: string, start: string, end: string) => ({ agent_id, start, end });
  // Recorded in the order a, b, c; by the catalog they take place in the order c, a, b.
  await insertScheduled(app.database, schedule(HALL, '2031-03-03T08:00:00Z', '2031-03-03T09:00:00Z'), {
    id: 'a',
    title: 'Algebra',
    ...at('2031-03-05T00:00:00Z'),
  });
  await insertScheduled(app.database, schedule(HALL, '2031-03-04T08:00:00Z', '2031-03-04T12:00:00Z'), {
    id: 'b',
    title: 'Calculus',
    ...at('2031-03-06T00:00:00Z'),
  });
  await insertScheduled(
    app.database,
    schedule('Hall 2', '2031-03-04T09:00:00.250Z', '2031-03-04T10:00:00Z'),
    { id: 'c', title: 'Botany', location: 'Garden', ...at('2031-03-04T00:00:00Z') },
  );
  await insertEvent(app.database, {
    id: 'd',
    title: 'Drawing',
    location: 'Hall 2',
    duration: 60_000,
    ...at('2031-03-07T08:00:00Z'),
  });
});
afterAll(() => app?.close());

const list = async (query: string, headers: Record<string, string> = {}) =>
  (await readPage(app, `/api/events?${query}`, headers)).ids.join('');
const filtered = (filter: string, headers: Record<string, string> = {}) =>
  list(`filter=${encodeURIComponent(filter)}`, headers);

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
    [`status:${STATUS}SCHEDULED`, 'bac'],
    [`status:${STATUS}SCHEDULED,agent_id:Hall 2`, 'c'],
    [`status:${STATUS}PROCESSED`, 'd'],
  ])('%s finds "%s"', async (filter, ids) => expect(await filtered(filter)).toBe(ids));

  test('in 1.0.0 agent_id, technical_start and status are not known and ignored', async () => {
    const headers = { Accept: 'application/v1.0.0+json' };
    for (const filter of ['agent_id:Hall 2', 'technical_start:nonsense', `status:${STATUS}SCHEDULED`])
      expect(await filtered(filter, headers)).toBe('dbac');
  });

  test('agents in several filters are a union', async () => {
    expect(await list(`filter=agent_id:Hall 2&filter=${encodeURIComponent(`agent_id:${HALL}`)}`)).toBe('bac');
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
  ])('%s is %s', async (sort, ids) => expect(await list(`sort=${sort}`)).toBe(ids));

  test.each([
    ['', 'technical_start:ASC', 'abcd'],
    ['', 'technical_end:DESC', 'dbca'],
    [`agent_id:${HALL}`, 'technical_start:DESC', 'ba'],
    [
      `agent_id:${HALL},technical_start:2031-03-01T00:00:00Z/2031-04-01T00:00:00Z`,
      'technical_start:ASC',
      'ab',
    ],
    [`agent_id:${HALL},technical_start:2031-03-01T00:00:00Z/2031-04-01T00:00:00Z`, '', 'ba'],
    [`agent_id:${HALL},technical_start:2031-03-01T00:00:00Z/2031-04-01T00:00:00Z`, 'title:DESC', 'ba'],
    ['technical_start:2031-03-04T00:00:00Z/2031-03-05T00:00:00Z', 'technical_start:DESC', 'cb'],
  ])('of filter=%s, sort=%s leads from page to page and back', async (filter, sort, ids) => {
    const path = `/api/events?${new URLSearchParams({ filter, sort, limit: '1' })}`;
    const pages = await follow(app, path);
    expect(pages.flatMap((page) => page.ids).join('')).toBe(ids);
    expect(pages[0]?.total).toBe(`eq ${ids.length}`);
    const back = await follow(app, pages.at(-1)?.links.prev ?? '', 'prev');
    expect(back.flatMap((page) => page.ids).join('')).toBe([...ids].reverse().slice(1).join(''));
  });
});

test("an agent's week tells an account of nothing it may not read", async () => {
  const Authorization = await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_R');
  await app.database
    .insertInto('event_acl')
    .values({ event_id: 'a', position: 0, role: 'ROLE_R', action: 'read', allow: true })
    .execute();
  const week = `agent_id:${HALL},technical_start:2031-03-01T00:00:00Z/2031-03-08T00:00:00Z`;
  for (const sort of ['', 'technical_start:ASC', 'title:ASC']) {
    const query = new URLSearchParams({ filter: week, sort });
    expect(await readPage(app, `/api/events?${query}`, { Authorization })).toMatchObject({
      ids: ['a'],
      total: 'eq 1',
    });
  }
  expect(await readPage(app, `/api/events?filter=agent_id:Hall 2`, { Authorization })).toMatchObject({
    ids: [],
    total: 'eq 0',
  });
});
