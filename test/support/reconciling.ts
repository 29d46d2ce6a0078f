import { join } from 'node:path';
import { startReconciler } from '../../workers/reconciler.ts';
import type { TestApp } from './app.ts';
import { eventually } from './eventually.ts';

/** Lets the loop of a worker run until something holds. */
export async function reconcileUntil(
  { context, database }: TestApp,
  holds: () => Promise<unknown>,
  { recordingGraceMs = 0 } = {},
): Promise<void> {
  const workDir = join(context.config.dataDir, 'work');
  const options = { ...context, database, workDir, recordingGraceMs, changesDays: 14, direct: context };
  const reconciler = startReconciler(options);
  try {
    await eventually(holds);
  } finally {
    await reconciler.close();
  }
}
