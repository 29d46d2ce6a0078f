import { afterAll, beforeAll, expect, test } from 'vitest';
import { userRole } from '#access/roles/roles.ts';
import { migrate } from '#platform/database/migrate.ts';
import { createDatabaseBefore, type DatabaseBefore } from '../support/database-before.ts';

/** The roles that accounts had before, by their names. */
const FORMER = [
  ['jane.doe@x', 'ROLE_USER_JANE_DOE_X'],
  ['müller', 'ROLE_USER_M_LLER'],
  ['a~2E~b 😀', 'ROLE_USER_A_2E_B___'],
  ['李'.repeat(128), `ROLE_USER_${'_'.repeat(128)}`],
  ['plain_Name', 'ROLE_USER_PLAIN_NAME'],
] as const;

let database: DatabaseBefore;
beforeAll(async () => {
  database = await createDatabaseBefore('0016');
  const { client, url } = database;
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
  await migrate(url);
});
afterAll(() => database?.close());

test('what accounts might read, they still may: what names them goes with their roles', async () => {
  const { client } = database;
  const roles = FORMER.map(([username]) => userRole(username)).sort();
  for (const table of ['events', 'series']) {
    const { rows } = await client.query<{ read_roles: string[] }>(`SELECT read_roles FROM ${table}`);
    expect(rows[0]?.read_roles.toSorted()).toEqual(roles);
  }
  const { rows } = await client.query("SELECT roles FROM accounts WHERE username = 'assistant'");
  expect(rows).toEqual([{ roles: ['ROLE_A', userRole('jane.doe@x'), 'ROLE_B'] }]);
});

test('should the migration run again, it leaves alone what has become the role of another', async () => {
  const { client, url } = database;
  await client.query(`INSERT INTO event_acl (event_id, position, role, action, allow)
    VALUES ('event', 9, 'ROLE_USER_JANE_DOE_X', 'read', true)`);
  await client.query("DELETE FROM schema_migrations WHERE name = '0016_user_roles.sql'");
  expect(await migrate(url)).toEqual(['0016_user_roles.sql']);
  const { rows } = await client.query('SELECT role FROM event_acl WHERE position = 9');
  expect(rows).toEqual([{ role: 'ROLE_USER_JANE_DOE_X' }]);
});
