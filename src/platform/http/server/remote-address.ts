import type { Context } from 'hono';

/**
 * The IP address of the client, also behind a proxy that is trusted; empty without a connection. Addresses that are handed
 * out begin with PUBLIC_URL, so what a proxy says of scheme and host is of no interest.
 */
export function remoteAddress(c: Context): string {
  return c.get('client') ?? peerAddress(c);
}

/** The IP address of the other end of the connection, as `serve` hands it over. */
export function peerAddress(c: Context): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
