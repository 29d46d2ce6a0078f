import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { TestContext } from 'vitest';
import { PostgresCluster, postgresFolder } from './debian-postgres.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startProxy } from './proxy.ts';
import { launch } from './run.ts';

const STANDBY = 'second';

/** A primary whose commits wait for its standby, behind an address that can move. */
export async function startReplicatedPostgres(onTestFinished: TestContext['onTestFinished']) {
  const folder = await postgresFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const primary = await new PostgresCluster(folder, 'first', await freePort()).create();
  await primary.start();
  onTestFinished(() => primary.end());
  const proxy = await startProxy('127.0.0.1', primary.port);
  onTestFinished(proxy.stop);
  const url = primary.url.replace(String(primary.port), String(proxy.port));
  const migrated = await launch(['migrate'], { DATABASE_URL: url });
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  const standby = await new PostgresCluster(folder, STANDBY, await freePort()).copy(primary, STANDBY);
  await standby.start();
  onTestFinished(() => standby.end());
  const administrator = new pg.Client({ connectionString: primary.url });
  await administrator.connect();
  await administrator.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
  await administrator.query('SELECT pg_reload_conf()');
  await eventually(async () => {
    const { rows } = await administrator.query('SELECT sync_state FROM pg_stat_replication');
    if (rows[0]?.sync_state !== 'sync') throw new Error('The standby does not stream.');
  });
  await administrator.end();
  return {
    url,
    primary,
    standby,
    /** Ends the primary, and the connections to it. */
    losePrimary: () => Promise.all([primary.kill(), proxy.part()]),
    /** Promotes the standby, and moves the address to it. */
    failOver: async () => {
      await standby.promote();
      proxy.lead(standby.port);
      await proxy.join();
    },
  };
}
