import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { ace, createSeries, send } from '../support/series.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  await createSeries(app, { identifier: 'a', title: 'Algebra', creator: ['Noether'], subjects: ['Rings'] }, [
    ace('ROLE_VIEWER'),
  ]);
  await createSeries(app, { identifier: 'b', title: 'Beams', contributor: ['Euler'], language: 'deu' }, [
    ace('ROLE_VIEWER'),
    ace('ROLE_VIEWER', 'write'),
  ]);
  await createSeries(app, {
    identifier: 'c',
    title: 'Curves',
    publisher: ['Press'],
    description: 'Rings of',
  });
  for (const [day, id] of ['a', 'b', 'c'].entries()) {
    const created = new Date(Date.UTC(2026, 0, day + 1));
    await app.database.updateTable('series').set({ created }).where('id', '=', id).execute();
  }
});
afterAll(() => app?.close());

async function search(query: string, headers: Record<string, string> = {}): Promise<string[]> {
  const answer = await send(app, 'GET', `/api/series/series.json${query}`, undefined, headers);
  expect(answer.status, answer.text).toBe(200);
  return (JSON.parse(answer.text) as { identifier: string }[]).map(({ identifier }) => identifier);
}

test.each([
  ['', ['c', 'b', 'a']],
  ['?seriesId=b', ['b']],
  ['?seriesTitle=Algebra', ['a']],
  ['?creator=Noether', ['a']],
  ['?contributor=Euler', ['b']],
  ['?publisher=Press', ['c']],
  ['?language=deu', ['b']],
  ['?subject=Rings', ['a']],
  ['?q=ring&fuzzyMatch=true', ['c', 'a']],
  ['?q=ring&publisher=Press', ['c']],
  ['?createdfrom=2026-01-02T00:00:00Z', ['c', 'b']],
  ['?createdto=2026-01-02T00:00:00Z', ['b', 'a']],
  ['?sort=TITLE', ['a', 'b', 'c']],
  ['?sort=CREATED_DESC', ['c', 'b', 'a']],
  ['?sort=title:DESC', ['c', 'b', 'a']],
  ['?sort=TITLE&count=1&offset=1', ['b']],
])('GET /api/series/series.json%s finds %j', async (query, expected) => {
  expect(await search(query)).toEqual(expected);
});

test('it finds what the account may read or, with edit=true, write', async () => {
  const Authorization = await app.account('viewer', 'ROLE_API_SERIES_VIEW', 'ROLE_VIEWER');
  expect(await search('', { Authorization })).toEqual(['b', 'a']);
  expect(await search('?edit=true', { Authorization })).toEqual(['b']);
});

test.each(['?sort=SIZE', '?count=-1', '?createdfrom=yesterday'])(
  'GET /api/series/series.json%s is refused',
  async (query) => {
    expect((await send(app, 'GET', `/api/series/series.json${query}`)).status).toBe(400);
  },
);
