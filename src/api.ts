import { startApi } from '#app/api-server.ts';
import { createContext } from '#app/context.ts';
import { logStrayRejections, logWarnings, runEntry } from '#app/entry.ts';
import { startMetrics } from '#app/metrics-server.ts';
import { Shutdown } from '#app/shutdown.ts';
import { startTracing } from '#app/trace-export.ts';
import { loadConfig } from '#platform/config/config.ts';

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
