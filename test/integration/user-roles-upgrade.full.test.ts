import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { userRole } from '#access/roles/roles.ts';
import { migrate } from '#platform/database/migrate.ts';
import { createEmptyDatabase } from '../support/database.ts';

const SQL = fileURLToPath(new URL('../../sql/', import.meta.url));
/** The roles that accounts had before, by their names. */
const FORMER = [
  ['jane.doe@x', 'ROLE_USER_JANE_DOE_X'],
  ['müller', 'ROLE_USER_M_LLER'],
  ['a~2E~b 😀', 'ROLE_USER_A_2E_B___'],
  ['李'.repeat(128), `ROLE_USER_${'_'.repeat(128)}`],
  ['plain_Name', 'ROLE_USER_PLAIN_NAME'],
] as const;

let empty: { url: string; drop(): Promise<void> };
let client: pg.Client;
let before: string;
beforeAll(async () => {
  before = await mkdtemp(join(tmpdir(), 'inlet-sql-'));
  const files = (await readdir(SQL)).filter((file) => file < '0016');
  for (const file of files) await cp(join(SQL, file), join(before, file));
  empty = await createEmptyDatabase();
  await migrate(empty.url, before);
  client = new pg.Client({ connectionString: empty.url });
  await client.connect();
  await client.query(`
    INSERT INTO events (id, title, creator, start_date, created) VALUES ('event', 'Lecture', 'ada', now(), now());
    INSERT INTO series (id, title) VALUES ('series', 'Lectures');
    INSERT INTO accounts (username, password_hash, roles) VALUES
      ('assistant', 'x', '{ROLE_A,ROLE_USER_JANE_DOE_X,ROLE_B}')`);
  for (const [i, [username, role]] of FORMER.entries()) {
    await client.query('INSERT INTO accounts (username, password_hash) VALUES ($1, $2)', [username, 'x']);
    for (const table of ['event', 'series']) {
      await client.query(
        `INSERT INTO ${table}_acl (${table}_id, position, role, action, allow) VALUES ($1, $2, $3, 'read', true)`,
        [table, i, role],
      );
    }
  }
  await migrate(empty.url);
});
afterAll(async () => {
  await client?.end();
  await empty?.drop();
  await rm(before, { recursive: true, force: true });
});

test('what accounts might read, they still may: what names them goes with their roles', async () => {
  const roles = FORMER.map(([username]) => userRole(username)).sort();
  for (const table of ['events', 'series']) {
    const { rows } = await client.query<{ read_roles: string[] }>(`SELECT read_roles FROM ${table}`);
    expect(rows[0]?.read_roles.toSorted()).toEqual(roles);
  }
  const { rows } = await client.query("SELECT roles FROM accounts WHERE username = 'assistant'");
  expect(rows).toEqual([{ roles: ['ROLE_A', userRole('jane.doe@x'), 'ROLE_B'] }]);
});

test('should the migration run again, it leaves alone what has become the role of another', async () => {
  await client.query(`INSERT INTO event_acl (event_id, position, role, action, allow)
    VALUES ('event', 9, 'ROLE_USER_JANE_DOE_X', 'read', true)`);
  await client.query("DELETE FROM schema_migrations WHERE name = '0016_user_roles.sql'");
  expect(await migrate(empty.url)).toEqual(['0016_user_roles.sql']);
  const { rows } = await client.query('SELECT role FROM event_acl WHERE position = 9');
  expect(rows).toEqual([{ role: 'ROLE_USER_JANE_DOE_X' }]);
});
