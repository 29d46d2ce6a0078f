import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabaseWatch } from '../../src/database/watch.ts';
import { type Claim, claimOperation, heartbeat, recoverLostOperations } from '../../src/workflows/claims.ts';
import { assignLanes, isAnythingDue, takeDeliveries, takeOverdue } from '../../src/workflows/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ClockedDatabase, withClock } from '../support/database-clock.ts';
import { eventually } from '../support/eventually.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

const HOUR = 3600;
const OVERDUE_MS = 15_000;

let db: TestDatabase;
let clocked: ClockedDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  clocked = await withClock(db);
});
afterAll(async () => {
  await clocked?.close();
  await db?.close();
});

async function claimed(worker: string): Promise<Claim> {
  const { workflowId } = await startTestWorkflow(clocked.database);
  const [operation] = await operationsOf(clocked.database, workflowId);
  const claim = await claimOperation(clocked.database, operation?.id ?? 0, worker, AT_ONCE);
  if (!claim) throw new Error('It was not ready.');
  return claim;
}

test('a clock that is set back keeps no operation with a worker that died, and takes none from one that lives', async () => {
  const { database, step } = clocked;
  // Time goes on beside the steps, however slow the test is: that is no outage. An hour is.
  const watch = new DatabaseWatch(database, { lookMs: 1_000_000, gapMs: 600_000 });
  try {
    await eventually(() => expect(watch.seen).toBeDefined());
    const [dead, living] = [await claimed('dead'), await claimed('living')];
    async function pass(seconds: number): Promise<number[]> {
      const recovered: number[] = [];
      for (let i = 0; i < seconds; i += 3) {
        await step(3);
        await watch.look();
        expect(await heartbeat(database, living, 0.5)).toBe(true);
        recovered.push(...(await recoverLostOperations(database, watch.seen)));
      }
      return recovered;
    }
    await pass(3);
    await step(-HOUR);
    // What was seen before says nothing of a time that nobody has looked at since.
    expect(await recoverLostOperations(database, watch.seen)).toEqual([]);
    expect(await pass(6)).toEqual([]);
    expect(await pass(15)).toEqual([dead.operationId]);
  } finally {
    watch.close();
  }
});

test('a delivery before a clock was set back is looked into again', async () => {
  const { database, step } = clocked;
  const { workflowId } = await startTestWorkflow(database);
  await assignLanes(database, async (ready) => new Map(ready.map((each) => [each.operationId, 'light'])));
  await takeDeliveries(database, ['light']);
  await step(-10);
  expect(await isAnythingDue(database, OVERDUE_MS)).toBe(false);
  expect(await takeOverdue(database, OVERDUE_MS)).toEqual([]);
  await step(-HOUR);
  expect(await isAnythingDue(database, OVERDUE_MS)).toBe(true);
  const [operation] = await operationsOf(database, workflowId);
  expect((await takeOverdue(database, OVERDUE_MS)).map(({ operationId }) => operationId)).toContain(
    operation?.id,
  );
  expect(await isAnythingDue(database, OVERDUE_MS)).toBe(false);
});
