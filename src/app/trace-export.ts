import type { DiagLogger } from '@opentelemetry/api';
import type { Config } from '#platform/config/config.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Shutdown } from './shutdown.ts';

/** Shortest time between two log entries about an unreachable collector. */
const WARNING_INTERVAL_MS = 60_000;

export interface TracedProcess {
  config: Pick<Config, 'traces'>;
  log: Logger;
  processName: string;
}

/**
 * Exports traces to an OpenTelemetry collector, configured by `OTEL_EXPORTER_OTLP_ENDPOINT` and the other standard
 * variables. Loads no library without a collector.
 */
export async function startTracing(
  { config: { traces }, log, processName }: TracedProcess,
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
    log.warn({ reason: message.slice(0, 500) }, 'traces are not sent as they should be');
  };
  const nothing = () => undefined;
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}
