import type { DiagLogger } from '@opentelemetry/api';
import { type Config, loadConfig } from '#platform/config/config.ts';
import { ListenError, serve } from '#platform/http/server/serve.ts';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import { measureProcess } from '#platform/telemetry/metrics.ts';
import { metricsText } from '#statistics/metrics/metrics.endpoint.ts';
import manifest from '../../package.json' with { type: 'json' };
import { COMPILE_ONLY, compileRest } from './compile-only.ts';
import { type Context, createContext } from './context.ts';
import { Shutdown } from './shutdown.ts';

/** Shortest time between two log entries about an unreachable collector. */
const WARNING_INTERVAL_MS = 60_000;

/** Starts a process with its parts in order and runs it until a signal. A failed start exits with 1. */
export async function runProcess(
  role: Context['role'],
  environment: NodeJS.ProcessEnv,
  ...parts: ((context: Context, shutdown: Shutdown) => Promise<unknown>)[]
): Promise<void> {
  if (process.argv.includes(COMPILE_ONLY)) return compileRest();
  try {
    const config = loadConfig(environment);
    const context = await createContext(config, role);
    logRuntimeProblems(context.log);
    const shutdown = new Shutdown({ log: context.log, deadlineMs: config.shutdownMs });
    await startTracing(context, shutdown);
    await startMetrics(context, shutdown);
    for (const start of parts) await start(context, shutdown);
    shutdown.release('connections', context.close);
    shutdown.listen();
    // Starting allocates more than serving needs, and V8 would keep that memory.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  } catch (error) {
    printStartFailure(error);
    process.exit(1);
  }
}

/** Prints why a start failed: one line for what an operator can fix, else the stack. */
export function printStartFailure(error: unknown): void {
  const plain = error instanceof ConfigError || error instanceof ListenError;
  const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
}

/** Logs runtime warnings, and unhandled rejections, which must not end the uploads of other clients. */
export function logRuntimeProblems(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'runtime warning'));
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'unhandled rejection'));
}

/** Measures the process and serves `/metrics` and `/health/live` on METRICS_PORT, if set, without an account. */
async function startMetrics(context: Context, shutdown: Shutdown): Promise<void> {
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

/** Exports traces to the collector of the `OTEL_*` variables. Loads no library without a collector. */
export async function startTracing(
  { config: { traces }, log, processName }: { config: Pick<Config, 'traces'>; log: Logger; processName: string },
  shutdown: Shutdown,
): Promise<void> {
  if (!traces) return;
  const [{ diag, DiagLogLevel }, { BatchSpanProcessor, NodeTracerProvider }, resources, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/resources'),
      traces.format === 'json'
        ? import('@opentelemetry/exporter-trace-otlp-http')
        : import('@opentelemetry/exporter-trace-otlp-proto'),
    ]);
  diag.setLogger(diagnostics(log), DiagLogLevel.WARN);
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const own = resourceFromAttributes({
    'service.name': 'inlet',
    'service.version': manifest.version,
    'service.instance.id': processName,
  });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  log.info({ collector: traces.origin, format: traces.format }, 'traces are sent');
  shutdown.release('traces', () => provider.shutdown());
}

/** Logs messages of the library at a limited rate: it repeats them and quotes the collector's responses. */
function diagnostics(log: Logger): DiagLogger {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (message: string) => {
    if (performance.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = performance.now();
    log.warn({ reason: message.slice(0, 500) }, 'traces cannot be sent');
  };
  const nothing = () => undefined;
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}
