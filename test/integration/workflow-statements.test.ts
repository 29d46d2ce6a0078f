import { expect, test } from 'vitest';
import { loadConfig } from '#platform/config/config.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { advance } from '#processing/advance-workflow.ts';
import { ClaimLost } from '#processing/locked-workflow.ts';
import { claimOperation, endClaim } from '#processing/operation-claims.ts';
import { Runner } from '#workers/operation-runner.ts';
import { noop } from '#workers/operations/all-operations.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { loggedDatabase } from '../support/logged-database.ts';
import { createRunnerBench } from '../support/runner-bench.ts';
import { AT_ONCE, operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

const { db, storage, staging, folder } = await createRunnerBench();

async function prepare(...operations: string[]) {
  const { workflowId, eventId } = await startTestWorkflow(db.database, operations);
  const [first] = await operationsOf(db.database, workflowId);
  return { workflowId, eventId, operationId: first?.id ?? 0 };
}

test('an operation that does nothing costs eight statements, those that begin and end transactions among them', async () => {
  const { operationId, eventId } = await prepare('noop');
  const { database, queries } = loggedDatabase(db.url);
  const runner = new Runner({
    ...{ storage, staging, database, vital: database, workDir: folder, log: silentLogger },
    worker: 'worker-a',
    tools: { ffmpeg: '/nowhere', ffprobe: '/nowhere' },
    site: loadConfig({}).operations,
    operations: new Map([[noop.name, noop]]),
  });
  await runner.run(operationId, () => undefined);
  await database.destroy();
  expect(await processingState(db.database, eventId)).toBe('SUCCEEDED');
  // The notifications of many operations are sent together where there are many.
  const own = queries.filter(({ sql }) => !sql.startsWith('SELECT pg_notify'));
  expect(own.map(({ sql }) => sql.replace('/* prepared */ ', '').split(/\s/, 1)[0])).toEqual([
    ...['begin', 'select', 'WITH', 'commit'],
    ...['begin', 'select', 'WITH', 'commit'],
  ]);
});

test('who waits for a workflow sees its operations as they are then', async () => {
  const { database } = db;
  const { workflowId, operationId } = await prepare('noop', 'noop');
  const claim = await claimOperation(database, operationId, 'worker-a', AT_ONCE);
  if (!claim) throw new Error('The operation was not ready.');
  const { token } = claim;
  let ended: Promise<unknown> | undefined;
  await database.transaction().execute(async (trx) => {
    await advance(trx, workflowId, { kind: 'stopped', by: 'ada' });
    ended = endClaim(database, claim, { kind: 'succeeded', operationId, token }, AT_ONCE).catch((error) => error);
    await untilOneWaits(database);
  });
  expect(await ended).toBeInstanceOf(ClaimLost);
  const states = (await operationsOf(database, workflowId)).map(({ state }) => state);
  expect(states).toEqual(['stopped', 'stopped']);
});

test('who waits to claim an operation that another claims meanwhile does not get it', async () => {
  const { database } = db;
  const { operationId } = await prepare('noop');
  let second: Promise<unknown> | undefined;
  await database.transaction().execute(async (trx) => {
    const change = { kind: 'claimed', operationId, worker: 'worker-a' } as const;
    await advance(trx, { readyOperation: operationId }, change);
    second = claimOperation(database, operationId, 'worker-b', AT_ONCE);
    await untilOneWaits(database);
  });
  expect(await second).toBeUndefined();
});
