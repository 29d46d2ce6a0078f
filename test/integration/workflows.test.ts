import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/kysely.ts';
import { advance } from '../../src/workflows/advance.ts';
import { claimOperation, endClaim, heartbeat, recoverLostOperations } from '../../src/workflows/claims.ts';
import { ClaimLost } from '../../src/workflows/locked-workflow.ts';
import {
  assignLanes,
  type Delivery,
  stillOverdue,
  takeDeliveries,
  takeOverdue,
  undeliver,
} from '../../src/workflows/outbox.ts';
import { IllegalMove } from '../../src/workflows/states.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FOR_AGES } from '../support/watched.ts';
import { AT_ONCE, operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  database = db.database;
});
afterAll(() => db.close());

async function claimFirst(workflowId: number, worker = 'worker-a') {
  const operation = (await operationsOf(database, workflowId)).find(({ state }) => state === 'ready');
  const claim = await claimOperation(database, operation?.id ?? 0, worker, AT_ONCE);
  if (!claim) throw new Error('There was nothing to claim.');
  return claim;
}

const states = async (workflowId: number) =>
  (await operationsOf(database, workflowId)).map(({ state }) => state);

test('a workflow goes from INSTANTIATED over RUNNING to SUCCEEDED, one operation after the other', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop']);
  expect(await processingState(database, eventId)).toBe('INSTANTIATED');
  expect(await states(workflowId)).toEqual(['ready', 'waiting']);
  for (const after of [
    ['succeeded', 'ready'],
    ['succeeded', 'succeeded'],
  ]) {
    const claim = await claimFirst(workflowId);
    expect(await processingState(database, eventId)).toBe('RUNNING');
    await endClaim(
      database,
      claim,
      {
        kind: 'succeeded',
        operationId: claim.operationId,
        token: claim.token,
      },
      AT_ONCE,
    );
    expect(await states(workflowId)).toEqual(after);
  }
  expect(await processingState(database, eventId)).toBe('SUCCEEDED');
});

test('of ten workers that claim the same operation, one gets it', async () => {
  const { workflowId } = await startTestWorkflow(database);
  const [operation] = await operationsOf(database, workflowId);
  const claims = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      claimOperation(database, operation?.id ?? 0, `worker-${i}`, AT_ONCE),
    ),
  );
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('a worker that lost its claim can write nothing', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const old = await claimFirst(workflowId);
  await sql`UPDATE workflow_operations SET heartbeat_at = now() - interval '1 minute' WHERE id = ${old.operationId}`.execute(
    database,
  );
  expect(await recoverLostOperations(database, FOR_AGES)).toContain(old.operationId);
  const current = await claimFirst(workflowId, 'worker-b');
  expect(current.token).toBeGreaterThan(old.token);
  expect(await heartbeat(database, old, 0.5)).toBe(false);
  const late = endClaim(
    database,
    old,
    { kind: 'succeeded', operationId: old.operationId, token: old.token },
    AT_ONCE,
    async (trx) =>
      void (await trx
        .updateTable('events')
        .set({ title: 'from the dead' })
        .where('id', '=', eventId)
        .execute()),
  );
  await expect(late).rejects.toBeInstanceOf(ClaimLost);
  const { title } = await database
    .selectFrom('events')
    .select('title')
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow();
  expect(title).toBe('');
  expect(await heartbeat(database, current, 0.5)).toBe(true);
});

test('a result and the state that says so are written together or not at all', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const claim = await claimFirst(workflowId);
  const failing = endClaim(
    database,
    claim,
    { kind: 'succeeded', operationId: claim.operationId, token: claim.token },
    AT_ONCE,
    async () => {
      throw new Error('the commit fails');
    },
  );
  await expect(failing).rejects.toThrow('the commit fails');
  expect(await states(workflowId)).toEqual(['running']);
  expect(await processingState(database, eventId)).toBe('RUNNING');
});

test('a permanent failure ends the workflow FAILED and keeps the reason and the log', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop']);
  const claim = await claimFirst(workflowId);
  const { operationId, token } = claim;
  await endClaim(
    database,
    claim,
    {
      kind: 'failed',
      operationId,
      token,
      reason: 'It is no recording.',
      log: 'tail',
    },
    AT_ONCE,
  );
  expect(await processingState(database, eventId)).toBe('FAILED');
  expect(await states(workflowId)).toEqual(['failed', 'stopped']);
  expect((await operationsOf(database, workflowId))[0]).toMatchObject({
    reason: 'It is no recording.',
    log: 'tail',
  });
});

test('a retried operation waits before it can be claimed again', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const claim = await claimFirst(workflowId);
  const { operationId, token } = claim;
  await endClaim(
    database,
    claim,
    {
      kind: 'retried',
      operationId,
      token,
      reason: 'r',
      log: '',
      delayMs: 60_000,
    },
    AT_ONCE,
  );
  expect(await states(workflowId)).toEqual(['ready']);
  expect(await claimOperation(database, operationId, 'worker-b', AT_ONCE)).toBeUndefined();
  expect(await processingState(database, eventId)).toBe('RUNNING');
});

