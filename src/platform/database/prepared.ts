import { sql } from 'kysely';
import type pg from 'pg';

const MARK = '/* prepared */';
/** A mark stands behind `select` at most. */
const MARKED_CHARACTERS = 32;

/**
 * Marks a statement that a connection plans once instead of at each run, for `modifyFront` or the front of a raw statement:
 * one that runs often, with few different texts, and whose best plan does not depend on its parameters.
 */
export const PREPARED = sql.raw(MARK);

const names = new Map<string, string>();

/**
 * Makes a client prepare marked statements. The server plans them again after a change of the schema; only a change of the type
 * of a returned column needs new connections.
 */
export function prepareMarked(client: pg.Client): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  Object.assign(client, {
    query: (...args: unknown[]) => {
      const [text, values] = args;
      const isMarked = typeof text === 'string' && text.slice(0, MARKED_CHARACTERS).includes(MARK);
      return isMarked ? query({ name: nameOf(text), text, values }) : query(...args);
    },
  });
}

function nameOf(text: string): string {
  const name = names.get(text) ?? `inlet_${names.size}`;
  names.set(text, name);
  return name;
}
