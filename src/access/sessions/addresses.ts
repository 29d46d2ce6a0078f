import type { Context } from 'hono';

/** Where people land who did not want to go anywhere else. */
const START = '/admin';
/** A path with or without a query; a second slash, or what browsers take for one, would begin a host. */
const OWN = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

/** The path that somebody wanted to go to; another site's address, or none at all, leads to the operator's page. */
export function destination(next: string | undefined): string {
  return next !== undefined && OWN.test(next) ? next : START;
}

/**
 * Where the server's paths begin, seen from the address of this request, with a slash at its end. Relative, so that pages
 * work under whatever name and path a proxy shows them.
 */
export function rootFrom(c: Context): string {
  const { pathname } = new URL(c.req.url);
  return '../'.repeat(pathname.split('/').length - 2) || './';
}

/** A path of ours, seen from the address of this request. */
export function relativeTo(c: Context, path: string): string {
  return rootFrom(c) + path.slice(1);
}
