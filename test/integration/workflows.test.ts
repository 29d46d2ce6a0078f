import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '#platform/database/kysely.ts';
import { advance } from '#processing/advance-workflow.ts';
import { ClaimLost } from '#processing/locked-workflow.ts';
import {
  type Claim,
  claimOperation,
  endClaim,
  heartbeat,
  recoverLostOperations,
} from '#processing/operation-claims.ts';
import { assignLanes, type Delivery, resetDeliveries, takeDeliveries, takeOverdue } from '#processing/outbox.ts';
import type { Ending } from '#processing/workflow-change.ts';
import { IllegalMove } from '#processing/workflow-states.ts';
import { createTestDatabase } from '../support/database.ts';
import { FOR_AGES } from '../support/watched.ts';
import { AT_ONCE, operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

const db = await createTestDatabase();
const { database } = db;
afterAll(() => db.close());

const take = (id: number, worker = 'worker-a') => claimOperation(database, id, worker, AT_ONCE);

async function claimFirst(workflowId: number, worker?: string) {
  const operation = (await operationsOf(database, workflowId)).find(({ state }) => state === 'ready');
  const claim = await take(operation?.id ?? 0, worker);
  if (!claim) throw new Error('No operation was ready.');
  return claim;
}

const end = (
  claim: Claim,
  change: { kind: Ending['kind']; reason?: string; log?: string; delayMs?: number },
  commit?: Parameters<typeof endClaim>[4],
) => {
  const { operationId, token } = claim;
  return endClaim(database, claim, { operationId, token, ...change } as Ending, AT_ONCE, commit);
};
const SUCCEEDED = { kind: 'succeeded' } as const;

const states = async (workflowId: number) => (await operationsOf(database, workflowId)).map(({ state }) => state);

const resume = (workflowId: number) =>
  database.transaction().execute((trx) => advance(trx, workflowId, { kind: 'resumed', by: 'ada' }));

/** A worker falls silent with all it was doing, and that is found out. */
async function fallSilent(worker = 'worker-a') {
  await sql`UPDATE workflow_operations SET heartbeat_at = now() - interval '1 minute'
    WHERE worker = ${worker} AND state = 'running'`.execute(database);
  return recoverLostOperations(database, FOR_AGES);
}

test('a workflow goes from INSTANTIATED over RUNNING to SUCCEEDED, one operation after the other', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop']);
  expect(await processingState(database, eventId)).toBe('INSTANTIATED');
  expect(await states(workflowId)).toEqual(['ready', 'waiting']);
  for (const after of ['ready', 'succeeded']) {
    const claim = await claimFirst(workflowId);
    expect(await processingState(database, eventId)).toBe('RUNNING');
    await end(claim, SUCCEEDED);
    expect(await states(workflowId)).toEqual(['succeeded', after]);
  }
  expect(await processingState(database, eventId)).toBe('SUCCEEDED');
});

test('of ten workers that claim the same operation, one gets it', async () => {
  const { workflowId } = await startTestWorkflow(database);
  const [operation] = await operationsOf(database, workflowId);
  const claims = await Promise.all(Array.from({ length: 10 }, (_, i) => take(operation?.id ?? 0, `worker-${i}`)));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('a worker that lost its claim can write nothing', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const old = await claimFirst(workflowId);
  expect(await fallSilent()).toContain(old.operationId);
  const current = await claimFirst(workflowId, 'worker-b');
  expect(current.token).toBeGreaterThan(old.token);
  expect(await heartbeat(database, old, 0.5)).toBe(false);
  const late = end(old, SUCCEEDED, async (trx) => {
    await trx.updateTable('events').set({ title: 'from the dead' }).where('id', '=', eventId).execute();
  });
  await expect(late).rejects.toBeInstanceOf(ClaimLost);
  const event = database.selectFrom('events').select('title').where('id', '=', eventId);
  expect(await event.execute()).toEqual([{ title: '' }]);
  expect(await heartbeat(database, current, 0.5)).toBe(true);
});

test('a result and the state that says so are written together or not at all', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const failing = end(await claimFirst(workflowId), SUCCEEDED, async () => {
    throw new Error('the commit fails');
  });
  await expect(failing).rejects.toThrow('the commit fails');
  expect(await states(workflowId)).toEqual(['running']);
  expect(await processingState(database, eventId)).toBe('RUNNING');
});

test('a permanent failure ends the workflow FAILED and keeps the reason and the log', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop']);
  const why = { reason: 'It is no recording.', log: 'tail' };
  await end(await claimFirst(workflowId), { kind: 'failed', ...why });
  expect(await processingState(database, eventId)).toBe('FAILED');
  const operations = await operationsOf(database, workflowId);
  expect(operations).toMatchObject([{ state: 'failed', ...why }, { state: 'stopped' }]);
});

