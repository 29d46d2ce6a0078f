import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** A `traceparent` of W3C Trace Context. */
export type TraceParent = string;

export interface TraceHeaders {
  traceparent?: TraceParent | undefined;
  tracestate?: string | undefined;
}

export interface SpanOptions {
  kind?: 'internal' | 'server' | 'producer' | 'consumer';
  attributes?: Attributes;
  /** The parent: the current span by default; a new trace for empty headers. */
  within?: TraceHeaders;
  /** True for polled paths. */
  untraced?: boolean;
}

export interface Traced {
  /** Undefined without tracing. */
  traceId: string | undefined;
  /** Adds attributes, and renames the span. */
  describe(attributes: Attributes, name?: string): void;
  fail(reason?: string): void;
}

// Without an exporter, spans are no-ops.
const tracer = trace.getTracer('inlet');
const NOTHING: Traced = { traceId: undefined, describe: () => undefined, fail: () => undefined };
const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Runs work as a span and records an error that it throws. */
export function traced<T>(name: string, options: SpanOptions, work: (traced: Traced) => Promise<T>): Promise<T> {
  const { kind = 'internal', attributes = {}, within, untraced = false } = options;
  if (untraced) return work(NOTHING);
  return tracer.startActiveSpan(name, { kind: KINDS[kind], attributes }, place(within), async (span) => {
    const fail = (message?: string) =>
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
    try {
      return await work({
        traceId: span.isRecording() ? span.spanContext().traceId : undefined,
        describe: (more, newName) => {
          span.setAttributes(more);
          if (newName !== undefined) span.updateName(newName);
        },
        fail,
      });
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records finished work as a span. @param startedAt milliseconds since 1970 */
export function recordSpan(
  name: string,
  startedAt: number,
  { kind = 'internal', attributes = {}, within }: SpanOptions,
): void {
  tracer.startSpan(name, { kind: KINDS[kind], attributes, startTime: startedAt }, place(within)).end();
}

/** Returns the position for work that another process continues; null without tracing. */
export function currentTrace(): TraceParent | null {
  const headers: TraceHeaders = {};
  propagation.inject(context.active(), headers);
  return headers.traceparent ?? null;
}

function place(within: TraceHeaders | undefined) {
  return within ? propagation.extract(ROOT_CONTEXT, within) : context.active();
}
