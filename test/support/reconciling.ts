import { join } from 'node:path';
import { startReconciler } from '#workers/reconciler.ts';
import type { TestApp } from './app.ts';
import { eventually } from './eventually.ts';

/** Lets the loop of a worker run until something holds. */
export async function reconcileUntil(
  { context, database }: TestApp,
  holds: () => Promise<unknown>,
  { recordingGraceMs = 0 } = {},
): Promise<void> {
  const workDir = join(context.config.dataDir, 'work');
  const scheduling = { ...context.config.scheduling, recordingGraceMs };
  const config = { ...context.config, scheduling };
  const reconciler = startReconciler({ ...context, database, config }, workDir);
  try {
    await eventually(holds);
  } finally {
    await reconciler.close();
  }
}
