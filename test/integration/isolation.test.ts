import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { API_ROLES } from '#access/roles/api-roles.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { type Ask, adminAsks, CASES } from '../support/isolation/cases.ts';
import { forgottenFilters, listPaths } from '../support/isolation/lists.ts';
import { extendedCatalogs, make } from '../support/isolation/owner.ts';
import { masked, newTarget, wordsOf } from '../support/isolation/target.ts';
import { insertEvent } from '../support/publication.ts';
import { ace } from '../support/series.ts';
import { lost, snapshot } from '../support/snapshot.ts';

/** What an account needs to use every endpoint that is not for administrators only. */
const ROLES = [...API_ROLES, 'ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW'];
/** More than a list looks at to fill a page. */
const CROWD = 1500;

const own = newTarget();
const theirs = newTarget();
const nobodys = newTarget();
const shared = newTarget();
const secrets = wordsOf(theirs);

const folder = await extendedCatalogs();
let { app, Authorization } = await open();
const listsBefore = await lists();
await make(app, theirs, ROLES);
await crowd();
const rowsBefore = await snapshot(app.database);
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

/** An application in which only one account has something, and a reader of that. */
async function open(): Promise<{ app: TestApp; Authorization: string }> {
  const opened = await createTestApp(undefined, { METADATA_DIR: folder, URL_SIGNING_SECRET: 'secret' });
  await make(opened, own, ROLES);
  const reader = await opened.account(`reader-${own.account}`, ...ROLES, own.role);
  return { app: opened, Authorization: reader };
}

/** Many more events and series of the other account. */
async function crowd(): Promise<void> {
  await sql`INSERT INTO series (id, title) SELECT ${theirs.series} || n, ${theirs.seriesWords.title}
    FROM generate_series(1, ${CROWD}::int) n`.execute(app.database);
  await sql`INSERT INTO series_acl (series_id, position, role, action, allow)
    SELECT id, 0, ${theirs.role}, 'read', true FROM series WHERE title = ${theirs.seriesWords.title}
    AND id <> ${theirs.series}`.execute(app.database);
  await sql`INSERT INTO events (id, title, creator, start_date, created, series_id)
    SELECT ${theirs.event} || n, ${theirs.eventWords.title}, 'x', now() + n * interval '1 hour', now(), ${theirs.series}
    FROM generate_series(1, ${CROWD}::int) n`.execute(app.database);
}

async function ask({ path, init = {} }: Ask) {
  const headers = { ...(init.headers as Record<string, string>), Authorization };
  const answer = await app.request(path, { ...init, headers });
  const shown = ['Content-Type', 'Location', 'Link', 'X-Total-Count', 'X-Total-Count-Relation', 'Allow'];
  return {
    status: answer.status,
    headers: shown.map((name) => answer.headers.get(name)),
    // Signatures change with the time; a stream sends a sign of life now and then.
    text: (await answer.text())
      .replaceAll(/policy=[\w-]+&(?:amp;)?keyId=\w+&(?:amp;)?signature=\w+/g, '{signature}')
      .replaceAll(/^:\n\n/gm, ''),
  };
}

/** What all lists answer, by address. */
async function lists(): Promise<Map<string, string>> {
  const { events, series, playlists, search } = listPaths(own);
  const answers = new Map<string, string>();
  for (const path of [...events, ...series, ...playlists, ...search])
    answers.set(path, JSON.stringify(await ask({ path })));
  return answers;
}

