import { beforeAll, describe, expect, test } from 'vitest';
import { ownApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { readPage, refusal } from '../support/lists.ts';
import { insertEvent } from '../support/publication.ts';
import { ace } from '../support/series.ts';

const STATUS = 'EVENTS.EVENTS.STATUS.';
const OLD = { Accept: 'application/v1.0.0+json' };

// Every event of it is known: tests look at whole lists.
const app = await ownApp();

beforeAll(async () => {
  await app.database.insertInto('series').values({ id: 's1', title: 'Algebra' }).execute();
  const insert = (id: string, date: string, values: Parameters<typeof insertEvent>[1]) =>
    insertEvent(app.database, { id, start_date: new Date(date), created: new Date(date), ...values });
  await insert('a', '2026-01-01T10:00:00Z', {
    title: 'Zebra: stripes',
    description: '100% of_it',
    subjects: ['Zoo', 'Art'],
    presenters: ['Eve', 'Bob'],
    contributors: ['Carl'],
    language: 'deu',
    license: 'CC-BY',
    rights_holder: 'Uni',
    location: 'Hall 1',
    source: 'Tape',
    duration: 3_600_000,
    processing_state: 'SUCCEEDED',
  });
  await insert('b', '2026-01-02T10:00:00.500Z', {
    title: 'ant',
    series_id: 's1',
    presenters: ['Adam'],
    contributors: ['Dora'],
    location: 'hall 2',
    duration: 1000,
    processing_state: 'RUNNING',
  });
  await insert('c', '2026-01-03T10:00:00Z', {
    title: 'Äpfel',
    description: 'ΛΌΓΟΣ',
    subjects: ['Art'],
    language: 'eng',
    processing_state: 'FAILED',
  });
  await insert('d', '2026-01-04T10:00:00Z', { title: 'Ant' });
  const catalog = { event_id: 'd', flavor: 'license/episode', fields: '{"note":"Hidden Gem"}' };
  await app.database.insertInto('event_catalogs').values(catalog).execute();
  await app.database.updateTable('events').set({ archive_version: 1 }).where('id', '=', 'd').execute();
});

const list = async (query: string, headers: Record<string, string> = {}) =>
  (await readPage(app, `/api/events?${query}`, headers)).ids.join('');
const filtered = (filter: string, headers: Record<string, string> = {}) =>
  list(`filter=${encodeURIComponent(filter)}`, headers);

describe('the filter', () => {
  test.each([
    ['identifier:a,identifier:c', 'ca'],
    ['title:Zebra: stripes', 'a'],
    ['title:zebra: stripes', ''],
    ['title:Zebra', ''],
    ['description:100% of_it', 'a'],
    ['presenters:Bob', 'a'],
    ['presenters:Bob,presenters:Adam', 'ba'],
    ['contributors:Carl,contributors:Dora', 'ba'],
    ['location:Hall 1', 'a'],
    ['series:s1', 'b'],
    ['is_part_of:s1', 'b'],
    ['series_name:Algebra', 'b'],
    ['subject:Art', 'ca'],
    ['subject:Art,subject:Zoo', 'a'],
    ['language:deu', 'a'],
    ['license:CC-BY', 'a'],
    ['rightsholder:Uni', 'a'],
    ['source:Tape', 'a'],
    ['created:2026-01-02T10:00:00Z', 'b'],
    ['created:2026-01-02T10:00:00.500Z', ''],
    ['created:yesterday', ''],
    [`status:${STATUS}PROCESSED`, 'da'],
    [`status:${STATUS}PROCESSING`, 'b'],
    [`status:${STATUS}PROCESSING_FAILURE`, 'c'],
    ['status:PROCESSED', ''],
    ['agent_id:x', ''],
    ['start:2026-01-02T10:00:00Z/2026-01-03T10:00:00Z', 'cb'],
    ['start:2026-01-01T00:00:00Z/2026-01-02T10:00:00Z', 'ba'],
    ['start:2026-01-01T00:00:00Z/2026-01-02T10:00:00.1Z', 'a'],
    ['start:2027-01-01T00:00:00Z/2026-01-01T00:00:00Z', ''],
    ['technical_start:2026-01-04T10:00:00.0Z/2026-02-01T00:00:00Z', 'd'],
    ['language:deu,subject:Art', 'a'],
    ['language:eng,subject:Zoo', ''],
    ['language:eng,language:deu', 'a'],
    ['title:ant%', ''],
    ["title:' OR true --", ''],
  ])('%s finds "%s"', async (filter, ids) => expect(await filtered(filter)).toBe(ids));

  test.each([
    ['zebra', 'a'],
    ['tripe', 'a'],
    ['äpf', 'c'],
    ['ÄPFEL', 'c'],
    ['λόγο', 'c'],
    ['algebra', 'b'],
    ['hidden gem', 'd'],
    ['zebra  art', 'a'],
    ['zebra algebra', ''],
    ['100%', 'a'],
    ['f_i', 'a'],
    ['1_0', ''],
    ['\\', ''],
    ['a', 'dcba'],
    [' ', 'dcba'],
    ['tape', 'a'],
    ['bob', 'a'],
    ['carl', 'a'],
  ])('textFilter:%s finds "%s" in any metadata', async (text, ids) =>
    expect(await filtered(`textFilter:${text}`)).toBe(ids),
  );

  test('a second textFilter is ignored', async () => {
    expect(await filtered('textFilter:zebra,textFilter:algebra')).toBe('a');
  });

  test('given several times, it is a union without doubles, sorted as one list', async () => {
    expect(await list('filter=language:deu&filter=subject:Art')).toBe('ca');
    expect(await list('filter=language:deu&filter=subject:Art,language:eng&filter=series:s1')).toBe('cba');
    expect(await list('filter=series:s1&filter=language:deu&sort=title:DESC&limit=1&offset=1')).toBe('b');
    expect(await list('filter=&filter=series:s1')).toBe('b');
  });

  test('before 1.5.0 only the first one counts', async () => {
    const headers = { Accept: 'application/v1.4.0+json' };
    expect(await list('filter=language:deu&filter=series:s1', headers)).toBe('a');
  });

  test('in 1.0.0 a value ends at its first colon, and unknown names are ignored', async () => {
    expect(await filtered('presenters:Eve:x', OLD)).toBe('a');
    expect(await filtered('title:nothing,foo:bar,series:s1', OLD)).toBe('b');
    expect(await filtered('location:Hall 1', OLD)).toBe('a');
  });

  test('an unknown one is refused', async () => {
    const sentence = 'Unknown filter criterion in request: Title';
    expect(await refusal(app, '/api/events?filter=Title:x')).toEqual([400, sentence]);
  });

  test('Moodle filters by series and asks only for what it may write', async () => {
    expect(await list('filter=is_part_of:s1&onlyWithWriteAccess=true')).toBe('b');
  });

  test.each(['start', 'technical_start'])('%s of no period is refused', async (name) => {
    const day = '2026-01-01T00:00:00Z';
    for (const [value, reason] of [
      [day, 'The date range string is malformed'],
      [`${day}/${day}/${day}`, 'The date range string is malformed'],
      [`/${day}`, 'Unable to parse from date parameter'],
      [`2026-02-30T00:00:00Z/${day}`, 'Unable to parse from date parameter'],
      [`${day}/2026`, 'Unable to parse to date parameter'],
      [`${day}/`, 'Unable to parse to date parameter'],
    ] as const) {
      const sentence = `Filter '${name}' could not be parsed: ${reason}`;
      const query = `filter=${name}:${encodeURIComponent(value)}`;
      expect(await refusal(app, `/api/events?${query}`)).toEqual([400, sentence]);
    }
  });

  test.each([
    'filter=title:%00',
    'filter=textFilter:a%00b',
    'filter=agent_id:%00',
    `filter=status:${STATUS}%00`,
    'filter=technical_start:%00/%00',
    'offset=%00',
  ])('%s is 400', async (query) => {
    const [status, sentence] = await refusal(app, `/api/events?${query}`);
    expect(status).toBe(400);
    expect(sentence).toMatch(/^[A-Z]/);
    expect(sentence).not.toMatch(/SQL|syntax|column/i);
  });

  test.each([
    'filter=title:%E0%A4%A',
    'filter=title:%ED%A0%80',
    'unknown=1&filter=title:%22%27;--',
    `filter=title:${'x'.repeat(5000)}`,
    `filter=status:${STATUS}${'x'.repeat(5000)}`,
    'filter=agent_id:%ED%A0%80',
    `filter=identifier:${'x,identifier:'.repeat(900)}x`,
  ])('%s finds nothing and breaks nothing', async (query) => expect(await list(query)).toBe(''));
});

describe('the order', () => {
  test.each([
    ['', 'dcba'],
    ['start_date:ASC', 'abcd'],
    ['date:DESC', 'dcba'],
    ['technical_start:ASC', 'abcd'],
    ['technical_date:DESC', 'dcba'],
    ['end_date:ASC', 'abcd'],
    ['technical_end:DESC', 'dcba'],
    ['title:ASC', 'bdca'],
    ['title:Descending', 'acdb'],
    ['presenter:ASC', 'cdba'],
    ['presenter:DESC', 'abdc'],
    ['workflow_state:ASC', 'dcba'],
    ['series_name:ASC', 'acdb'],
    ['series_name:DESC', 'bdca'],
    ['location:ASC', 'cdab'],
    ['review_status:ASC', 'dcba'],
    ['scheduling_status:DESC,title:ASC', 'bdca'],
    ['series_name:ASC,title:DESC', 'acdb'],
    ['series_name:DESC,start_date:ASC', 'bacd'],
  ])('%s is %s', async (sort, ids) => expect(await list(`sort=${sort}`)).toBe(ids));

  test('an unknown criterion is refused', async () => {
    const answer = await refusal(app, '/api/events?sort=foo:ASC');
    expect(answer).toEqual([400, 'Unknown sort criterion in request: foo']);
  });
});

test('HEAD has the headers of GET and no body', async () => {
  const answer = await app.request('/api/events?limit=2', { method: 'HEAD' });
  expect([answer.status, answer.headers.get('X-Total-Count'), await answer.text()]).toEqual([200, '4', '']);
  expect(answer.headers.get('Link')).toContain('rel="next"');
});

test('the total and the pages count nothing that an account may not read', async () => {
  const Authorization = await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_R');
  await giveAcl(app, 'a', [ace('ROLE_R')]);
  await giveAcl(app, 'c', [ace('ROLE_R'), ace('ROLE_R', 'write')]);
  await giveAcl(app, 'd', [ace('ROLE_R', 'write')]);
  const page = (query: string) => readPage(app, `/api/events?${query}`, { Authorization });
  expect(await page('limit=1')).toMatchObject({ ids: ['c'], total: 'eq 2' });
  expect(await page('filter=textFilter:ant')).toMatchObject({ ids: [], total: 'eq 0' });
  expect(await page('filter=identifier:b,identifier:a')).toMatchObject({ ids: ['a'], total: 'eq 1' });
  expect(await page('filter=series:s1&filter=subject:Art')).toMatchObject({ ids: ['c', 'a'] });
  const writable = await page('onlyWithWriteAccess=TRUE&filter=subject:Art');
  expect(writable).toMatchObject({ ids: ['c'], total: 'eq 1' });
  expect(await page('onlyWithWriteAccess=1')).toMatchObject({ ids: ['c', 'a'] });
});
