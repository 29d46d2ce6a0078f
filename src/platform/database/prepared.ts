import { sql } from 'kysely';
import type pg from 'pg';

const MARK = '/* prepared */';
const MARKED = /^\s*(select )?\/\* prepared \*\//;

/**
 * Marks a statement that a connection plans once instead of at each run, for `modifyFront` or the front of a raw statement:
 * one that runs often, with few different texts, and whose best plan does not depend on its parameters.
 */
export const PREPARED = sql.raw(MARK);

/** Each connection keeps its plans for as long as it lives. Further texts are planned at each run. */
const MOST_TEXTS = 200;
const names = new Map<string, string>();

/**
 * Makes a client prepare marked statements. The server plans them again after a change of the schema; only a change of the type
 * of a returned column needs new connections.
 */
export function prepareMarked(client: pg.Client): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  Object.assign(client, {
    query: (...args: unknown[]) => {
      const [text, values, ...callback] = args;
      const name = typeof text === 'string' && MARKED.test(text) ? nameOf(text) : undefined;
      return name ? query({ name, text, values }, ...callback) : query(...args);
    },
  });
}

function nameOf(text: string): string | undefined {
  if (!names.has(text) && names.size < MOST_TEXTS) names.set(text, `inlet_${names.size}`);
  return names.get(text);
}