/** The routes that answer something, each once. */
function routes(): { method: string; path: string }[] {
  const answering = app.routes.filter(({ method, path }) => method !== 'ALL' || !path.endsWith('*'));
  return [...new Map(answering.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

// The scripts of the pages are public.
const isAdminRoute = ({ path }: { path: string }) => /^\/admin(\/(?!assets\/)|$)/.test(path);

test('every route of the application is walked, and every filter is tried', () => {
  const named = routes().filter((route) => !isAdminRoute(route));
  expect(named.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(CASES).sort());
  expect(routes().filter(isAdminRoute).length).toBeGreaterThan(15);
  expect(forgottenFilters(own)).toEqual([]);
});

test('what others have changes no list and no total', async () => {
  const changed = [...(await lists())].filter(([path, answer]) => listsBefore.get(path) !== answer);
  expect(changed.map(([path, answer]) => [path, listsBefore.get(path), answer])).toEqual([]);
});

describe.each(Object.entries(CASES))('%s', (route, asks) => {
  test('answers about what another account has as about what is not there, and leaves it alone', async () => {
    const others = asks(nobodys);
    for (const [i, theirAsk] of asks(theirs).entries()) {
      const answer = await ask(theirAsk);
      const about = `${theirAsk.path}: ${answer.text.slice(0, 500)}`;
      if (answer.status < 300) {
        const told = secrets.filter((word) => answer.text.includes(word));
        expect(told, about).toEqual([]);
      }
      if (theirAsk.tellsTaken) {
        expect(answer.status, about).toBeGreaterThanOrEqual(400);
      } else {
        const unknown = await ask(others[i] ?? theirAsk);
        expect(masked(JSON.stringify(answer), theirs), about).toEqual(masked(JSON.stringify(unknown), nobodys));
      }
      if (route.startsWith('GET')) {
        const head = await ask({ ...theirAsk, init: { ...theirAsk.init, method: 'HEAD' } });
        expect(head, about).toEqual({ ...answer, text: '' });
      }
    }
  });
});

test('nothing that was there has changed after all of that', async () => {
  const gone = lost(rowsBefore, await snapshot(app.database));
  expect(gone.length === 0 ? [] : [...gone, ...(await routesThatChange())]).toEqual([]);
});

/** Walks the routes once more, in an application of its own, and looks after each. @returns those that changed rows */
async function routesThatChange(): Promise<string[]> {
  await app.close();
  ({ app, Authorization } = await open());
  await make(app, theirs, ROLES);
  const found: string[] = [];
  let before = await snapshot(app.database);
  for (const [route, asks] of Object.entries(CASES)) {
    for (const each of asks(theirs)) await ask(each);
    const after = await snapshot(app.database);
    if (lost(before, after).length > 0) found.push(route);
    before = after;
  }
  return found;
}

test('routes for administrators are closed, whatever they are asked', async () => {
  for (const route of routes().filter(isAdminRoute)) {
    for (const each of adminAsks(route, theirs)) {
      expect([each.path, await ask(each)]).toMatchObject([each.path, { status: 403 }]);
    }
  }
});

test('what may be read but not written is not changed by any route', async () => {
  await make(app, shared, ROLES, [own.role]);
  expect((await ask({ path: `/api/events/${shared.event}` })).status).toBe(200);
  const before = await snapshot(app.database);
  for (const [route, asks] of Object.entries(CASES)) {
    // An upload or a media package is its account's alone; statistics are for readers, and so is watching.
    if (/^GET|^POST \/api\/(events|series|security\/sign)$|uploads|\/ingest\/|statistics|\/views$/.test(route))
      continue;
    for (const each of asks(shared)) {
      const { status, text } = await ask(each);
      expect([400, 401, 403], `${route} ${each.path}: ${status} ${text}`).toContain(status);
    }
  }
  expect(await snapshot(app.database)).toEqual(before);
});

test('a cursor of another account leads nowhere but to what one may see oneself', async () => {
  const headers = { Authorization: `Basic ${Buffer.from(`${theirs.account}:secret`).toString('base64')}` };
  for (const list of ['/api/events', '/api/series']) {
    const page = await app.request(`${list}?limit=1&sort=title:ASC`, { headers });
    const next = /<http:\/\/inlet\.test([^>]*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1];
    expect(next).toContain('cursor=');
    const answer = await ask({ path: next ?? '' });
    expect(answer.status).toBe(200);
    expect(secrets.filter((word) => answer.text.includes(word))).toEqual([]);
  }
});

test('an event shows the title of its series also to who may not read the series, and nothing else of it', async () => {
  const id = await insertEvent(app.database, { series_id: theirs.series });
  await giveAcl(app, id, [ace(own.role)]);
  const { text } = await ask({ path: `/api/events/${id}?withacl=true&withmetadata=true` });
  const told = secrets.filter((word) => text.includes(word));
  expect(told.sort()).toEqual([theirs.series, theirs.seriesWords.title].sort());
});
