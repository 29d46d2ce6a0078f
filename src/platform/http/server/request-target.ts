import { PLAIN_TEXT } from '../errors/errors.ts';

const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/;
/** Segments that URL parsers resolve. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Headers of a response before the application. */
export const REJECTION_HEADERS = {
  'Content-Type': PLAIN_TEXT,
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

/**
 * Returns an error for an ambiguous request target, or undefined. Runtimes differ in how they resolve `..` and take a
 * path out of `Host`, so such requests reach no handler.
 */
export function targetError(target: string, host: string | undefined): string | undefined {
  if (host && !(HOST.test(host) && URL.canParse(`http://${host}`))) {
    return "The header 'Host' must be a name or an address, optionally with a port.";
  }
  const origin = SCHEME_AND_HOST.exec(target)?.[0] ?? '';
  const [path = ''] = target.slice(origin.length).split(/[?#]/, 1);
  if (!(path.startsWith('/') || (origin && path === '')) || (origin && !URL.canParse(origin))) {
    return 'The request target must be an absolute path or a URL.';
  }
  if (`${origin}${path}`.includes('\\')) return 'The path must hold no backslash.';
  if (path.split('/').some((segment) => DOTS.test(segment))) {
    return "The path must hold no segment '.' or '..'; relative paths are not resolved.";
  }
  return undefined;
}

/** Returns the `Host`; repeated headers are joined and therefore invalid. */
export function hostOf(rawHeaders: readonly string[]): string | undefined {
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
  return hosts.length > 0 ? hosts.join(', ') : undefined;
}

/** Returns the rejection of a request whose URL is unresolved, as from Deno's server; undefined for a valid one. */
export function rejectTarget(request: Request): Response | undefined {
  const fault = targetError(request.url, request.headers.get('Host') ?? undefined);
  return fault === undefined ? undefined : new Response(fault, { status: 400, headers: REJECTION_HEADERS });
}
