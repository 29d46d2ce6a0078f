import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { follow, readPage, refusal } from '../support/lists.ts';

const EVENTS = 3000;
const DAYS = 40;

/** What the tests below can find and sort an event by; enough alike that every criterion has ties. */
interface Known {
  id: string;
  title: string;
  location: string;
  start: number;
  state: string;
  subjects: string[];
}

let app: TestApp;
let reader: Record<string, string>;
const known: Known[] = Array.from({ length: EVENTS }, (_, i) => ({
  id: `e${String((i * 7919) % EVENTS).padStart(4, '0')}`,
  title: ['ant', 'bee', 'cat', 'dog'][(i * 31) % 4] ?? '',
  location: ['east', 'west', ''][(i * 17) % 3] ?? '',
  start: (i * 13) % DAYS,
  state: i % 50 === 0 ? 'FAILED' : 'SUCCEEDED',
  subjects: [
    ...(i % 3 === 0 ? ['common'] : []),
    ...(i % 60 === 1 ? ['some'] : []),
    ...(i % 900 === 2 ? ['rare'] : []),
    ...((i * 13) % DAYS === 0 ? ['oldest'] : []),
  ],
}));

beforeAll(async () => {
  app = await createTestApp();
  await sql`
    INSERT INTO events (id, title, location, start_date, created, creator, processing_state, subjects)
    SELECT id, title, location, '2026-01-01Z'::timestamptz + start * interval '1 day', now(), 'Tester', state,
      ARRAY(SELECT jsonb_array_elements_text(subjects))
    FROM jsonb_to_recordset(${JSON.stringify(known)}::jsonb)
      AS event(id text, title text, location text, start integer, state text, subjects jsonb)`.execute(
    app.database,
  );
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT id, 0, 'ROLE_READER', 'read', true FROM events WHERE substr(id, 4, 1) IN ('1', '2')`.execute(
    app.database,
  );
  await sql`ANALYZE events`.execute(app.database);
  reader = { Authorization: await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_READER') };
});
afterAll(() => app?.close());

const VALUES: Record<string, (event: Known) => string | number> = {
  title: ({ title }) => title,
  location: ({ location }) => location,
  start_date: ({ start }) => start,
  workflow_state: ({ state }) => state,
};

/** The identifiers of the events that match, sorted here instead of in the database. */
function expected(sort: readonly [string, boolean][], subject: string | undefined, mine: boolean): string[] {
  const terms: [(event: Known) => string | number, boolean][] = sort.map(([name, down]) => [
    VALUES[name] ?? (({ id }) => id),
    down,
  ]);
  terms.push([({ id }) => id, sort[0]?.[1] ?? true]);
  const compare = (a: Known, b: Known) => {
    for (const [value, down] of terms) {
      const [x, y] = [value(a), value(b)];
      if (x !== y) return x < y === down ? 1 : -1;
    }
    return 0;
  };
  return known
    .filter(({ subjects }) => subject === undefined || subjects.includes(subject))
    .filter(({ id }) => !mine || '12'.includes(id[3] ?? ''))
    .toSorted(compare)
    .map(({ id }) => id);
}

const sorts = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...Object.keys(VALUES)), fc.boolean()), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((sort) => sort as [string, boolean][]);
const subjects = fc.constantFrom(undefined, 'common', 'some', 'rare', 'oldest', 'none');

function query(sort: readonly [string, boolean][], subject: string | undefined, more: string): string {
  const criteria = sort.map(([name, down]) => `${name}:${down ? 'DESC' : 'ASC'}`).join(',');
  return `/api/events?sort=${criteria}${subject ? `&filter=subject:${subject}` : ''}&${more}`;
}

test('pages cut by cursors make the whole list, whatever it is sorted and filtered by', async () => {
  await fc.assert(
    fc.asyncProperty(sorts, subjects, fc.boolean(), async (sort, subject, mine) => {
      const wanted = expected(sort, subject, mine);
      const limit = Math.max(1, Math.ceil(wanted.length / 4));
      const pages = await follow(app, query(sort, subject, `limit=${limit}`), 'next', mine ? reader : {});
      expect(pages.flatMap(({ ids }) => ids)).toEqual(wanted);
      const prev = pages.at(-1)?.links.prev;
      if (prev !== undefined) {
        const back = await follow(app, prev, 'prev', mine ? reader : {});
        expect(back.toReversed().flatMap(({ ids }) => ids)).toEqual(
          wanted.slice(0, (pages.length - 1) * limit),
        );
      }
    }),
    {
      numRuns: 25,
      examples: [
        [
          [
            ['title', false],
            ['start_date', true],
          ],
          'some',
          true,
        ],
      ],
    },
  );
});

test('pages cut by offsets are the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      sorts,
      subjects,
      fc.boolean(),
      fc.nat(EVENTS),
      fc.integer({ min: 1, max: 30 }),
      async (sort, subject, mine, offset, limit) => {
        const page = await readPage(
          app,
          query(sort, subject, `limit=${limit}&offset=${offset}`),
          mine ? reader : {},
        );
        const wanted = expected(sort, subject, mine);
        expect(page.ids).toEqual(wanted.slice(offset, offset + limit));
        const [relation, total] = page.total.split(' ');
        if (relation === 'eq') expect(Number(total)).toBe(wanted.length);
        else expect(Number(total)).toBeLessThanOrEqual(wanted.length);
      },
    ),
    { numRuns: 40 },
  );
});

test('a list without a limit, or with a large one, is streamed as a whole', async () => {
  const sort: [string, boolean][] = [
    ['title', false],
    ['start_date', true],
  ];
  expect((await readPage(app, query(sort, undefined, ''))).ids).toEqual(expected(sort, undefined, false));
  expect((await readPage(app, query(sort, 'common', ''), reader)).ids).toEqual(
    expected(sort, 'common', true),
  );
  const pages = await follow(app, query(sort, undefined, 'limit=1300'));
  expect(pages.map(({ ids }) => ids.length)).toEqual([1300, 1300, 400]);
  expect(pages.flatMap(({ ids }) => ids)).toEqual(expected(sort, undefined, false));
  expect(pages.at(-1)?.links.next).toBeUndefined();
});

test('a cursor works on when the event it stands on has been deleted', async () => {
  const first = await readPage(app, '/api/events?limit=5&filter=subject:common');
  const second = await readPage(app, first.links.next ?? '');
  await app.database
    .deleteFrom('events')
    .where('id', '=', first.ids[4] ?? '')
    .execute();
  expect((await readPage(app, first.links.next ?? '')).ids).toEqual(second.ids);
  const index = known.findIndex(({ id }) => id === first.ids[4]);
  known.splice(index, 1);
});

test('a cursor of another sorting is refused', async () => {
  const { links } = await readPage(app, '/api/events?limit=5');
  expect(await refusal(app, `${links.next}&sort=title:ASC`)).toEqual([
    400,
    "The parameter 'cursor' does not come from a list sorted like this one.",
  ]);
});

test('the total is exact where the end is seen or little is found, and says so where it is not', async () => {
  const total = async (path: string) => (await readPage(app, path)).total;
  const count = known.length;
  expect(await total('/api/events?limit=5')).toBe('gte 1001');
  expect(await total(`/api/events?limit=5&offset=${count - 3}`)).toBe(`eq ${count}`);
  expect(await total('/api/events?limit=5&filter=subject:rare')).toBe('eq 4');
  expect(await total('/api/events?limit=5&filter=subject:none')).toBe('eq 0');
  const links = (await readPage(app, `/api/events?limit=50&offset=${count - 3}`)).links;
  expect(links.last).toBe(`/api/events?limit=50&offset=${Math.floor((count - 1) / 50) * 50}`);
});

test.each(['', 'sort=title:ASC', 'filter=location:east', 'filter=subject:common', 'filter=textFilter:bee'])(
  'the total of ?%s says nothing of events that the account may not read',
  async (query) => {
    const mine = known.filter(({ id }) => ['1', '2'].includes(id[3] ?? ''));
    const found = mine.filter((event) => {
      if (query.endsWith('east')) return event.location === 'east';
      if (query.endsWith('common')) return event.subjects.includes('common');
      return query.endsWith('bee') ? event.title === 'bee' : true;
    });
    const page = await readPage(app, `/api/events?limit=5&${query}`, reader);
    expect(page.total).toBe(`eq ${found.length}`);
    expect(Object.keys(page.links)).toContain('last');
  },
);
