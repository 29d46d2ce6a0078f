/** The media type of Server-Sent Events (WHATWG HTML, section 9.2). */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const ENCODER = new TextEncoder();

/** What an answer with a stream says; nobody on the way is to keep it or to wait for more. */
export const STREAM_HEADERS = {
  'Content-Type': EVENT_STREAM,
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** One message. @param id what a client that comes back says it has got */
export function streamMessage(id: number, kind: string, data: unknown): Uint8Array {
  return ENCODER.encode(`id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Says how soon to come back after the stream has ended. */
export function streamStart(retryMs: number): Uint8Array {
  return ENCODER.encode(`retry: ${retryMs}\n\n`);
}

/** Nothing, so that nobody takes the connection for dead. */
export const STREAM_HEARTBEAT = ENCODER.encode(':\n\n');
