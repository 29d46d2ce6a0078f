import type pg from 'pg';
import { pendingMigrations } from '#platform/database/migrate.ts';
import type { Check, Diagnosis } from './check.ts';

/** The oldest version that Inlet is tested on. */
const OLDEST = 150_000;
const EXTENSIONS = ['btree_gist', 'pg_trgm'];
/** Leases and signed URLs compare the clocks of several machines. */
const CLOCK_MS = 2_000;
/** Values of `synchronous_commit` with which a standby has every commit on disk. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(['on', 'remote_apply']);
/** Operations that wait longer need more workers. */
const WAITING_SECONDS = 300;

/** Checks the database, its extensions, migrations, clock and free space, and the workers. */
export function databaseChecks(connect: () => Promise<{ url: string; client: pg.Client }>): Check[] {
  const with_ = (look: (client: pg.Client, url: string) => Promise<Diagnosis | Diagnosis[]>) => async () => {
    const { client, url } = await connect();
    return look(client, url);
  };
  return [
    {
      name: 'database',
      todo: 'Check DATABASE_URL, and that PostgreSQL runs there and accepts connections from this machine.',
      run: with_(server),
    },
    { name: 'extensions', todo: 'Install the package postgresql (Debian).', run: with_(extensions) },
    {
      name: 'migrations',
      todo: 'Run npm run migrate.',
      run: with_(async (_, url) => {
        const pending = await pendingMigrations(url);
        if (pending.length === 0) return { state: 'ok', found: 'all applied' };
        return { state: 'fail', found: `${pending.join(', ')} not applied`, todo: 'Run npm run migrate.' };
      }),
    },
    {
      name: 'writing',
      todo: 'Check that the disk of the database server is not full and that the account of DATABASE_URL can write its tables.',
      run: with_(writing),
    },
    { name: 'replication', todo: 'Fix the database first.', run: with_(replication) },
    { name: 'clock', todo: 'Fix the database first.', run: with_(clock) },
    { name: 'workers', todo: 'Run npm run migrate.', run: with_(workers) },
  ];
}

async function server(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ version: string; number: number; left: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('max_connections')::int - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int
         AS left`,
  );
  const { version = '', number = 0, left = 0 } = rows[0] ?? {};
  const found = `PostgreSQL ${version}, ${left} connections free`;
  if (number < OLDEST) return { state: 'fail', found, todo: 'Upgrade to PostgreSQL 15 or later.' };
  if (left < 30)
    return { state: 'warn', found, todo: 'Each process uses up to 30 connections. Increase max_connections.' };
  return { state: 'ok', found };
}

async function extensions(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ name: string; installed: string | null }>(
    'SELECT name, installed_version AS installed FROM pg_available_extensions WHERE name = ANY ($1)',
    [EXTENSIONS],
  );
  const absent = EXTENSIONS.filter((name) => !rows.some((row) => row.name === name));
  if (absent.length > 0) {
    const todo = 'Install them on the database server (Debian: package postgresql).';
    return { state: 'fail', found: `${absent.join(' and ')} not available`, todo };
  }
  const idle = rows.filter(({ installed }) => installed === null).map(({ name }) => name);
  if (idle.length === 0) return { state: 'ok', found: EXTENSIONS.join(', ') };
  return { state: 'fail', found: `${idle.join(' and ')} not installed`, todo: 'Run npm run migrate.' };
}

async function writing(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ standby: boolean; readonly: boolean }>(
    `SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only')::boolean AS readonly`,
  );
  if (rows[0]?.standby) {
    const todo = 'Let DATABASE_URL lead to the primary server, or promote this one.';
    return { state: 'fail', found: 'the server is a standby, which is read-only', todo };
  }
  if (rows[0]?.readonly) {
    const todo = 'Reset it for the server, the database and the account (ALTER SYSTEM, ALTER DATABASE, ALTER ROLE).';
    return { state: 'fail', found: 'default_transaction_read_only is on', todo };
  }
  await client.query('BEGIN');
  try {
    await client.query("INSERT INTO staging (object_key, owner, expires_at) VALUES ('doctor', 'doctor', now())");
  } finally {
    await client.query('ROLLBACK');
  }
  return { state: 'ok', found: 'the database accepts writes' };
}

/** Reports whether commits wait for a standby. Only accounts with `pg_read_all_stats` see the states of standbys. */
async function replication(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ names: string; commit: string; standbys: number; synchronous: number }>(
    `SELECT current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit,
       count(*)::int AS standbys,
       count(*) FILTER (WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))::int AS synchronous
     FROM pg_stat_replication WHERE coalesce(state, 'streaming') = 'streaming'`,
  );
  const { names = '', commit = '', standbys = 0, synchronous = 0 } = rows[0] ?? {};
  const found = `synchronous_standby_names is '${names}', synchronous_commit is ${commit}`;
  if (names === '') {
    const kind =
      standbys === 0 ? 'no standby streams' : `${standbys} asynchronous, promotion can lose the last seconds`;
    return { state: 'ok', found: `${kind}; synchronous_standby_names is not set` };
  }
  if (!SYNCHRONOUS.has(commit)) {
    const todo = 'Set synchronous_commit to on. Otherwise no standby has a commit on disk when Inlet responds.';
    return { state: 'warn', found, todo };
  }
  if (synchronous === 0) {
    const todo = 'Start the standby, or reset synchronous_standby_names: until then every write waits.';
    return { state: 'fail', found: `${found}, but no such standby streams`, todo };
  }
  return { state: 'ok', found: `${found}, ${synchronous} synchronous` };
}

async function clock(client: pg.Client): Promise<Diagnosis> {
  const asked = Date.now();
  const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const here = (asked + Date.now()) / 2;
  const apart = Math.round(Math.abs((rows[0]?.now.getTime() ?? 0) - here));
  const found = `${apart} ms from the clock of the database`;
  if (apart <= CLOCK_MS) return { state: 'ok', found };
  return { state: 'fail', found, todo: 'Synchronize the clocks of both machines (NTP).' };
}

async function workers(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ alive: number; waiting: number | null }>(
    `SELECT (SELECT count(*)::int FROM worker_processes WHERE seen_at > now() - interval '30 s') AS alive,
       (SELECT extract(epoch FROM now() - min(greatest(ready_at, not_before)))::int FROM workflow_operations o
         WHERE state = 'ready' AND not_before <= now()
           AND NOT EXISTS (SELECT FROM lane_settings s WHERE s.lane = o.lane AND s.paused)) AS waiting`,
  );
  const { alive = 0, waiting = null } = rows[0] ?? {};
  const waits = waiting === null ? 'nothing waits' : `the oldest operation has waited ${waiting} s`;
  const found = `${alive} running, ${waits}`;
  if (alive === 0 && waiting !== null) return { state: 'fail', found, todo: 'Start a worker: npm run worker.' };
  if (alive === 0) return { state: 'warn', found, todo: 'Start a worker to process recordings: npm run worker.' };
  if ((waiting ?? 0) > WAITING_SECONDS) return { state: 'warn', found, todo: 'Start more workers.' };
  return { state: 'ok', found };
}
