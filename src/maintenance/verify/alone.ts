import type pg from 'pg';

/** Whoever writes down what is found has the notes for it alone. */
const NOTES = 'inlet notes of a verification';

/** Keeps other verifications away for as long as the connection lives. @returns false when there is one already */
export async function beAlone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS alone',
    [NOTES],
  );
  return rows[0]?.alone ?? false;
}
