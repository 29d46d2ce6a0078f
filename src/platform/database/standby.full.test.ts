import { expect, test } from 'vitest';
import { debianPostgresAvailable } from '#test/support/debian-postgres.ts';
import { eventually } from '#test/support/eventually.ts';
import { startReplicatedPostgres } from '#test/support/replicated-postgres.ts';
import { DatabaseWatch } from './database-watch.ts';
import { createDatabase } from './kysely.ts';
import { createPool } from './pool.ts';

test.runIf(debianPostgresAvailable())(
  'a database whose commits wait for a standby counts as down',
  async ({ onTestFinished }) => {
    const { primary, standby } = await startReplicatedPostgres(onTestFinished);
    const pool = createPool(primary.url, { onError: () => undefined });
    onTestFinished(() => pool.end());
    const watch = new DatabaseWatch(createDatabase(pool), { lookMs: 1_000_000, gapMs: 600_000 });
    onTestFinished(() => watch.close());
    await eventually(() => expect(watch.seen).toBeDefined());
    const before = watch.seen;
    await standby.kill();
    const look = watch.look();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(watch.seen).toEqual(before);
    await standby.start();
    await look;
    expect(watch.seen).not.toEqual(before);
  },
);
