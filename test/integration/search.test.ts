import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { COUNTED } from '#platform/database/list/index.ts';
import { workerApp } from '../support/app.ts';
import { insertElement, insertEvent, insertPublication } from '../support/publication.ts';
import { ace, createSeries, send } from '../support/series.ts';

/** The search of players and libraries. */
const app = await workerApp();
const { database, storage } = app;
const token = () => `w${randomUUID().replaceAll('-', '')}`;
const ask = async (path: string, headers = {}) => {
  const { status, text } = await send(app, 'GET', path, undefined, headers);
  expect([path, status, status === 200 || text]).toEqual([path, 200, true]);
  return JSON.parse(text);
};
async function published(values: Record<string, unknown>): Promise<string> {
  const id = await insertEvent(database, values);
  await insertPublication(database, id);
  return id;
}

describe('the requests of the PHP library', () => {
  const EPISODES = [
    '',
    'id=fe0b45b0',
    'sid=8010876e',
    'sname=HUB_LOCAL_TEST',
    'sort=modified+asc',
    'offset=1',
    'limit=1',
  ];
  const SERIES = ['', 'id=8010876e', 'episodes=1', 'sort=created+desc', 'offset=1', 'limit=1', 'admin=1', 'sign=1'];
  const older = ['sort=TITLE_DESC', 'sort=DATE_CREATED', 'q=x', 'admin=1', 'sign=1'];
  test.each([...EPISODES, ...older].map((query) => `/search/episode.json?${query}`))('%s', (path) => ask(path));
  test.each([...SERIES, ...older].map((query) => `/search/series.json?${query}`))('%s', (path) => ask(path));
});

describe('GET /search/episode.json', () => {
  test('finds published events by series, words and identifier, sorted and cut', async () => {
    const word = token();
    const series = await createSeries(app, { title: `Series ${word}` });
    const [a, b] = [
      await published({ title: `A ${word}`, series_id: series }),
      await published({ title: `B ${word}`, series_id: series }),
    ];
    await insertEvent(database, { title: `C ${word}`, series_id: series });
    const ids = async (query: string) => {
      const { result } = (await ask(`/search/episode.json?${query}`)) as { result: { id: string }[] };
      return result.map(({ id }) => id);
    };
    expect(await ids(`sid=${series}&sort=title asc`)).toEqual([a, b]);
    expect(await ids(`sname=Series ${word}&sort=TITLE_DESC`)).toEqual([b, a]);
    expect(await ids(`q=${word}&sort=title desc&limit=1&offset=1`)).toEqual([a]);
    expect(await ids(`id=${b}`)).toEqual([b]);
    const { total, limit, offset } = await ask(`/search/episode.json?sid=${series}&limit=1`);
    expect([total, limit, offset]).toEqual([2, 1, 0]);
    expect((await send(app, 'GET', '/search/episode.json?limit=x')).status).toBe(400);
  });

  test('has the total of a long list on every page, also for accounts that may read only a part', async () => {
    const [role, count] = [`ROLE_${token()}`, COUNTED + 5];
    const series = await createSeries(app, {}, [ace(role)]);
    await sql`
      WITH added AS (
        INSERT INTO events (id, title, creator, start_date, created, series_id)
        SELECT ${series} || '-' || n, 'Lecture', 'Tester', now(), now(), ${series}
        FROM generate_series(1, ${count}::integer) AS n RETURNING id
      )
      INSERT INTO publications (id, event_id, channel, mediatype)
      SELECT gen_random_uuid(), id, 'engage-player', 'text/html' FROM added`.execute(database);
    const reader = { Authorization: await app.account(token(), 'ROLE_API_EVENTS_VIEW', role) };
    const totals = async (query: string, headers = {}) => {
      const answer = await ask(`/search/episode.json?sid=${series}${query}`, headers);
      return [answer.total, answer['search-results'].total, answer.result.length];
    };
    expect(await totals('')).toEqual([count, count, 20]);
    expect(await totals('', reader)).toEqual([count, count, 20]);
    expect(await totals('&offset=500&limit=100&sort=title asc', reader)).toEqual([count, count, 100]);
    expect(await totals(`&offset=${count - 1}`, reader)).toEqual([count, count, 1]);
    await database.deleteFrom('events').where('series_id', '=', series).execute();
  });

  test('shows Dublin Core and the files in both forms that players read', async () => {
    const id = await insertEvent(database, { title: 'Lecture', presenters: ['Emmy N.'], duration: 9000 });
    const publication = await insertPublication(database, id);
    const facts = { event_id: id, publication_id: publication, kind: 'media' } as const;
    const file = {
      filename: 'a.mp4',
      mediatype: 'video/mp4',
      has_video: true,
      has_audio: true,
      width: 640,
      height: 360,
    };
    const element = await insertElement(database, storage, Buffer.from('x'), { ...facts, ...file, duration: 9000 });
    const answer = await ask(`/search/episode.json?id=${id}`);
    const expected = {
      ...{ id, org: 'mh_default_org', dcTitle: 'Lecture', dcCreator: 'Emmy N.' },
      dc: { title: ['Lecture'], creator: ['Emmy N.'], identifier: [id] },
      mediapackage: {
        ...{ id, title: 'Lecture', duration: 9000 },
        media: {
          track: [
            {
              ...{ id: element.id, type: 'presenter/delivery', mimetype: 'video/mp4', duration: 9000 },
              url: `http://inlet.test/publications/${publication}/${element.id}/a.mp4`,
              video: { resolution: '640x360' },
            },
          ],
        },
      },
    };
    // Clients of older servers expect a list of results unless `limit` is 1.
    const older = { total: 1, limit: 1, result: expected };
    expect(answer).toMatchObject({ total: 1, limit: 20, result: [expected], 'search-results': older });
  });

  test('finds only what the account may read; an agent knows an identifier, but no files', async () => {
    const word = token();
    const id = await published({ title: word });
    const reader = { Authorization: await app.account(token(), 'ROLE_API_EVENTS_VIEW') };
    expect((await ask(`/search/episode.json?q=${word}`, reader)).total).toBe(0);
    const agent = { Authorization: await app.account(token(), 'ROLE_CAPTURE_AGENT') };
    expect((await ask(`/search/episode.json?q=${word}`, agent)).total).toBe(0);
    const { result } = await ask(`/search/episode.json?id=${id}`, agent);
    expect(result).toEqual([{ id, mediapackage: { id, title: word } }]);
  });
});

test('GET /search/series.json finds the series that the account may read', async () => {
  const [word, role] = [token(), `ROLE_${token()}`];
  const id = await createSeries(app, { title: `Algebra ${word}` }, [ace(role)]);
  await createSeries(app, { title: `Secret ${word}` });
  const reader = { Authorization: await app.account(token(), 'ROLE_API_SERIES_VIEW', role) };
  expect((await ask(`/search/series.json?q=${word}`)).total).toBe(2);
  const found = { total: 1, result: [{ id, dcTitle: `Algebra ${word}`, dc: { title: [`Algebra ${word}`] } }] };
  expect(await ask(`/search/series.json?q=${word}`, reader)).toMatchObject(found);
  expect(await ask(`/search/series.json?id=${id}`, reader)).toMatchObject(found);
});
