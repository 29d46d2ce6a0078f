import { loadConfig } from '../src/config.ts';
import { createContext } from '../src/context.ts';
import { logStrayRejections, logWarnings, runEntry } from '../src/entry.ts';
import { startMetrics } from '../src/metrics-server.ts';
import { Shutdown } from '../src/shutdown.ts';
import { startTracing } from '../src/trace-export.ts';
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
