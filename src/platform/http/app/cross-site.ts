import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Rules } from '../endpoint/rules.ts';
import { refusal } from '../errors/refusal.ts';

/** Whose pages may use this server. */
export interface Sites {
  /** Base of the URLs handed out; pages that come from there are our own. */
  publicUrl: string;
  /** Origins of other sites whose pages may do what ours may. */
  trusted: readonly string[];
}

export const OTHER_SITE = refusal(
  403,
  (site: string) => `Pages of ${site} may change nothing here; CORS_ORIGINS is the list of those that may.`,
  ['https://elsewhere.example.org'],
);

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What `Sec-Fetch-Site` says of our own pages and of a person's own doing. */
const OURS = new Set(['same-origin', 'none']);
/** What answers tell beside their bodies. */
const EXPOSED = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'X-Total-Count-Relation'],
  ...['Retry-After', 'Idempotent-Replayed', 'X-Request-Id'],
];
const PREFLIGHT_SECONDS = 600;

/**
 * Refuses what a page of another site sends to change something: browsers add the credentials that they remember to
 * such requests, whoever makes them. A page cannot leave out or choose `Origin` and `Sec-Fetch-Site`; programs send
 * neither, and pass. Another port or subdomain is another site here. (`hono/csrf` looks at forms alone, and is content
 * with one header of two.)
 *
 * Pages under the very name that the request asks for are our own, too, whatever `PUBLIC_URL` is. A name of somebody
 * else's that leads here gains nothing by that, since browsers remember credentials by the name.
 *
 * @param rules which of what is asked for like a page changes something
 */
export function refuseOtherSites({ publicUrl, trusted }: Sites, rules: Rules): MiddlewareHandler {
  const own = new URL(publicUrl).origin;
  const isOwn = (origin: string, url: string) => origin === own || sameHost(origin, url);
  return async (c, next) => {
    const { method, path } = c.req;
    if (!READING.has(method) || rules.find(method, path)?.writes) {
      const origin = c.req.header('Origin');
      const site = c.req.header('Sec-Fetch-Site');
      const ours = (site === undefined || OURS.has(site)) && (origin === undefined || isOwn(origin, c.req.url));
      if (!ours && !(origin !== undefined && trusted.includes(origin))) throw OTHER_SITE(nameOf(origin));
    }
    await next();
  };
}

/**
 * Lets pages of these origins read answers and send what they like, with credentials that they have themselves.
 *
 * @param exposed more headers that answers tell something in
 * @param options.credentials whether they may as well use those that the browser has for us
 */
export function shareWith(
  trusted: readonly string[],
  exposed: readonly string[] = [],
  { credentials = false }: { credentials?: boolean } = {},
): MiddlewareHandler {
  const origin = [...trusted];
  const exposeHeaders = [...EXPOSED, ...exposed];
  const allowMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  const share = cors({
    origin,
    allowMethods,
    exposeHeaders,
    credentials,
    maxAge: PREFLIGHT_SECONDS,
  });
  return async (c, next) => {
    if (trusted.length === 0) return next();
    const preflight = c.req.header('Access-Control-Request-Method') !== undefined;
    if (preflight || c.req.method !== 'OPTIONS') return share(c, next);
    // That layer would answer it itself.
    await next();
    const asking = c.req.header('Origin') ?? '';
    c.res.headers.append('Vary', 'Origin');
    if (!trusted.includes(asking)) return;
    c.res.headers.set('Access-Control-Allow-Origin', asking);
    c.res.headers.set('Access-Control-Expose-Headers', exposeHeaders.join());
  };
}

/** Whether a page comes from the host that a request asks for; proxies end TLS, so either scheme will do. */
function sameHost(origin: string, url: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  return new URL(url.replace(/^https?:/, protocol)).host === host;
}

/** Not more of it than fits into a sentence. */
function nameOf(origin: string | undefined): string {
  return origin !== undefined && /^https?:\/\/[\w.:[\]-]{1,255}$/.test(origin) ? origin : 'another site';
}
