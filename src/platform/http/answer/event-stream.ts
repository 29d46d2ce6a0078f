/** The media type of Server-Sent Events (WHATWG HTML, section 9.2). */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const ENCODER = new TextEncoder();

/** Keeps proxies from caching and buffering a stream. */
export const STREAM_HEADERS = {
  'Content-Type': EVENT_STREAM,
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Encodes one message. @param id the position that a client sends when it reconnects */
export function streamMessage(id: number, kind: string, data: unknown): Uint8Array {
  return ENCODER.encode(`id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}

export function streamStart(retryMs: number): Uint8Array {
  return ENCODER.encode(`retry: ${retryMs}\n\n`);
}

/** A comment that keeps the connection alive. */
export const STREAM_HEARTBEAT = ENCODER.encode(':\n\n');
