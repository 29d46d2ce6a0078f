import { Hono, type MiddlewareHandler } from 'hono';
import type { Logger } from '../../telemetry/log.ts';
import { addEndpoints, type Endpoint } from '../endpoint/endpoint.ts';
import { Rules } from '../endpoint/rules.ts';
import type { ClientAddress } from '../server/client-address.ts';
import { rejectCrossSiteWrites, type Sites } from './cross-site.ts';
import { type AnswerUnknown, handleErrors } from './error-handler.ts';
import { requestContext } from './request-context.ts';

/** The content policy of responses other than pages. */
export const DENY_ALL_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** All paths below one folder, whether or not an endpoint exists. */
export interface Area {
  /** Without a trailing slash. */
  path: string;
  /** Run first, without authentication. */
  layers?: readonly MiddlewareHandler[];
  /** Authenticate and authorize, in this order; an area without guards is public. */
  guards?: readonly MiddlewareHandler[];
  /** True if the rest of the path is a secret that must not be logged. */
  secret?: boolean;
  /** The default `Content-Security-Policy`. */
  contentPolicy?: string;
}

export interface AppParts<Services> {
  log: Logger;
  areas: readonly Area[];
  sites: Sites;
  /** The address of the connection by default. */
  clientAddress?: ClientAddress | undefined;
  /** Paths that machines poll. */
  untraced?: readonly string[];
  /** The first match responds. */
  endpoints: readonly Endpoint<Services>[];
  services: Services;
  /** Third-party applications with their own paths. */
  mounted?: readonly Hono[];
  /** Asked for paths that no endpoint has. */
  unknown?: readonly AnswerUnknown[];
}

/** Assembles the application. @throws {Error} for an endpoint with a role outside all guarded areas */
export function assembleApp<Services>({
  log,
  areas,
  sites,
  clientAddress,
  untraced = [],
  endpoints,
  services,
  mounted = [],
  unknown = [],
}: AppParts<Services>): Hono {
  const app = new Hono({ strict: false });
  const secrets = areas.filter(({ secret }) => secret).map(({ path }) => path);
  app.use(requestContext(log, { secrets, untraced, clientAddress }), securityHeaders(areas), lengthForHead());
  handleErrors(app, unknown);
  app.use(rejectCrossSiteWrites(sites, new Rules(endpoints)));
  for (const { path, layers = [], guards = [] } of areas) app.use(`${path}/*`, ...layers, ...guards);
  for (const endpoint of endpoints) {
    if (endpoint.access !== 'public' && !guarded(endpoint.path, areas)) {
      throw new Error(`No guard covers ${endpoint.method.toUpperCase()} ${endpoint.path}.`);
    }
  }
  addEndpoints(app, endpoints, services);
  for (const each of mounted) app.route('/', each);
  return app;
}

function guarded(path: string, areas: readonly Area[]): boolean {
  return areas.some((area) => area.guards && `${path}/`.startsWith(`${area.path}/`));
}

/** Longest body that is generated only to measure it. */
const MOST_BYTES = 2 ** 20;

/** Gives HEAD the `Content-Length` of GET, unless the body is long. Deno would send 0 for the dropped body. */
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

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number | undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) return undefined;
  }
  return length;
}

/**
 * Adds headers against type sniffing, leaking URLs, framing and storage in shared caches, unless a handler sets them.
 * Answers may depend on a session cookie, which shared caches do not consider. Paths outside of areas have no default
 * policy, so that learning platforms can embed pages.
 */
export function securityHeaders(areas: readonly { path: string; contentPolicy?: string }[]): MiddlewareHandler {
  const policies = new Map(areas.map(({ path, contentPolicy }) => [path, contentPolicy]));
  return async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    const policy = policies.get(`/${c.req.path.split('/', 2)[1] ?? ''}`);
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'private, no-cache');
    if (!c.res.headers.has('Referrer-Policy')) c.header('Referrer-Policy', 'strict-origin-when-cross-origin');
    if (policy && !c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', policy);
  };
}

/** The middleware that wings guard their areas with. */
export interface Guards {
  trusted: readonly string[];
  /** Origins of learning platforms, which may frame pages for users whom they launched. */
  launchOrigins: readonly string[];
  /** Accepts credentials of programs. */
  byProgram: MiddlewareHandler;
  /** Accepts credentials of programs, and sessions. */
  byAnyone: MiddlewareHandler;
  /** Accepts the same on pages, where responses prompt for no password. */
  onPages: MiddlewareHandler;
  /** Authenticates in the same way, but only requests for recordings that not everyone may read. */
  forReaders: MiddlewareHandler;
  /** Requires the role that the endpoint declares. */
  ask: MiddlewareHandler;
  /** Lets administrators act as another account. */
  runAs: MiddlewareHandler;
}

/** A removable part of the server: its folder and its lines in the routes. */
export interface Wing<Services> {
  endpoints: readonly Endpoint<Services>[];
  areas(guards: Guards): readonly Area[];
  mounted(services: Services): readonly Hono[];
  unknown?(services: Services): readonly AnswerUnknown[];
}
