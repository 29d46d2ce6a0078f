import type pg from 'pg';

/**
 * What tells an installation from others, in hexadecimal: made with its database by chance, and brought back with its
 * data.
 */
export async function systemOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ system: string }>(
    "SELECT encode(sha256('system'::bytea || key), 'hex') AS system FROM nonce_key",
  );
  const [row] = rows;
  if (!row) throw new Error('The database has no key of its own; migrations have not been applied.');
  return row.system;
}
