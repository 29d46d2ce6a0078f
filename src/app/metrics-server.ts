import { serve } from '#platform/http/server/serve.ts';
import { measureProcess } from '#platform/telemetry/process-metrics.ts';
import { metricsText } from '#statistics/metrics/metrics.endpoint.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Context } from './context.ts';
import type { Shutdown } from './shutdown.ts';

/**
 * Measures the process and serves `/metrics` and `/health/live` on METRICS_PORT, if set, without an account.
 *
 * @throws {ListenError}
 */
export async function startMetrics(context: Context, shutdown: Shutdown): Promise<void> {
  const { config, serviceMetrics, log, role, pulse, pools } = context;
  measureProcess({ role, pulse, pools, version: manifest.version });
  if (config.metricsPort === undefined) return;
  const server = await serve(
    (request) => {
      const { pathname } = new URL(request.url);
      if (request.method !== 'GET' && request.method !== 'HEAD') return new Response(null, { status: 405 });
      if (pathname === '/metrics') return metricsText(serviceMetrics);
      if (pathname === '/health/live') return liveness(context);
      return new Response(null, { status: 404 });
    },
    { host: config.host, port: config.metricsPort, variable: 'METRICS_PORT' },
  );
  log.info({ host: config.host, port: server.port }, 'metrics are served');
  shutdown.release('metrics', async () => server.destroy());
}

/** Fails while loops hang, so that an orchestrator replaces the process. */
async function liveness({ health }: Pick<Context, 'health'>): Promise<Response> {
  return health.worker().then(
    () => Response.json({ status: 'live' }),
    () => Response.json({ status: 'stuck' }, { status: 503 }),
  );
}
