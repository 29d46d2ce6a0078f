import { startApi } from './api-server.ts';
import { loadConfig } from './config.ts';
import { createContext } from './context.ts';
import { logStrayRejections, logWarnings, runEntry } from './entry.ts';
import { startMetrics } from './metrics-server.ts';
import { Shutdown } from './shutdown.ts';
import { startTracing } from './trace-export.ts';

/** The API alone. */
await runEntry(async () => {
  const config = loadConfig(process.env);
  const context = await createContext(config, 'api');
  logStrayRejections(context.log);
  logWarnings(context.log);
  const shutdown = new Shutdown({ log: context.log, deadlineMs: config.shutdownMs });
  await startTracing(context, shutdown);
  await startMetrics(context, shutdown);
  await startApi(context, shutdown);
  shutdown.release('connections', context.close);
  shutdown.listen();
});
