import { z } from 'zod';
import type { Order, Position } from '../../database/list/order.ts';
import { checked } from '../check.ts';
import { PAGE } from '../query.schemas.ts';
import { decodeCursor } from './cursor.ts';

/** The parameters that say which page of a list is wanted. */
export const PageQuery = z.object({
  ...PAGE,
  cursor: z.string().optional().meta({
    description:
      'Where the page begins; comes from the `Link` of another page, and takes the place of `offset`.',
  }),
});

/** Which page of a list a request wants. */
export interface PageRequest {
  /** Most rows to return; undefined for all. */
  limit: number | undefined;
  /** Rows to skip; none when the page begins at a cursor. */
  offset: number;
  position: Position | undefined;
}

/**
 * Reads `limit`, `offset` and `cursor`. A cursor takes the place of the offset.
 *
 * @param defaultLimit for a request with none or 0; undefined for no limit
 * @throws {HttpError} 400
 */
export function parsePage(
  query: Record<string, string>,
  order: Order,
  defaultLimit: number | undefined,
): PageRequest {
  const { limit = defaultLimit, offset = 0, cursor } = checked(PageQuery, query);
  const position = cursor ? decodeCursor(order, cursor) : undefined;
  return { limit, offset: position ? 0 : offset, position };
}
