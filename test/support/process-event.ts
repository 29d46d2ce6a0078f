import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#platform/telemetry/log.ts';
import { Runner } from '#workers/operation-runner.ts';
import { operations as allOperations } from '#workers/operations/all-operations.ts';
import type { Operation } from '#workers/operations/operation.ts';
import type { TestApp } from './app.ts';
import { testTools } from './clips.ts';

/** Runs what is ready of an event's workflow with the real tools, as workers do, until nothing is. */
export async function processEvent(
  { database, context }: TestApp,
  eventId: string,
  operations: ReadonlyMap<string, Operation> = allOperations,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-process-'));
  const runner = new Runner({
    worker: 'test',
    database,
    vital: database,
    storage: context.storage,
    staging: context.staging,
    tools: await testTools(),
    site: context.config.operations,
    workDir: folder,
    operations,
    log: silentLogger,
  });
  const ready = database
    .selectFrom('workflow_operations')
    .innerJoin('workflows', 'workflows.id', 'workflow_operations.workflow_id')
    .select('workflow_operations.id')
    .where('event_id', '=', eventId)
    .where('workflow_operations.state', '=', 'ready');
  try {
    for (let next = await ready.executeTakeFirst(); next; next = await ready.executeTakeFirst()) {
      await runner.run(next.id, () => undefined);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
