import { createContext } from '#app/context.ts';
import { logStrayRejections, logWarnings, runEntry } from '#app/entry.ts';
import { startMetrics } from '#app/metrics-server.ts';
import { Shutdown } from '#app/shutdown.ts';
import { startTracing } from '#app/trace-export.ts';
import { loadConfig } from '#platform/config/config.ts';
import { startWorkerProcess } from './start.ts';

/** Relay, workers and reconciler, without the API. */
await runEntry(async () => {
  const config = loadConfig(process.env);
  const context = await createContext(config, 'worker');
  logStrayRejections(context.log);
  logWarnings(context.log);
  const shutdown = new Shutdown({ log: context.log, deadlineMs: config.shutdownMs });
  await startTracing(context, shutdown);
  await startMetrics(context, shutdown);
  await startWorkerProcess(context, shutdown);
  shutdown.release('connections', context.close);
  shutdown.listen();
});
