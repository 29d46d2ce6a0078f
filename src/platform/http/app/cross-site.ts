import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Rules } from '../endpoint/rules.ts';
import { refusal } from '../errors/errors.ts';

export interface Sites {
  /** Base of URLs in responses; pages below it are ours. */
  publicUrl: string;
  /** Origins of other sites with the same rights. */
  trusted: readonly string[];
}

export const CROSS_SITE_WRITE = refusal(
  403,
  (site: string) => `Pages of ${site} may not change anything here; CORS_ORIGINS lists the origins that may.`,
  ['https://elsewhere.example.org'],
);

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Values of `Sec-Fetch-Site` for our pages and for navigation by the user. */
const OURS = new Set(['same-origin', 'none']);
/** Response headers that pages of other sites may read. */
const EXPOSED = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'X-Total-Count-Relation'],
  ...['Retry-After', 'Idempotent-Replayed', 'X-Request-Id'],
];
const PREFLIGHT_SECONDS = 600;

/**
 * Rejects requests from pages of other sites that change something: browsers attach stored credentials to them. Pages
 * cannot forge or omit `Origin` and `Sec-Fetch-Site`; programs send neither and pass. Another port or subdomain is
 * another site. (`hono/csrf` covers forms only and accepts one header of two.)
 *
 * Pages on the host that the request names are ours too, whatever `PUBLIC_URL` is. A foreign name for this server gains
 * nothing by that, because browsers store credentials by name.
 *
 * @param rules which mark GET requests that change something, and requests that other sites may send
 */
export function rejectCrossSiteWrites({ publicUrl, trusted }: Sites, rules: Rules): MiddlewareHandler {
  const own = new URL(publicUrl).origin;
  const isOwn = (origin: string, url: string) => origin === own || sameHost(origin, url);
  return async (c, next) => {
    const { method, path } = c.req;
    const rule = rules.find(method, path);
    if ((!READING.has(method) || rule?.writes) && !rule?.fromEverySite) {
      const origin = c.req.header('Origin');
      const site = c.req.header('Sec-Fetch-Site');
      const ours = (site === undefined || OURS.has(site)) && (origin === undefined || isOwn(origin, c.req.url));
      if (!ours && !(origin !== undefined && trusted.includes(origin))) throw CROSS_SITE_WRITE(nameOf(origin));
    }
    await next();
  };
}

/**
 * Lets pages of these origins read responses and send requests with their own credentials.
 *
 * @param options.credentials true if they may use credentials stored by the browser
 */
export function allowOrigins(
  trusted: readonly string[],
  exposed: readonly string[] = [],
  { credentials = false }: { credentials?: boolean } = {},
): MiddlewareHandler {
  const exposeHeaders = [...EXPOSED, ...exposed];
  const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  const share = cors({ origin: [...trusted], allowMethods, exposeHeaders, credentials, maxAge: PREFLIGHT_SECONDS });
  return async (c, next) => {
    if (trusted.length === 0) return next();
    const preflight = c.req.header('Access-Control-Request-Method') !== undefined;
    if (preflight || c.req.method !== 'OPTIONS') return share(c, next);
    // The CORS layer would answer OPTIONS itself.
    await next();
    const asking = c.req.header('Origin') ?? '';
    c.res.headers.append('Vary', 'Origin');
    if (!trusted.includes(asking)) return;
    c.res.headers.set('Access-Control-Allow-Origin', asking);
    c.res.headers.set('Access-Control-Expose-Headers', exposeHeaders.join());
  };
}

/** Returns true if a page comes from the host of the request. Proxies end TLS, so both schemes match. */
function sameHost(origin: string, url: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  return new URL(url.replace(/^https?:/, protocol)).host === host;
}

/** Returns an origin that is short enough for a sentence. */
function nameOf(origin: string | undefined): string {
  return origin !== undefined && /^https?:\/\/[\w.:[\]-]{1,255}$/.test(origin) ? origin : 'another site';
}
