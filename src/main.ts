import { startWorkerProcess } from '../workers/start.ts';
import { startApi } from './api-server.ts';
import { loadConfig } from './config.ts';
import { createContext } from './context.ts';
import { logStrayRejections, logWarnings, runEntry } from './entry.ts';
import { startMetrics } from './metrics-server.ts';
import { Shutdown } from './shutdown.ts';
import { startTracing } from './trace-export.ts';

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
