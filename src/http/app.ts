import { Hono, type MiddlewareHandler } from 'hono';
import type { Logger } from '../telemetry.ts';
import { requireEndpoint } from './api-changes.ts';
import { handleErrors } from './error-handler.ts';
import { lengthForHead } from './head.ts';
import { requestContext } from './request-context.ts';
import { securityHeaders } from './security-headers.ts';
import { negotiateVersion } from './version.ts';

/** What the server answers, from the outside in. */
export interface AppParts {
  log: Logger;
  /** Establish who asks and what they may ask for: for each path pattern, in this order. */
  guards: { path: string; middleware: MiddlewareHandler[] }[];
  routes: Hono[];
}

/** Puts the application together: every request passes the same layers before a route sees it. */
export function assembleApp({ log, guards, routes }: AppParts): Hono {
  const app = new Hono({ strict: false });
  app.use(requestContext(log), securityHeaders(), lengthForHead());
  handleErrors(app);
  for (const { path, middleware } of guards) app.use(path, ...middleware);
  app.use('/api/*', negotiateVersion(), requireEndpoint());
  for (const route of routes) app.route('/', route);
  return app;
}
