import pg from 'pg';
import { expect, test } from 'vitest';
import { debianPostgresAvailable } from '#test/support/debian-postgres.ts';
import { eventually } from '#test/support/eventually.ts';
import { startReplicatedPostgres } from '#test/support/replicated-postgres.ts';
import { examineParts } from './check.ts';
import { databaseChecks } from './database-checks.ts';

test.runIf(debianPostgresAvailable())(
  'a primary with its standby, the standby itself, and a primary that waits for it are told apart',
  async ({ onTestFinished }) => {
    const { primary, standby } = await startReplicatedPostgres(onTestFinished);
    const examined = async (url: string, part: string) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const checks = databaseChecks(async () => ({ url, client })).filter(({ name }) => name === part);
      const found = await Array.fromAsync(examineParts(checks));
      await client.end();
      return found;
    };
    expect(await examined(primary.url, 'replication')).toMatchObject([
      { state: 'ok', found: "synchronous_standby_names is 'second', synchronous_commit is on, 1 synchronous" },
    ]);
    expect(await examined(standby.url, 'writing')).toMatchObject([
      { state: 'fail', found: 'the server is a standby, which is read-only' },
    ]);
    await standby.kill();
    await eventually(async () =>
      expect(await examined(primary.url, 'replication')).toMatchObject([
        { state: 'fail', found: expect.stringContaining('but no such standby streams') },
      ]),
    );
  },
);
