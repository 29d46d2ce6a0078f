import type { Context } from '#app/context.ts';
import type { Shutdown } from '#app/shutdown.ts';
import { isOnlyLocal } from '#platform/config/config.ts';
import { BUNDLED_TOOLS_WARNING, locateTools, requireSafeTools } from '#platform/media/tools/locate-tools.ts';
import { requireFeatures } from '#platform/media/tools/required-features.ts';
import manifest from '../package.json' with { type: 'json' };
import { loadRunnableDefinitions } from './operations/all-operations.ts';
import { startWorker } from './worker.ts';

/** No loop takes longer than a minute; one that takes this long hangs. */
const STUCK_MS = 15 * 60_000;
const LOOK_MS = 10_000;

/** Runs a worker until the shutdown. @throws {ConfigError} if a workflow definition cannot be run */
export async function startWorkerProcess(context: Context, shutdown: Shutdown): Promise<void> {
  const { config, log, processName: name, pulse } = context;
  await loadRunnableDefinitions(config);
  const tools = await locateTools(config);
  if (requireSafeTools(tools, isOnlyLocal(config), config.allowBundledFfmpeg)) log.warn(BUNDLED_TOOLS_WARNING);
  await requireFeatures(tools);
  const worker = startWorker({ ...context, tools }, manifest.version);
  pulse.watch(...worker.loops);
  log.info({ worker: name, concurrency: config.workerConcurrency, queue: context.queue.kind }, 'the worker is ready');
  shutdown.finish('finish or hand back operations', (withinMs) => worker.close(withinMs));
  exitWhenStuck(context, shutdown);
}

/** Exits with status 1 when loops hang, so that a supervisor restarts the process. */
function exitWhenStuck({ pulse, log }: Context, shutdown: Shutdown): void {
  const timer = setInterval(() => {
    const stuck = pulse.stuck(STUCK_MS);
    if (stuck.length === 0) return;
    clearInterval(timer);
    log.fatal({ stuck }, 'loops of this process hang; exiting');
    shutdown.end(1);
  }, LOOK_MS);
  timer.unref();
}
