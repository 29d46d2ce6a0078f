import { z } from 'zod';
import type { Queryable } from '#platform/database/kysely.ts';
import { countRows, findPart } from '#platform/database/list/index.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { flag, PAGE } from '#platform/http/endpoint/endpoint-schemas.ts';
import { type ListedResource, type ListRequest, listingOf } from '#platform/http/list/index.ts';

const USUAL = 20;
/** A result has all files of a recording. */
const MOST = 500;
/** Counting stops so many results after the offset. */
const COUNTED = 10_000;

/** The parameters of all searches. Further ones are ignored. */
export const SearchQuery = z.object({
  id: z.string().optional().describe('The identifier.'),
  q: z.string().optional().describe('Words in any field.'),
  sort: z.string().optional().meta({
    description: 'A criterion with `asc` or `desc`, as in `title desc`, or the older `TITLE_DESC`. Others are ignored.',
    example: 'title asc',
  }),
  limit: PAGE.limit.meta({ description: `Maximum number of results: ${USUAL} by default, ${MOST} at most.` }),
  offset: PAGE.offset.meta({ description: 'Number of results to skip.' }),
  sign: flag('Accepted; addresses are signed where that is required.'),
});

const total = z.int().describe(`Number of results. Counting stops ${COUNTED} results after the offset.`);
const Page = z.object({ total, limit: z.int(), offset: z.int() });
/** The results, in the form of newer reference servers and in that of older ones. */
const SearchAnswer = Page.extend({
  result: z.array(z.looseObject({ id: z.string() })),
  'search-results': Page.extend({
    limit: z.int().describe('Number of results on this page.'),
    result: z.unknown().optional().describe('One result as an object, several as a list.'),
  }),
});

/** Declares the answers of a search. */
export function searchAnswers(example: { id: string }) {
  const body = { body: SearchAnswer, example: searchAnswer({ total: 1, limit: USUAL, offset: 0 }, [example]) };
  return { 200: { description: 'The results.', plain: true, ...body } } as const;
}

type SearchPage = Pick<z.infer<typeof SearchQuery>, 'limit' | 'offset'>;

/** Finds a page of results. */
export async function search<Row>(
  database: Queryable,
  resource: ListedResource<Row>,
  request: ListRequest,
  { limit = USUAL, offset = 0 }: SearchPage,
) {
  const listing = listingOf(resource, request, NEWEST_VERSION);
  const take = Math.min(limit, MOST);
  const { entries, total } = await findPart(database, listing, { skip: offset, take });
  const rows = entries.map(({ shown }) => shown);
  // Clients compute the number of pages from the total of the first one.
  const count = total.exact ? total.count : await countRows(database, listing, offset + COUNTED);
  return { rows, total: count, limit: take, offset };
}

/** Returns the answer of a search. */
export function searchAnswer(
  { total, limit, offset }: z.infer<typeof Page>,
  result: readonly { id: string }[],
): z.infer<typeof SearchAnswer> {
  const page = { total, limit, offset };
  const older = { ...page, limit: result.length };
  const shown = result.length === 1 ? result[0] : result;
  return { ...page, result: [...result], 'search-results': { ...older, ...(result.length > 0 && { result: shown }) } };
}

const SORT = /^(\w+?)(?:[ _](asc|desc))?$/i;

/** Converts `title desc` and `TITLE_DESC` to a sort order of the list; undefined for an unknown criterion. */
export function sortOf(text: string | undefined, criteria: Readonly<Record<string, string>>): string | undefined {
  const [, name = '', direction = 'asc'] = SORT.exec(text?.trim() ?? '') ?? [];
  const criterion = Object.hasOwn(criteria, name.toLowerCase()) ? criteria[name.toLowerCase()] : undefined;
  return criterion && `${criterion}:${direction.toUpperCase()}`;
}
