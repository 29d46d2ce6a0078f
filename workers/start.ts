import type { Context } from '../src/context.ts';
import { locateTools } from '../src/media/tools.ts';
import type { Shutdown } from '../src/shutdown.ts';
import { loadDefinitions } from '../src/workflows/definitions.ts';
import { operations } from './operations/index.ts';
import { startWorker } from './worker.ts';

/** Starts the workers of a process, until the shutdown. @throws {ConfigError} for a definition that cannot be run */
export async function startWorkerProcess(context: Context, shutdown: Shutdown): Promise<void> {
  const { config, log, processName: name } = context;
  await loadDefinitions(config.workflowsDir, new Set(operations.keys()));
  const tools = await locateTools(config);
  const worker = startWorker({
    ...context,
    name,
    tools,
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
    concurrency: config.workerConcurrency,
    recordingGraceMs: config.scheduling.recordingGraceMs,
  });
  log.info(
    { worker: name, concurrency: config.workerConcurrency, queue: context.queue.kind },
    'the worker is ready',
  );
  shutdown.finish('finish or hand back operations', (withinMs) => worker.close(withinMs));
}
