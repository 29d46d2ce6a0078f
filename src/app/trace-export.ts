import type { DiagLogger } from '@opentelemetry/api';
import type { Config } from '#platform/config/config.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Shutdown } from './shutdown.ts';

/** A collector that is away is told of no more often. */
const TOLD_MS = 60_000;

/** What is traced. */
export interface TracedProcess {
  config: Pick<Config, 'traces'>;
  log: Logger;
  processName: string;
}

/**
 * Sends what the process traces to a collector of OpenTelemetry, as the environment says (`OTEL_EXPORTER_OTLP_ENDPOINT` and
 * whatever else the specification has for sampling, limits and attributes). Without one nothing of all that is loaded.
 */
export async function startTracing(
  { config: { traces }, log, processName }: TracedProcess,
  shutdown: Shutdown,
): Promise<void> {
  if (!traces) return;
  const [
    { diag, DiagLogLevel },
    { BatchSpanProcessor, NodeTracerProvider },
    resources,
    { OTLPTraceExporter },
  ] = await Promise.all([
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

/** What the library has to say goes into the log. It repeats itself, and quotes what it was answered. */
function diagnostics(log: Logger): DiagLogger {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (message: string) => {
    if (performance.now() - toldAt < TOLD_MS) return;
    toldAt = performance.now();
    log.warn({ reason: message.slice(0, 500) }, 'traces are not sent as they should be');
  };
  const nothing = () => undefined;
  return { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
}
