import { OLDEST_ROLE, SPREAD_ROLE } from './seed.ts';

/** Who asks: the roles that take the place of the administrator's. */
export const PEOPLE = {
  admin: undefined,
  'one per mille': [SPREAD_ROLE, 'ROLE_USER', 'ROLE_USER_BENCH'],
  'the oldest': [OLDEST_ROLE, 'ROLE_USER', 'ROLE_USER_BENCH'],
} as const;
export type Person = keyof typeof PEOPLE;

/** One request for a page, and what a person would write in SQL for it. */
export interface ListCase {
  table: 'events' | 'series';
  filter: string;
  sort: string;
  person: Person;
  /** Whether the page begins behind nine tenths of the list. */
  deep?: boolean;
  where: string;
  /** Expressions, each with its direction. */
  orderBy: readonly string[];
}

export const PAGE = 20;

const STATUS = 'EVENTS.EVENTS.STATUS.';
const NEWEST = ['start_date DESC', 'id DESC'];

/** Filters of events as clients write them, with their conditions. */
const FILTERS: readonly [string, string][] = [
  ['identifier:none', "id = 'none'"],
  ['title:Lecture 5', "title = 'Lecture 5'"],
  ['title:none', "title = 'none'"],
  ['description:none', "description = 'none'"],
  ['presenters:Professor 0', "presenters && '{Professor 0}'"],
  ['presenters:Professor 7000', "presenters && '{Professor 7000}'"],
  ['contributors:Assistant 17', "contributors && '{Assistant 17}'"],
  ['location:Hall 0', "location = 'Hall 0'"],
  ['location:Hall 150', "location = 'Hall 150'"],
  ['is_part_of:series-500', "series_id = 'series-500'"],
  ['series_name:Seminar 5', "series_title = 'Seminar 5'"],
  ['subject:Subject 0', "subjects && '{Subject 0}'"],
  ['subject:Subject 250', "subjects && '{Subject 250}'"],
  ['language:deu', "language = 'deu'"],
  ['language:lang7', "language = 'lang7'"],
  ['license:CC-BY', "license = 'CC-BY'"],
  ['rightsholder:Faculty 40', "rights_holder = 'Faculty 40'"],
  ['source:Archive 54', "source = 'Archive 54'"],
  ['created:2018-02-03T10:00:00Z', "created >= '2018-02-03T10:00:00Z' AND created < '2018-02-03T10:00:01Z'"],
  [`status:${STATUS}PROCESSED`, "status = 'PROCESSED'"],
  [`status:${STATUS}PROCESSING`, "status = 'PROCESSING'"],
  [`status:${STATUS}PAUSED`, "status = 'PAUSED'"],
  ['agent_id:none', "agent_id = 'none'"],
  [
    'start:2018-01-01T00:00:00Z/2018-02-01T00:00:00Z',
    "start_date BETWEEN '2018-01-01T00:00:00Z' AND '2018-02-01T00:00:00Z'",
  ],
  [
    'technical_start:2018-01-01T00:00:00Z/2018-02-01T00:00:00Z',
    "technical_start >= '2018-01-01T00:00:00Z' AND technical_start < '2018-02-01T00:00:01Z'",
  ],
  // In every fifth title, in one event in a hundred, in one in several thousand, in none.
  ['textFilter:lecture', "search_text LIKE '%lecture%'"],
  ['textFilter:trahek', "search_text LIKE '%trahek%'"],
  ['textFilter:trahekbya', "search_text LIKE '%trahekbya%'"],
  ['textFilter:xylophone', "search_text LIKE '%xylophone%'"],
];

const SORTS: Readonly<Record<string, string>> = {
  title: 'title COLLATE "und-x-icu"',
  presenter: `coalesce(presenters[1], '') COLLATE "und-x-icu"`,
  start_date: 'start_date',
  end_date: 'end_date',
  technical_start: 'technical_start',
  technical_end: 'technical_end',
  workflow_state: 'processing_state',
  series_name: 'series_title COLLATE "und-x-icu"',
  location: 'location COLLATE "und-x-icu"',
};

const SERIES_FILTERS: readonly [string, string][] = [
  ['title:Seminar 5', "title = 'Seminar 5'"],
  ['subject:Subject 250', "subjects && '{Subject 250}'"],
  ['creator:user5', "creator = 'user5'"],
  ['textFilter:trahek', "search_text LIKE '%trahek%'"],
];

const SERIES_SORTS: Readonly<Record<string, string>> = {
  created: 'created',
  title: 'title COLLATE "und-x-icu"',
  creator: `coalesce(organizers[1], '') COLLATE "und-x-icu"`,
  contributors: `coalesce(contributors[1], '') COLLATE "und-x-icu"`,
};

/** Every single filter and every single sort, for each person; and a page deep in the list. */
export function listCases(): ListCase[] {
  const people = Object.keys(PEOPLE) as Person[];
  return people.flatMap((person) => [
    ...FILTERS.map(([filter, where]) => eventCase(person, { filter, where })),
    ...sorted(SORTS).map((sort) => eventCase(person, sort)),
    { ...eventCase(person, {}), deep: true },
    ...SERIES_FILTERS.map(([filter, where]) => seriesCase(person, { filter, where })),
    ...sorted(SERIES_SORTS).map((sort) => seriesCase(person, sort)),
  ]);
}

/** What the list of a case is called. */
export function labelOf({ table, filter, sort, person, deep }: ListCase): string {
  const what = [table, filter.replace(STATUS, ''), sort && `by ${sort}`, deep && 'deep'];
  return `${what.filter(Boolean).join(' ')} (${person})`;
}

function sorted(sorts: Readonly<Record<string, string>>): Partial<ListCase>[] {
  return Object.entries(sorts).flatMap(([name, expression]) =>
    ['ASC', 'DESC'].map((direction) => ({
      sort: `${name}:${direction}`,
      orderBy: [`${expression} ${direction}`, `id ${direction}`],
    })),
  );
}

function eventCase(person: Person, values: Partial<ListCase>): ListCase {
  return { table: 'events', filter: '', sort: '', person, where: 'true', orderBy: NEWEST, ...values };
}

function seriesCase(person: Person, values: Partial<ListCase>): ListCase {
  const orderBy = ['created DESC', 'id DESC'];
  return { table: 'series', filter: '', sort: '', person, where: 'true', orderBy, ...values };
}
