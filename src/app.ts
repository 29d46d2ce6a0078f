import { Hono, type Context as HttpContext } from 'hono';
import { sql } from 'kysely';
import { authenticate } from './access/authentication.ts';
import { Authenticator } from './access/authenticator.ts';
import { Directory } from './access/directory.ts';
import { infoRoutes } from './access/info.routes.ts';
import { runAs } from './access/run-as.ts';
import { requireAdmin, requireUrlRole } from './access/url-roles.ts';
import type { Context } from './context.ts';
import { eventRoutes } from './events/events.routes.ts';
import { eventPublicationRoutes } from './events/publications.routes.ts';
import { assembleApp } from './http/app.ts';
import { baseRoutes } from './http/base.routes.ts';
import { healthRoutes } from './http/health.routes.ts';
import { uploadRoutes } from './ingest/upload.routes.ts';
import { fileRoutes } from './publications/files.routes.ts';
import { watchRoutes } from './publications/watch.routes.ts';
import { dashboardRoutes } from './queue/dashboard.ts';
import { workflowAdminRoutes } from './workflows/admin.routes.ts';
import { loadDefinitions } from './workflows/definitions.ts';
import { workflowRoutes } from './workflows/workflows.routes.ts';

/** The HTTP application over the services of a process: a plain fetch handler. A new endpoint is a line here. */
export async function createApp(context: Context): Promise<Hono> {
  const { config, log, database, storage, staging, queue } = context;
  const { publicUrl } = config;
  const definitions = await loadDefinitions(config.workflowsDir);
  const directory = new Directory({ database, admin: config.admin });
  const authenticator = new Authenticator(directory);
  const signIn = authenticate(authenticator, remoteAddress);
  return assembleApp({
    log,
    guards: [
      { path: '/api/*', middleware: [signIn, requireUrlRole(), runAs(directory)] },
      { path: '/admin/*', middleware: [signIn, requireAdmin()] },
    ],
    routes: [
      healthRoutes([
        { name: 'database', check: async () => void (await sql`SELECT 1`.execute(database)) },
        { name: 'queue', check: () => queue.check() },
        { name: 'storage', check: () => storage.check() },
      ]),
      new Hono({ strict: false })
        .route('/api', baseRoutes({ publicUrl }))
        .route('/api/info', infoRoutes({ publicUrl })),
      uploadRoutes({ config, database, storage, staging, definitions }),
      eventRoutes({ publicUrl, database, staging }),
      eventPublicationRoutes({ publicUrl, database }),
      workflowRoutes({ database }),
      workflowAdminRoutes({ database }),
      watchRoutes({ database }),
      fileRoutes({ database, storage }),
      dashboardRoutes(queue),
    ],
  });
}

/** The address of the other end of the connection, as `serve` hands it over. */
function remoteAddress(c: HttpContext): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
