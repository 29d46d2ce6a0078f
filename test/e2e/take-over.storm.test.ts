import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '#platform/database/kysely.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { createHeldEncoder } from '../support/held-encoder.ts';
import { redisAvailable } from '../support/redis.ts';
import { startServerFor } from '../support/server.ts';
import { encodingOf } from '../support/workflows.ts';

/** What the README promises, from the death of a worker on. */
const TAKEN_OVER_SECONDS = 30;
/** For the test itself, on a machine with much else to do. */
const PATIENCE_MS = 120_000;

const redisHere = await redisAvailable();

test.concurrent.for([
  { runtime: 'deno', redis: false, queue: 'PostgreSQL' },
  ...(redisHere ? [{ runtime: 'node', redis: true, queue: 'Redis' } as const] : []),
] as const)(
  `another worker has the encoding of a killed one within ${TAKEN_OVER_SECONDS} s, on $runtime over $queue`,
  { timeout: 4 * PATIENCE_MS },
  async ({ runtime, redis }, context) => {
    const encoder = await createHeldEncoder();
    await encoder.hold();
    const roles = ['api', 'worker', 'worker'] as const;
    const server = await startServerFor(context, { runtime, roles, redis, env: encoder.env });
    const admin = new Client(server.url);
    await recordClaims(server.database);
    const workers = server.processes.filter(({ role }) => role === 'worker');
    const ready = () => workers.filter(({ output }) => output.includes('the worker is ready'));
    await eventually(() => expect(ready()).toHaveLength(workers.length), PATIENCE_MS);

    const clip = await recording({ container: 'mpg' });
    const id = await admin.create([...eventFields(), file('presenter', 'a.mpg', clip)]);
    const [first] = await claims(server.database, 1);
    const holder = workers.find(({ pid }) => first?.worker.includes(`-${pid}-`));
    const other = workers.find((worker) => worker !== holder);
    if (!holder || !other) throw new Error(`${first?.worker} is none of the workers.`);
    const killed = await now(server.database);
    await holder.kill();

    const [, second] = await claims(server.database, 2);
    expect(second?.worker).toContain(`-${other.pid}-`);
    const seconds = (Number(second?.at) - Number(killed)) / 1000;
    expect(seconds).toBeLessThan(TAKEN_OVER_SECONDS);
    await encoder.release();
    expect((await admin.processed(id, PATIENCE_MS)).processing_state).toBe('SUCCEEDED');
    expect(await encodingOf(server.database, id)).toMatchObject({ losses: 1, attempts: 0 });
  },
);

/** Has the database write down who takes the encoding, and when. */
async function recordClaims(database: Database): Promise<void> {
  await sql`CREATE TABLE claims (worker text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`.execute(
    database,
  );
  await sql`CREATE FUNCTION record_claim() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO claims (worker) VALUES (NEW.worker); RETURN NULL; END'`.execute(database);
  await sql`CREATE TRIGGER record_claim AFTER UPDATE ON workflow_operations FOR EACH ROW
    WHEN (NEW.operation = 'encode' AND NEW.configuration ->> 'renditions' IS DISTINCT FROM 'copy'
      AND NEW.state = 'running' AND OLD.state = 'ready')
    EXECUTE FUNCTION record_claim()`.execute(database);
}

/** Waits for so many claims. */
async function claims(database: Database, count: number): Promise<{ worker: string; at: Date }[]> {
  const read = () => sql<{ worker: string; at: Date }>`SELECT worker, at FROM claims ORDER BY at`.execute(database);
  await eventually(async () => expect((await read()).rows).toHaveLength(count), PATIENCE_MS);
  return (await read()).rows;
}

async function now(database: Database): Promise<Date | undefined> {
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(database);
  return rows[0]?.now;
}
