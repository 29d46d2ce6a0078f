import type { Context } from 'hono';

/** The IP address of the other end of the connection, as `serve` hands it over; empty without a connection. */
export function remoteAddress(c: Context): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
