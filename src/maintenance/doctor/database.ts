import type pg from 'pg';
import { pendingMigrations } from '#platform/database/migrate.ts';
import type { Check, Diagnosis } from './check.ts';

/** The eldest that Inlet is tested on. */
const OLDEST = 150_000;
const EXTENSIONS = ['btree_gist', 'pg_trgm'];
/** Leases and signed addresses are judged by clocks of several machines. */
const CLOCK_MS = 2_000;
/** What waits longer than so has nobody to do it. */
const WAITING_SECONDS = 300;

/** Database, extensions, migrations, clock, and whether the work is being done. */
export function databaseChecks(connect: () => Promise<{ url: string; client: pg.Client }>): Check[] {
  const with_ = (look: (client: pg.Client, url: string) => Promise<Diagnosis | Diagnosis[]>) => async () => {
    const { client, url } = await connect();
    return look(client, url);
  };
  return [
    {
      name: 'database',
      todo: 'DATABASE_URL says where it is; see whether PostgreSQL runs there and lets this machine in.',
      run: with_(server),
    },
    {
      name: 'extensions',
      todo: 'On Debian they are in the package postgresql.',
      run: with_(extensions),
    },
    {
      name: 'migrations',
      todo: 'Run npm run migrate.',
      run: with_(async (_, url) => {
        const pending = await pendingMigrations(url);
        if (pending.length === 0) return { state: 'ok', found: 'all are applied' };
        return { state: 'fail', found: `${pending.join(', ')} not applied`, todo: 'Run npm run migrate.' };
      }),
    },
    {
      name: 'writing',
      todo: 'See whether the disk of the database server is full, and whether the account of DATABASE_URL may write its tables.',
      run: with_(writing),
    },
    {
      name: 'clock',
      todo: 'See the database.',
      run: with_(clock),
    },
    {
      name: 'workers',
      todo: 'Run npm run migrate.',
      run: with_(workers),
    },
  ];
}

async function server(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ version: string; number: number; left: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('max_connections')::int - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int
         AS left`,
  );
  const { version = '', number = 0, left = 0 } = rows[0] ?? {};
  const found = `PostgreSQL ${version}, ${left} more connections are possible`;
  if (number < OLDEST) return { state: 'fail', found, todo: 'Inlet is tested on PostgreSQL 15 and later.' };
  if (left < 30) return { state: 'warn', found, todo: 'Each process takes up to 30; raise max_connections.' };
  return { state: 'ok', found };
}

async function extensions(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ name: string; installed: string | null }>(
    'SELECT name, installed_version AS installed FROM pg_available_extensions WHERE name = ANY ($1)',
    [EXTENSIONS],
  );
  const absent = EXTENSIONS.filter((name) => !rows.some((row) => row.name === name));
  if (absent.length > 0) {
    const todo = 'Install them on the database server; on Debian they are in the package postgresql.';
    return { state: 'fail', found: `${absent.join(' and ')} cannot be had`, todo };
  }
  const idle = rows.filter(({ installed }) => installed === null).map(({ name }) => name);
  if (idle.length === 0) return { state: 'ok', found: EXTENSIONS.join(', ') };
  return { state: 'fail', found: `${idle.join(' and ')} not in use`, todo: 'npm run migrate creates them.' };
}

async function writing(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby) {
    const todo = 'DATABASE_URL has to name the primary server.';
    return { state: 'fail', found: 'it is a standby, which takes no writes', todo };
  }
  await client.query('BEGIN');
  try {
    await client.query("INSERT INTO staging (object_key, owner, expires_at) VALUES ('doctor', 'doctor', now())");
  } finally {
    await client.query('ROLLBACK');
  }
  return { state: 'ok', found: 'rows are taken' };
}

async function clock(client: pg.Client): Promise<Diagnosis> {
  const asked = Date.now();
  const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const here = (asked + Date.now()) / 2;
  const apart = Math.round(Math.abs((rows[0]?.now.getTime() ?? 0) - here));
  const found = `${apart} ms apart from the database's`;
  if (apart <= CLOCK_MS) return { state: 'ok', found };
  return { state: 'fail', found, todo: 'Have both machines set their clocks by NTP.' };
}

async function workers(client: pg.Client): Promise<Diagnosis> {
  const { rows } = await client.query<{ alive: number; waiting: number | null }>(
    `SELECT (SELECT count(*)::int FROM worker_processes WHERE seen_at > now() - interval '30 s') AS alive,
       (SELECT extract(epoch FROM now() - min(greatest(ready_at, not_before)))::int FROM workflow_operations
         WHERE state = 'ready' AND not_before <= now()) AS waiting`,
  );
  const { alive = 0, waiting = null } = rows[0] ?? {};
  const waits = waiting === null ? 'nothing waits' : `the longest waits for ${waiting} s`;
  const found = `${alive} at work, ${waits}`;
  if (alive === 0 && waiting !== null) return { state: 'fail', found, todo: 'Start one: npm run worker.' };
  if (alive === 0) return { state: 'warn', found, todo: 'Recordings are processed once one runs: npm run worker.' };
  if ((waiting ?? 0) > WAITING_SECONDS) return { state: 'warn', found, todo: 'More workers would help.' };
  return { state: 'ok', found };
}
