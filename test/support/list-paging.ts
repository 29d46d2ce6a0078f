import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ownApp, type TestApp } from './app.ts';
import { follow, readPage } from './lists.ts';

export const EVENTS = 3000;
const DAYS = 40;

/** What tests find and sort an event by; enough alike that every criterion has ties. */
export interface KnownEvent {
  id: string;
  title: string;
  location: string;
  start: number;
  state: string;
  subjects: string[];
}

/** A sort criterion, and whether it is descending. */
export type Sort = readonly (readonly [string, boolean])[];

/** An application with these events alone, of which a reader sees a fifth. */
export interface PagingBench {
  app: TestApp;
  known: KnownEvent[];
  /** The Authorization header of the reader. */
  reader: Record<string, string>;
}

export const isReaders = ({ id }: KnownEvent) => '12'.includes(id[3] ?? '');

export async function openPagingBench(): Promise<PagingBench> {
  const app = await ownApp();
  const known: KnownEvent[] = Array.from({ length: EVENTS }, (_, i) => ({
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
  await sql`
    INSERT INTO events (id, title, location, start_date, created, creator, processing_state, subjects)
    SELECT id, title, location, '2026-01-01Z'::timestamptz + start * interval '1 day', now(), 'Tester', state,
      ARRAY(SELECT jsonb_array_elements_text(subjects))
    FROM jsonb_to_recordset(${JSON.stringify(known)}::jsonb)
      AS event(id text, title text, location text, start integer, state text, subjects jsonb)`.execute(app.database);
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT id, 0, 'ROLE_READER', 'read', true FROM events WHERE substr(id, 4, 1) IN ('1', '2')`.execute(app.database);
  await sql`UPDATE events SET own_acl = true WHERE substr(id, 4, 1) IN ('1', '2')`.execute(app.database);
  await sql`ANALYZE events`.execute(app.database);
  const reader = { Authorization: await app.account('reader', 'ROLE_API_EVENTS_VIEW', 'ROLE_READER') };
  return { app, known, reader };
}

const VALUES: Record<string, (event: KnownEvent) => string | number> = {
  title: ({ title }) => title,
  location: ({ location }) => location,
  start_date: ({ start }) => start,
  workflow_state: ({ state }) => state,
};

/** The identifiers of the events that match, sorted here instead of in the database. */
export function expected(known: readonly KnownEvent[], sort: Sort, subject?: string, mine = false): string[] {
  const id = (event: KnownEvent) => event.id;
  const criteria = [...sort, ['identifier', sort[0]?.[1] ?? true] as const];
  const terms = criteria.map(([name, down]) => [VALUES[name] ?? id, down] as const);
  const compare = (a: KnownEvent, b: KnownEvent) => {
    for (const [value, down] of terms) {
      const [x, y] = [value(a), value(b)];
      if (x !== y) return x < y === down ? 1 : -1;
    }
    return 0;
  };
  return known
    .filter((event) => (subject === undefined || event.subjects.includes(subject)) && (!mine || isReaders(event)))
    .toSorted(compare)
    .map(id);
}

export function pathOf(sort: Sort, subject: string | undefined, more: string): string {
  const criteria = sort.map(([name, down]) => `${name}:${down ? 'DESC' : 'ASC'}`).join(',');
  return `/api/events?sort=${criteria}${subject ? `&filter=subject:${subject}` : ''}&${more}`;
}

/** Pages of lists in any order, compared with lists that are sorted and filtered here. */
export function testAnyPages({ app, known, reader }: PagingBench, numRuns: number): void {
  const criterion = fc.tuple(fc.constantFrom(...Object.keys(VALUES)), fc.boolean());
  const selector = ([name]: [string, boolean]) => name;
  const sorts = fc.uniqueArray(criterion, { minLength: 1, maxLength: 3, selector });
  const subjects = fc.constantFrom(undefined, 'common', 'some', 'rare', 'oldest', 'none');

  test('pages cut by cursors make the whole list, whatever it is sorted and filtered by', async () => {
    await fc.assert(
      fc.asyncProperty(sorts, subjects, fc.boolean(), async (sort, subject, mine) => {
        const headers = mine ? reader : {};
        const wanted = expected(known, sort, subject, mine);
        const limit = Math.max(1, Math.ceil(wanted.length / 4));
        const pages = await follow(app, pathOf(sort, subject, `limit=${limit}`), 'next', headers);
        expect(pages.flatMap(({ ids }) => ids)).toEqual(wanted);
        const prev = pages.at(-1)?.links.prev;
        if (prev === undefined) return;
        const back = (await follow(app, prev, 'prev', headers)).toReversed();
        expect(back.flatMap(({ ids }) => ids)).toEqual(wanted.slice(0, (pages.length - 1) * limit));
      }),
      { numRuns, examples: [[[...TIES], 'some', true]] },
    );
  });

  test('pages cut by offsets are the same', async () => {
    const part = fc.record({ offset: fc.nat(EVENTS), limit: fc.integer({ min: 1, max: 30 }) });
    await fc.assert(
      fc.asyncProperty(sorts, subjects, fc.boolean(), part, async (sort, subject, mine, { offset, limit }) => {
        const path = pathOf(sort, subject, `limit=${limit}&offset=${offset}`);
        const page = await readPage(app, path, mine ? reader : {});
        const wanted = expected(known, sort, subject, mine);
        expect(page.ids).toEqual(wanted.slice(offset, offset + limit));
        const [relation, total] = page.total.split(' ');
        if (relation === 'eq') expect(Number(total)).toBe(wanted.length);
        else expect(Number(total)).toBeLessThanOrEqual(wanted.length);
      }),
      { numRuns: 2 * numRuns },
    );
  });
}

/** A sorting in which many events are alike. */
export const TIES: [string, boolean][] = [
  ['title', false],
  ['start_date', true],
];