test('a paused workflow goes on when it is resumed, and only then', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'pause', 'noop']);
  const claim = await claimFirst(workflowId);
  await endClaim(
    database,
    claim,
    { kind: 'succeeded', operationId: claim.operationId, token: claim.token },
    AT_ONCE,
  );
  expect(await processingState(database, eventId)).toBe('PAUSED');
  await database.transaction().execute((trx) => advance(trx, workflowId, { kind: 'resumed', by: 'ada' }));
  expect(await processingState(database, eventId)).toBe('RUNNING');
  expect(await states(workflowId)).toEqual(['succeeded', 'succeeded', 'ready']);
  const again = database
    .transaction()
    .execute((trx) => advance(trx, workflowId, { kind: 'resumed', by: 'ada' }));
  await expect(again).rejects.toBeInstanceOf(IllegalMove);
});

test('a workflow that begins with a pause pauses, and one whose last step is a pause then succeeds', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['pause']);
  expect(await processingState(database, eventId)).toBe('PAUSED');
  await database.transaction().execute((trx) => advance(trx, workflowId, { kind: 'resumed', by: 'ada' }));
  expect(await processingState(database, eventId)).toBe('SUCCEEDED');
});

test('stopping takes the operation from its worker', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop']);
  const claim = await claimFirst(workflowId);
  await database.transaction().execute((trx) => advance(trx, workflowId, { kind: 'stopped', by: 'ada' }));
  expect(await processingState(database, eventId)).toBe('STOPPED');
  expect(await heartbeat(database, claim, 0.5)).toBe(false);
});

test('deleting the event takes the operation from its worker', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  const claim = await claimFirst(workflowId);
  await database.deleteFrom('events').where('id', '=', eventId).execute();
  expect(await heartbeat(database, claim, 0.5)).toBe(false);
  const late = endClaim(
    database,
    claim,
    {
      kind: 'succeeded',
      operationId: claim.operationId,
      token: claim.token,
    },
    AT_ONCE,
  );
  await expect(late).rejects.toBeInstanceOf(ClaimLost);
});

test('an operation that keeps losing its workers fails in the end', async () => {
  const { eventId, workflowId } = await startTestWorkflow(database);
  for (let i = 0; i < 10; i += 1) {
    expect(await processingState(database, eventId)).not.toBe('FAILED');
    const claim = await claimFirst(workflowId);
    await sql`UPDATE workflow_operations SET heartbeat_at = now() - interval '1 minute' WHERE id = ${claim.operationId}`.execute(
      database,
    );
    await recoverLostOperations(database, FOR_AGES);
  }
  expect(await processingState(database, eventId)).toBe('FAILED');
  expect((await operationsOf(database, workflowId))[0]?.reason).toContain('died 10 times');
});

