import { startApi } from '#app/api-server.ts';
import { createContext } from '#app/context.ts';
import { logStrayRejections, logWarnings, runEntry } from '#app/entry.ts';
import { startMetrics } from '#app/metrics-server.ts';
import { Shutdown } from '#app/shutdown.ts';
import { startTracing } from '#app/trace-export.ts';
import { loadConfig } from '#platform/config/config.ts';
import { startWorkerProcess } from '#workers/start.ts';

/** API, relay and workers in one process: the embedded default. */
await runEntry(async () => {
  const config = loadConfig(process.env);
  const context = await createContext(config, 'all');
  logStrayRejections(context.log);
  logWarnings(context.log);
  const shutdown = new Shutdown({ log: context.log, deadlineMs: config.shutdownMs });
  await startTracing(context, shutdown);
  await startMetrics(context, shutdown);
  await startApi(context, shutdown);
  await startWorkerProcess(context, shutdown);
  shutdown.release('connections', context.close);
  shutdown.listen();
});
