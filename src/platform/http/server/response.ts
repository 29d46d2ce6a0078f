import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { usualHeaderName } from './header-names.ts';

/** A body longer than this is not received only to be thrown away. */
const WORTH_READING_BYTES = 64 * 1024;

/** An answer with the usual names of headers, and the last one of a connection on which much is still to come. */
export class InletResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1);
    if (headers && typeof headers === 'object' && !Array.isArray(headers)) {
      rest[rest.length - 1] = Object.fromEntries(
        Object.entries(headers as OutgoingHttpHeaders).map(([name, value]) => [usualHeaderName(name), value]),
      );
    }
    const unread = leavesMuch(this.req);
    if (unread) this.shouldKeepAlive = false;
    super.writeHead(status, ...(rest as [OutgoingHttpHeaders]));
    // Dropped from now on, in the sight of whoever watches over its chunks.
    if (unread) this.req.resume();
    return this;
  }
}

function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return (
    headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > WORTH_READING_BYTES
  );
}