describe('operations whose workers have died a few times', () => {
  async function suspects(count: number, losses = 3) {
    const started = await Promise.all(Array.from({ length: count }, () => startTestWorkflow(database)));
    return Promise.all(
      started.map(async ({ eventId, workflowId }) => {
        const [operation] = await operationsOf(database, workflowId);
        const id = operation?.id ?? 0;
        await database.updateTable('workflow_operations').set({ losses }).where('id', '=', id).execute();
        return { eventId, workflowId, id };
      }),
    );
  }
  const take = (id: number, worker: string) => claimOperation(database, id, worker, AT_ONCE);

  /** A process dies with all it was doing. */
  async function die(worker: string) {
    await sql`UPDATE workflow_operations SET heartbeat_at = now() - interval '1 minute'
      WHERE worker = ${worker} AND state = 'running'`.execute(database);
    await recoverLostOperations(database, FOR_AGES);
  }

  test('are not worked on together: the one that kills the process fails alone, and the other is none the worse', async () => {
    const [culprit, innocent] = await suspects(2, 0);
    if (!culprit || !innocent) throw new Error('There are two.');
    for (let i = 0; i < 10; i += 1) {
      const worker = `dying-${i}`;
      expect(await take(culprit.id, worker)).toBeDefined();
      expect(Boolean(await take(innocent.id, worker))).toBe(i < 3);
      await die(worker);
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
  const second = database
    .insertInto('workflows')
    .values({
      event_id: eventId,
      definition: 'x',
      title: 'x',
      configuration: '{}',
      state: 'RUNNING',
      creator: 'x',
      request_id: 'x',
    })
    .execute();
  await expect(second).rejects.toThrow(/workflows_one_active/);
});

test('the outbox gives each ready operation to one relay, and again when nobody took it', async () => {
  const other = await createTestDatabase();
  try {
    for (let i = 0; i < 20; i += 1) await startTestWorkflow(other.database);
    const taken = (await Promise.all(Array.from({ length: 4 }, () => deliver(other.database)))).flat();
    expect(new Set(taken.map(({ operationId }) => operationId)).size).toBe(20);
    expect(taken).toHaveLength(20);
    expect(await deliver(other.database)).toEqual([]);
    expect(await takeOverdue(other.database, 15_000)).toEqual([]);
    await sql`UPDATE workflow_operations SET delivered_at = now() - interval '1 hour'`.execute(
      other.database,
    );
    const looks = (
      await Promise.all(Array.from({ length: 4 }, () => takeOverdue(other.database, 15_000)))
    ).flat();
    expect(byId(looks)).toEqual(byId(taken));
    expect(await takeOverdue(other.database, 15_000)).toEqual([]);
    await stillOverdue(other.database, looks);
    const again = await takeOverdue(other.database, 15_000);
    expect(byId(again)).toEqual(byId(taken));
    await undeliver(other.database, again);
    const anew = await deliver(other.database);
    expect(byId(anew)).toEqual(byId(taken.map((each) => ({ ...each, delivery: 2 }))));
    // What somebody says of an earlier delivery.
    await undeliver(other.database, again);
    expect(await deliver(other.database)).toEqual([]);
  } finally {
    await other.close();
  }
});

test('of each lane a window is delivered, the longest waiting first; the others wait for room', async () => {
  const other = await createTestDatabase();
  try {
    const started = [];
    for (const kind of ['b', 'a', 'b', 'a', 'b', 'c', 'b'])
      started.push(await startTestWorkflow(other.database, [kind]));
    const take = async () => (await deliver(other.database, 2)).map(({ operation }) => operation);
    expect(await take()).toEqual(['b', 'a', 'b', 'a', 'c']);
    expect(await take()).toEqual([]);
    const [first] = await operationsOf(other.database, started[0]?.workflowId ?? 0);
    await claimOperation(other.database, first?.id ?? 0, 'worker-a', AT_ONCE);
    expect(await take()).toEqual(['b']);
    expect(await take()).toEqual([]);
  } finally {
    await other.close();
  }
});

test('what was put off is delivered before what came later, once its time has come', async () => {
  const other = await createTestDatabase();
  try {
    const putOff = await startTestWorkflow(other.database, ['a']);
    await startTestWorkflow(other.database, ['a']);
    const [operation] = await operationsOf(other.database, putOff.workflowId);
    const id = operation?.id ?? 0;
    const set = (values: Record<string, unknown>) =>
      other.database.updateTable('workflow_operations').set(values).where('id', '=', id).execute();
    const take = async () => (await deliver(other.database, 1)).map(({ operationId }) => operationId);
    await set({ ready_at: sql`now() - interval '1 hour'`, not_before: sql`now() + interval '1 minute'` });
    const [fresh] = await take();
    expect(fresh).not.toBe(id);
    await startTestWorkflow(other.database, ['a']);
    await claimOperation(other.database, fresh ?? 0, 'worker-a', AT_ONCE);
    const due = new Date(Date.now() - 60_000);
    await set({ not_before: due });
    expect(await take()).toEqual([id]);
    // It waits for a worker since then, not for as long as it was put off.
    const [taken] = await operationsOf(other.database, putOff.workflowId);
    expect(taken?.ready_at).toEqual(due);
  } finally {
    await other.close();
  }
});

test('of thousands that wait, no more than a window is delivered and looked into', async () => {
  const other = await createTestDatabase();
  try {
    const { eventId } = await startTestWorkflow(other.database, ['encode']);
    await sql`WITH started AS (
        INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id)
          SELECT ${eventId}, 'x', 'x', '{}', 'STOPPED', 'test', 'x' FROM generate_series(1, 2000) RETURNING id
      )
      INSERT INTO workflow_operations (workflow_id, position, operation, state, max_attempts, time_limit_ms)
        SELECT id, 0, 'encode', 'ready', 1, 1000 FROM started`.execute(other.database);
    expect(await deliver(other.database)).toHaveLength(200);
    expect(await deliver(other.database)).toEqual([]);
    await sql`UPDATE workflow_operations SET delivered_at = now() - interval '1 hour'
      WHERE delivered_at IS NOT NULL`.execute(other.database);
    expect(await takeOverdue(other.database, 15_000)).toHaveLength(200);
    expect(await deliver(other.database)).toEqual([]);
  } finally {
    await other.close();
  }
});

/** Each operation waits in a lane that is called like it. */
async function deliver(db: Database, window?: number): Promise<Delivery[]> {
  await assignLanes(db, async (ready) => new Map(ready.map((each) => [each.operationId, each.operation])));
  return takeDeliveries(db, ['a', 'b', 'c', 'encode', 'noop'], window);
}

function byId(deliveries: readonly Delivery[]): Delivery[] {
  return deliveries.toSorted((a, b) => a.operationId - b.operationId);
}
