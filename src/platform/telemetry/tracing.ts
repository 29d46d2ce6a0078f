import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

export type { Attributes } from '@opentelemetry/api';

/** The position in a trace: `traceparent` of W3C Trace Context. */
export type TraceParent = string;

/** The trace headers of a caller. */
export interface TraceHeaders {
  traceparent?: TraceParent | undefined;
  tracestate?: string | undefined;
}

export interface SpanOptions {
  kind?: 'internal' | 'server' | 'producer' | 'consumer';
  attributes?: Attributes;
  /** Where it belongs: to what is under way, unless given; to a trace of its own with headers that say nothing. */
  within?: TraceHeaders;
  /** For what is asked all the time, and nobody wants to see. */
  untraced?: boolean;
}

/** A piece of work that is traced. */
export interface Traced {
  /** Undefined while nothing is traced. */
  traceId: string | undefined;
  /** Says more of it, also by another name. */
  describe(attributes: Attributes, name?: string): void;
  /** Marks it as failed. */
  fail(reason?: string): void;
}

// Until somebody has traces exported, spans are nothing, and cost as much.
const tracer = trace.getTracer('inlet');
const NOTHING: Traced = { traceId: undefined, describe: () => undefined, fail: () => undefined };
const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Runs work as a span of its trace and records an error that it throws. */
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

/** Returns the position for work that another process continues; null while nothing is traced. */
export function currentTrace(): TraceParent | null {
  const headers: TraceHeaders = {};
  propagation.inject(context.active(), headers);
  return headers.traceparent ?? null;
}

function place(within: TraceHeaders | undefined) {
  return within ? propagation.extract(ROOT_CONTEXT, within) : context.active();
}
