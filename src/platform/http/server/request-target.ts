import { SENTENCE } from '../errors/errors.ts';

/** A name or an address, with a port or without. */
const HOST = /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/;
/** What URL parsers resolve, as they know it. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** How a request is refused before the application has it. */
export const REFUSAL = { 'Content-Type': SENTENCE, 'X-Content-Type-Options': 'nosniff', Connection: 'close' };

/**
 * What is wrong with where a request is to go, as a sentence; undefined for nothing. One runtime resolves `..`, or takes
 * a path out of the `Host`, where another does not: such requests reach no handler on any.
 *
 * @param target as it was sent, or the whole URL made of it and of the host without resolving anything
 * @param host the header, if there is one
 */
export function faultOfTarget(target: string, host: string | undefined): string | undefined {
  if (host && !(HOST.test(host) && URL.canParse(`http://${host}`))) {
    return "The header 'Host' must be a name or an address, with a port or without.";
  }
  const origin = SCHEME_AND_HOST.exec(target)?.[0] ?? '';
  const [path = ''] = target.slice(origin.length).split(/[?#]/, 1);
  if (!(path.startsWith('/') || (origin && path === '')) || (origin && !URL.canParse(origin))) {
    return 'The address must be a path that begins with a slash, or a URL of it.';
  }
  if (`${origin}${path}`.includes('\\')) return 'The path must hold no backslash.';
  if (path.split('/').some((segment) => DOTS.test(segment))) {
    return "The path must hold no segment '.' or '..'; addresses are not resolved here.";
  }
  return undefined;
}

/** The `Host` of a message; several of them, which no client sends and everybody reads differently, make none. */
export function hostOf(rawHeaders: readonly string[]): string | undefined {
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
  return hosts.length > 0 ? hosts.join(', ') : undefined;
}

/** The refusal of a request whose URL has what was sent, unresolved, as Deno's server makes it; undefined for none. */
export function refuseTarget(request: Request): Response | undefined {
  const fault = faultOfTarget(request.url, request.headers.get('Host') ?? undefined);
  return fault === undefined ? undefined : new Response(fault, { status: 400, headers: REFUSAL });
}
