import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIGURES } from '../../src/operator/metrics/figures.queries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type LoggedDatabase, loggedDatabase } from '../support/logged-database.ts';
import { insertFinished } from '../support/operator-scene.ts';
import { costsOf } from '../support/plans.ts';

let db: TestDatabase;
let logged: LoggedDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await insertFinished(db.database, 20_000);
  await sql`UPDATE workflow_operations SET state = 'ready', lane = 'heavy', progress = 0, finished_at = NULL, ready_at = now()
    - interval '1 hour' WHERE operation = 'encode' AND workflow_id % 200 = 0`.execute(db.database);
  await sql`VACUUM ANALYZE workflow_operations`.execute(db.database);
  logged = loggedDatabase(db.url);
});
afterAll(async () => {
  await logged?.database.destroy();
  await db?.close();
});

test('the figures of the service cost as much as what waits, however much there was before', async () => {
  const lanes = await FIGURES.lanes(db.database);
  expect(lanes).toEqual([{ lane: 'heavy', ready: 100, oldest: expect.closeTo(3600, -2) }]);
  const { touched, plan } = await costsOf(logged, async (on) => {
    for (const read of Object.values(FIGURES)) await read(on);
  });
  expect(touched, plan).toBeLessThan(1_000);
});