test('a workflow continues after an optional operation has failed, and keeps its reason', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop'], { optional: true });
  const why = { reason: 'The key is wrong.', log: '' };
  await end(await claimFirst(workflowId), { kind: 'failed', ...why });
  expect(await states(workflowId)).toEqual(['failed', 'ready']);
  expect(await processingState(database, eventId)).toBe('RUNNING');
  await end(await claimFirst(workflowId), { kind: 'failed', ...why });
  expect(await processingState(database, eventId)).toBe('SUCCEEDED');
  expect(await operationsOf(database, workflowId)).toMatchObject([{ ...why }, { state: 'failed', ...why }]);
});

test('a paused workflow goes on when it is resumed, and only then', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'pause', 'noop']);
  await end(await claimFirst(workflowId), SUCCEEDED);
  expect(await processingState(database, eventId)).toBe('PAUSED');
  await resume(workflowId);
  expect(await processingState(database, eventId)).toBe('RUNNING');
  expect(await states(workflowId)).toEqual(['succeeded', 'succeeded', 'ready']);
  await expect(resume(workflowId)).rejects.toBeInstanceOf(IllegalMove);
});

test('a workflow that begins with a pause pauses, and one whose last step is a pause then succeeds', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['pause']);
  expect(await processingState(database, eventId)).toBe('PAUSED');
  await resume(workflowId);
  expect(await processingState(database, eventId)).toBe('SUCCEEDED');
});

test('deleting the event takes the operation from its worker', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const claim = await claimFirst(workflowId);
  await database.deleteFrom('events').where('id', '=', eventId).execute();
  expect(await heartbeat(database, claim, 0.5)).toBe(false);
  await expect(end(claim, SUCCEEDED)).rejects.toBeInstanceOf(ClaimLost);
});

test('an operation that keeps losing its workers fails in the end', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  for (let i = 0; i < 10; i += 1) {
    expect(await processingState(database, eventId)).not.toBe('FAILED');
    await claimFirst(workflowId);
    await fallSilent();
  }
  expect(await processingState(database, eventId)).toBe('FAILED');
  expect((await operationsOf(database, workflowId))[0]?.reason).toContain('died 10 times');
});

describe('operations whose workers have died a few times', () => {
  const suspects = (count: number, losses = 3) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { eventId, workflowId } = await startTestWorkflow(database);
        const [operation] = await operationsOf(database, workflowId);
        const id = operation?.id ?? 0;
        await database.updateTable('workflow_operations').set({ losses }).where('id', '=', id).execute();
        return { eventId, workflowId, id };
      }),
    );

  test('are not worked on together: the one that kills the process fails alone, and the other is none the worse', async () => {
    const [culprit, innocent] = await suspects(2, 0);
    if (!culprit || !innocent) throw new Error('There are two.');
    for (let i = 0; i < 10; i += 1) {
      const worker = `dying-${i}`;
      expect(await take(culprit.id, worker)).toBeDefined();
      expect(Boolean(await take(innocent.id, worker))).toBe(i < 3);
      await fallSilent(worker);
    }
    expect(await processingState(database, culprit.eventId)).toBe('FAILED');
    const [waiting] = await operationsOf(database, innocent.workflowId);
    expect(waiting).toMatchObject({ state: 'ready', losses: 3, attempts: 0, deferrals: 0 });
    expect(await take(innocent.id, 'another')).toBeDefined();
  });

  test('are worked on by different processes, and beside others', async () => {
    const [first, second] = await suspects(2);
    const [sound] = await suspects(1, 2);
    expect(await take(first?.id ?? 0, 'apart-a')).toBeDefined();
    expect(await take(second?.id ?? 0, 'apart-a')).toBeUndefined();
    expect(await take(sound?.id ?? 0, 'apart-a')).toBeDefined();
    expect(await take(second?.id ?? 0, 'apart-b')).toBeDefined();
  });

  test('are not taken together either when they are taken at the same time', async () => {
    const together = await suspects(8);
    const claims = await Promise.all(together.map(({ id }) => take(id, 'at-once')));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});

test('an event cannot have two active workflows', async () => {
  const { eventId } = await startTestWorkflow(database);
  const names = { definition: 'x', title: 'x', configuration: '{}', creator: 'x', request_id: 'x' };
  const second = database.insertInto('workflows').values({ event_id: eventId, state: 'RUNNING', ...names });
  await expect(second.execute()).rejects.toThrow(/workflows_one_active/);
});

