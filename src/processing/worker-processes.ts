import { type Selectable, sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { WorkerProcess as WorkerRow } from '#platform/database/schema.ts';
import { SETTINGS_CHANNEL } from './lane-settings.ts';

/** A process that is silent for so long has died, or cannot reach the database. */
const SILENT_SECONDS = 30;
/** The time for which a silent process is listed. */
const KEPT_SECONDS = 3_600;

/** The number of processes that take operations, as SQL. */
export const aliveWorkers = sql<number>`(SELECT count(*) FROM worker_processes
  WHERE NOT draining AND seen_at > now() - make_interval(secs => ${SILENT_SECONDS}))`;

/** Facts that a process with workers reports. `concurrency` applies to each lane without a setting. */
type WorkerFacts = Pick<Selectable<WorkerRow>, 'name' | 'host' | 'pid' | 'runtime' | 'version' | 'concurrency'>;

/** Settings that such a process must follow. */
export interface WorkerSettings {
  draining: boolean;
  concurrency: Readonly<Record<string, number>>;
}

/** Reports that a process lives. @returns its settings */
export async function reportWorkerProcess(database: Database, facts: WorkerFacts): Promise<WorkerSettings> {
  const { name, host, pid, runtime, version, concurrency } = facts;
  const { rows } = await sql<WorkerSettings>`
    INSERT INTO worker_processes (name, host, pid, runtime, version, concurrency)
    VALUES (${name}, ${host}, ${pid}, ${runtime}, ${version}, ${concurrency})
    ON CONFLICT (name) DO UPDATE SET seen_at = now()
    RETURNING draining, (SELECT coalesce(jsonb_object_agg(lane, concurrency), '{}') FROM lane_settings
      WHERE lane_settings.concurrency IS NOT NULL) AS concurrency`.execute(database);
  return rows[0] ?? { draining: false, concurrency: {} };
}

/** Deletes a process that shuts down, and those that have been silent for long. */
export async function forgetProcess(database: Database, name: string): Promise<void> {
  await sql`DELETE FROM worker_processes
    WHERE name = ${name} OR seen_at < now() - make_interval(secs => ${KEPT_SECONDS})`.execute(database);
}

export interface WorkerProcess extends WorkerFacts {
  startedAt: Date;
  seenAt: Date;
  draining: boolean;
  /** True after it has fallen silent. */
  gone: boolean;
  busy: number;
}

/** Returns the processes with workers, the oldest first. */
export async function listWorkerProcesses(database: Database): Promise<WorkerProcess[]> {
  const { rows } = await sql<WorkerProcess>`
    SELECT p.name, host, pid, runtime, version, concurrency, started_at AS "startedAt", seen_at AS "seenAt", draining,
      seen_at < now() - make_interval(secs => ${SILENT_SECONDS}) AS gone,
      (SELECT count(*) FROM workflow_operations o WHERE o.state = 'running' AND o.worker = p.name) AS busy
    FROM worker_processes p WHERE seen_at > now() - make_interval(secs => ${KEPT_SECONDS})
    ORDER BY started_at, p.name LIMIT 200`.execute(database);
  return rows;
}

/** Starts or ends draining of a process; while draining, it takes no operation. @returns false when none has this name */
export async function setDraining(database: Database, name: string, draining: boolean): Promise<boolean> {
  const changed = await database
    .updateTable('worker_processes')
    .set({ draining })
    .where('name', '=', name)
    .executeTakeFirst();
  await sql`SELECT pg_notify(${SETTINGS_CHANNEL}, '')`.execute(database);
  return changed.numUpdatedRows > 0n;
}
