import { Hono, type MiddlewareHandler } from 'hono';
import type { Logger } from '../../telemetry/log.ts';
import { lengthForHead, securityHeaders } from '../answer/response-headers.ts';
import { addEndpoints, type Endpoint } from '../endpoint/endpoint.ts';
import { Rules } from '../endpoint/rules.ts';
import type { ClientAddress } from '../server/client-address.ts';
import { refuseOtherSites, type Sites } from './cross-site.ts';
import { handleErrors } from './error-handler.ts';
import { requestContext } from './request-context.ts';

/** The content policy of answers that are no pages. */
export const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** The paths below one folder, whether there is an endpoint or not. */
export interface Area {
  /** Without a slash at its end. */
  path: string;
  /** Run first, and ask nobody who they are. */
  layers?: readonly MiddlewareHandler[];
  /** Establish who asks and what they may ask for, in this order; without any, all that is there is public. */
  guards?: readonly MiddlewareHandler[];
  /** Whether what follows in an address is a secret of whoever has it, and is not to be logged. */
  secret?: boolean;
  /** The `Content-Security-Policy` of answers that set none themselves. */
  contentPolicy?: string;
}

/** What the server answers, from the outside in. */
export interface AppParts<Services> {
  log: Logger;
  areas: readonly Area[];
  sites: Sites;
  /** Who asks; the other end of the connection unless given. */
  clientAddress?: ClientAddress | undefined;
  /** Paths of what machines ask all the time. */
  untraced?: readonly string[];
  /** Of several that match, the first one answers. */
  endpoints: readonly Endpoint<Services>[];
  services: Services;
  /** Applications of others, with paths of their own. */
  mounted?: readonly Hono[];
}

/**
 * Puts the application together: every request passes the same layers before a handler sees it.
 *
 * @throws {Error} for an endpoint with a role that no guard would ask for
 */
export function assembleApp<Services>({
  log,
  areas,
  sites,
  clientAddress,
  untraced = [],
  endpoints,
  services,
  mounted = [],
}: AppParts<Services>): Hono {
  const app = new Hono({ strict: false });
  const secrets = areas.filter(({ secret }) => secret).map(({ path }) => path);
  app.use(requestContext(log, { secrets, untraced, clientAddress }), securityHeaders(areas), lengthForHead());
  handleErrors(app);
  app.use(refuseOtherSites(sites, new Rules(endpoints)));
  for (const { path, layers = [], guards = [] } of areas) app.use(`${path}/*`, ...layers, ...guards);
  for (const endpoint of endpoints) {
    if (endpoint.access !== 'public' && !guarded(endpoint.path, areas)) {
      throw new Error(`Nobody asks for the role of ${endpoint.method} ${endpoint.path}.`);
    }
  }
  addEndpoints(app, endpoints, services);
  for (const each of mounted) app.route('/', each);
  return app;
}

function guarded(path: string, areas: readonly Area[]): boolean {
  return areas.some((area) => area.guards && `${path}/`.startsWith(`${area.path}/`));
}
