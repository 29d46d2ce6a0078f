import type { MiddlewareHandler } from 'hono';

/** A body longer than this is not made only to be measured. */
const MOST_BYTES = 2 ** 20;

/**
 * Gives the answer to `HEAD` the `Content-Length` that `GET` has, unless the body is long. The body is dropped further
 * out, and Deno, which finds neither body nor length, says 0.
 */
export function lengthForHead(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { body, headers } = c.res;
    if (c.req.method !== 'HEAD' || !body || headers.has('Content-Length')) return;
    const length = await lengthOf(body);
    c.res = new Response(null, c.res);
    if (length !== undefined) c.header('Content-Length', String(length));
  };
}

/** Reads no further than it has to. */
async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number | undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) return undefined;
  }
  return length;
}