describe('the outbox', () => {
  /** Nothing but what a test makes is ready there. */
  async function freshDatabase(): Promise<Database> {
    const other = await createTestDatabase();
    onTestFinished(other.close);
    return other.database;
  }

  /** Each operation waits in a lane that is called like it. */
  async function deliver(db: Database, window?: number): Promise<Delivery[]> {
    await assignLanes(db, async (ready) => new Map(ready.map((each) => [each.operationId, each.operation])));
    return takeDeliveries(db, ['a', 'b', 'c', 'encode', 'noop'], window);
  }

  const byId = (deliveries: readonly Delivery[]) => deliveries.toSorted((a, b) => a.operationId - b.operationId);
  const fourAtOnce = async (work: () => Promise<Delivery[]>) =>
    (await Promise.all(Array.from({ length: 4 }, work))).flat();
  const makeOverdue = (db: Database) =>
    sql`UPDATE workflow_operations SET delivered_at = now() - interval '1 hour'
      WHERE delivered_at IS NOT NULL`.execute(db);

  test('gives each ready operation to one relay, and again when nobody took it', async () => {
    const db = await freshDatabase();
    const overdue = () => takeOverdue(db, 15_000);
    for (let i = 0; i < 20; i += 1) await startTestWorkflow(db);
    const taken = await fourAtOnce(() => deliver(db));
    expect(new Set(taken.map(({ operationId }) => operationId)).size).toBe(20);
    expect(taken).toHaveLength(20);
    expect(await deliver(db)).toEqual([]);
    expect(await overdue()).toEqual([]);
    await makeOverdue(db);
    const looks = await fourAtOnce(overdue);
    expect(byId(looks)).toEqual(byId(taken));
    expect(await overdue()).toEqual([]);
    await resetDeliveries(db, looks, 'overdue');
    const again = await overdue();
    expect(byId(again)).toEqual(byId(taken));
    await resetDeliveries(db, again, 'due');
    const anew = await deliver(db);
    expect(byId(anew)).toEqual(byId(taken.map((each) => ({ ...each, delivery: 2 }))));
    // A word about an earlier delivery changes nothing.
    await resetDeliveries(db, again, 'due');
    expect(await deliver(db)).toEqual([]);
  });

  test('delivers a window of each lane, the longest waiting first; the others wait for room', async () => {
    const db = await freshDatabase();
    const started = [];
    for (const kind of ['b', 'a', 'b', 'a', 'b', 'c', 'b']) started.push(await startTestWorkflow(db, [kind]));
    const next = async () => (await deliver(db, 2)).map(({ operation }) => operation);
    expect(await next()).toEqual(['b', 'a', 'b', 'a', 'c']);
    expect(await next()).toEqual([]);
    const [first] = await operationsOf(db, started[0]?.workflowId ?? 0);
    await claimOperation(db, first?.id ?? 0, 'worker-a', AT_ONCE);
    expect(await next()).toEqual(['b']);
    expect(await next()).toEqual([]);
  });

  test('delivers what was put off before what came later, once its time has come', async () => {
    const db = await freshDatabase();
    const putOff = await startTestWorkflow(db, ['a']);
    await startTestWorkflow(db, ['a']);
    const [operation] = await operationsOf(db, putOff.workflowId);
    const id = operation?.id ?? 0;
    const set = (values: Record<string, unknown>) =>
      db.updateTable('workflow_operations').set(values).where('id', '=', id).execute();
    const next = async () => (await deliver(db, 1)).map(({ operationId }) => operationId);
    await set({ ready_at: sql`now() - interval '1 hour'`, not_before: sql`now() + interval '1 minute'` });
    const [fresh] = await next();
    expect(fresh).not.toBe(id);
    await startTestWorkflow(db, ['a']);
    await claimOperation(db, fresh ?? 0, 'worker-a', AT_ONCE);
    const due = new Date(Date.now() - 60_000);
    await set({ not_before: due });
    expect(await next()).toEqual([id]);
    // It waits for a worker since then, not for as long as it was put off.
    expect((await operationsOf(db, putOff.workflowId))[0]?.ready_at).toEqual(due);
  });

  test('delivers and looks into no more than a window of thousands that wait', async () => {
    const db = await freshDatabase();
    const { eventId } = await startTestWorkflow(db, ['encode']);
    await sql`WITH started AS (
        INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id)
          SELECT ${eventId}, 'x', 'x', '{}', 'STOPPED', 'test', 'x' FROM generate_series(1, 2000) RETURNING id
      )
      INSERT INTO workflow_operations (workflow_id, position, operation, state, max_attempts, time_limit_ms)
        SELECT id, 0, 'encode', 'ready', 1, 1000 FROM started`.execute(db);
    expect(await deliver(db)).toHaveLength(200);
    expect(await deliver(db)).toEqual([]);
    await makeOverdue(db);
    expect(await takeOverdue(db, 15_000)).toHaveLength(200);
    expect(await deliver(db)).toEqual([]);
  });
});
