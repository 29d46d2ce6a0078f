import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { databaseForThisFile } from '#test/support/database.ts';
import { createDatabase } from './kysely.ts';
import { createPool } from './pool.ts';
import { PREPARED } from './prepared.ts';

const db = databaseForThisFile();

/** A pool of one connection. */
function onePool() {
  const pool = createPool(db.url, { max: 1, onError: () => undefined });
  onTestFinished(() => pool.end());
  return pool;
}

const oneConnection = () => createDatabase(onePool());

test('a connection plans a marked statement once, and any other one at each run', async () => {
  const database = oneConnection();
  for (let run = 0; run < 7; run++) {
    const marked = database.selectFrom('events').modifyFront(PREPARED).select('title').where('id', '=', `${run}`);
    expect(await marked.execute()).toEqual([]);
    await sql`${PREPARED} SELECT ${run}::integer AS marked`.execute(database);
    await sql`SELECT ${run}::integer AS unmarked`.execute(database);
  }
  const { rows } = await sql<{ statement: string; runs: number }>`
    SELECT statement, generic_plans + custom_plans AS runs FROM pg_prepared_statements ORDER BY statement`.execute(
    database,
  );
  expect(rows).toEqual([
    { statement: '/* prepared */ SELECT $1::integer AS marked', runs: 7 },
    { statement: 'select /* prepared */ "title" from "events" where "id" = $1', runs: 7 },
  ]);
});

test('the pool itself runs a marked statement', async () => {
  const { rows } = await onePool().query('/* prepared */ SELECT $1::integer AS number', [3]);
  expect(rows).toEqual([{ number: 3 }]);
});

test('a marked statement works after a failure of its own, and after a change of its table', async () => {
  const database = oneConnection();
  const read = () => sql`${PREPARED} SELECT number FROM later WHERE number = ${1}`.execute(database);
  await expect(read()).rejects.toThrow('does not exist');
  await sql`CREATE TABLE later (number integer)`.execute(database);
  await sql`INSERT INTO later VALUES (1)`.execute(database);
  expect((await read()).rows).toEqual([{ number: 1 }]);
  await sql`ALTER TABLE later ADD COLUMN name text`.execute(database);
  expect((await read()).rows).toEqual([{ number: 1 }]);
});
