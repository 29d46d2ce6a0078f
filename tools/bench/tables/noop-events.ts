import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../../src/platform/database/kysely.ts';
import type { DB } from '../../../src/platform/database/schema.ts';
import { parseDefinition } from '../../../src/processing/load-definitions.ts';
import { startWorkflow } from '../../../src/processing/start-workflow.ts';
import type { WorkflowDefinition } from '../../../src/processing/workflow-definition.ts';
import { type ApiAddress, postEvent } from '../support/http-client.ts';

const WRITERS = 8;
const POLL_MS = 50;
const PATIENCE_MS = 600_000;

/** Definitions `bench-N` of so many operations each that do nothing, in a folder for `WORKFLOWS_DIR`. */
export function writeDefinitions(parent: string, lengths: number[]) {
  const folder = join(parent, 'workflows');
  mkdirSync(folder, { recursive: true });
  const definitions = lengths.map((length) => {
    const operations = Array.from({ length }, () => ({ operation: 'noop', time_limit: '1m' }));
    const source = JSON.stringify({ id: `bench-${length}`, title: 'Benchmark', operations });
    const file = join(folder, `bench-${length}.yaml`);
    writeFileSync(file, source);
    return parseDefinition(file, source);
  });
  return { folder, definitions };
}

/** Posts events without tracks over HTTP, several at a time. */
export async function postEvents(api: ApiAddress, workflow: string, events: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  await severalAtATime(events, () => postEvent(api, { workflow }, agent));
  agent.destroy();
}

/** Writes events as a request would, without the request. */
export async function insertEvents(database: Database, definition: WorkflowDefinition, events: number): Promise<void> {
  await severalAtATime(events, () =>
    database.transaction().execute(async (trx) => {
      const eventId = randomUUID();
      const now = new Date();
      const event = { id: eventId, creator: 'bench', start_date: now, created: now };
      await trx.insertInto('events').values(event).execute();
      const start = { eventId, definition, configuration: {}, creator: 'bench', requestId: eventId };
      await startWorkflow(trx, start);
    }),
  );
}

/**
 * Runs what creates so many events, and waits until all their workflows have succeeded.
 *
 * @returns milliseconds from before the first event to the end of the last workflow, by the database's clock
 */
export async function untilAllSucceeded(
  database: Database,
  events: number,
  create: () => Promise<void>,
): Promise<number> {
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(database);
  const started = rows[0]?.now ?? new Date();
  await create();
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { count, last } = await succeededSince(database, started);
    if (count >= events && last) return last.getTime() - started.getTime();
    if (performance.now() > deadline) throw new Error(`Only ${count} of ${events} workflows succeeded.`);
    await sleep(POLL_MS);
  }
}

async function succeededSince(database: Kysely<DB>, started: Date) {
  return database
    .selectFrom('workflows')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('finished_at').as('last')])
    .where('state', '=', 'SUCCEEDED')
    .where('created_at', '>=', started)
    .executeTakeFirstOrThrow();
}

async function severalAtATime(times: number, work: () => Promise<unknown>): Promise<void> {
  let left = times;
  const writer = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}
