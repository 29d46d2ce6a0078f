import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claimOperation, endClaim } from '../src/workflows/claims.ts';
import { databaseForThisFile } from '../test/support/database.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../test/support/workflows.ts';
import { createWorkFolder, removeAbandonedFolders, touchWorkFolder } from './work-folders.ts';

const db = databaseForThisFile();

test('a folder goes when nobody touches it and nobody works on its operation, whatever the clock says', async () => {
  const workDir = await mkdtemp(join(tmpdir(), 'inlet-work-'));
  onTestFinished(() => rm(workDir, { recursive: true }));
  const left = async () => (await readdir(workDir)).sort();
  const { workflowId } = await startTestWorkflow(db.database, ['told']);
  const [operation] = await operationsOf(db.database, workflowId);
  const claim = await claimOperation(db.database, operation?.id ?? 0, 'worker-a', AT_ONCE);
  if (!claim) throw new Error('The operation was not ready.');
  const { operationId, token } = claim;

  const running = await createWorkFolder(workDir, operationId);
  const gone = await createWorkFolder(workDir, 999_999_999);
  const young = await createWorkFolder(workDir, 999_999_998);
  // As after a clock that was set forward by an hour.
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const folder of [running, gone]) await utimes(folder, hourAgo, hourAgo);
  await removeAbandonedFolders(db.database, workDir);
  expect(await left()).toEqual([basename(running), basename(young)].sort());

  await endClaim(db.database, claim, { kind: 'succeeded', operationId, token }, AT_ONCE);
  await touchWorkFolder(running);
  await removeAbandonedFolders(db.database, workDir);
  expect(await left()).toEqual([basename(running), basename(young)].sort());
  await utimes(running, hourAgo, hourAgo);
  await removeAbandonedFolders(db.database, workDir);
  expect(await left()).toEqual([basename(young)]);
  // As after one that was set forward, and back when the worker had been killed.
  const inAnHour = new Date(Date.now() + 3_600_000);
  await utimes(young, inAnHour, inAnHour);
  await removeAbandonedFolders(db.database, workDir);
  expect(await left()).toEqual([]);
});
