import type { Total } from '../../database/list/list.ts';
import type { Key, Order } from '../../database/list/order.ts';
import { encodeCursor } from './cursor.ts';
import type { PageRequest } from './page-request.ts';

/** What is known of a page once it has been found. */
export interface PageFacts {
  page: PageRequest;
  order: Order;
  /** Keys of the first and the last row; undefined for an empty page. */
  first: Key | undefined;
  last: Key | undefined;
  /** Whether there are rows before the first one, and after the last one. */
  more: { before: boolean; after: boolean };
  total: Total;
}

/**
 * The headers of a page: `X-Total-Count` with `X-Total-Count-Relation` (`eq`: so many there are, `gte`: at least so
 * many), and `Link` with first, prev, next and, when the total is known, last. `next` carries a cursor.
 *
 * @param url of the list without its query
 * @param query what the client asked for; everything but the place of the page is kept
 */
export function pageHeaders(url: string, query: URLSearchParams, facts: PageFacts): Record<string, string> {
  const { total } = facts;
  const links = Object.entries(pageLinks(facts)).map(([relation, place]) => {
    const parameters = new URLSearchParams(query);
    for (const name of ['offset', 'cursor']) parameters.delete(name);
    for (const [name, value] of Object.entries(place)) parameters.set(name, value);
    const search = parameters.toString();
    return `<${url}${search && `?${search}`}>; rel="${relation}"`;
  });
  return {
    'X-Total-Count': String(total.count),
    'X-Total-Count-Relation': total.exact ? 'eq' : 'gte',
    Link: links.join(', '),
  };
}

/** The parameters that lead to the pages around one, by relation. */
function pageLinks({ page, order, first, last, more, total }: PageFacts): Record<string, object> {
  const { limit, offset, position } = page;
  const at = (rows: number) => (rows > 0 ? { offset: String(rows) } : {});
  const cursor = (side: 'before' | 'after', key: Key) => ({ cursor: encodeCursor(order, { side, key }) });
  const back = !position ? at(offset - (limit ?? offset)) : first && cursor('before', first);
  return {
    first: {},
    ...(more.before && back && { prev: back }),
    ...(more.after && last && { next: cursor('after', last) }),
    ...(total.exact && { last: at(limit ? Math.floor(Math.max(0, total.count - 1) / limit) * limit : 0) }),
  };
}
