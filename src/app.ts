import { Hono, type Context as HttpContext } from 'hono';
import { sql } from 'kysely';
import { homeRoutes } from './about/home.routes.ts';
import { authenticate } from './access/authentication.ts';
import { Authenticator } from './access/authenticator.ts';
import { Directory } from './access/directory.ts';
import { infoRoutes } from './access/info.routes.ts';
import { openKeySet } from './access/key-set.ts';
import { runAs } from './access/run-as.ts';
import { TokenVerifier } from './access/tokens.ts';
import { requireAdmin, requireUrlRole } from './access/url-roles.ts';
import type { Context } from './context.ts';
import { eventAclRoutes } from './events/acl.routes.ts';
import { eventRoutes } from './events/events.routes.ts';
import { eventListRoutes } from './events/list.routes.ts';
import { eventMediaRoutes } from './events/media.routes.ts';
import { eventMetadataRoutes } from './events/metadata.routes.ts';
import { eventPublicationRoutes } from './events/publications.routes.ts';
import { eventSchedulingRoutes } from './events/scheduling.routes.ts';
import { assembleApp } from './http/app.ts';
import { baseRoutes } from './http/base.routes.ts';
import { healthRoutes } from './http/health.routes.ts';
import { Idempotency } from './idempotency/idempotency.ts';
import { eventCreationRoutes } from './ingest/external-api/create.routes.ts';
import { trackRoutes } from './ingest/external-api/track.routes.ts';
import { eventUpdateRoutes } from './ingest/external-api/update.routes.ts';
import { listProviderRoutes } from './metadata/listproviders.routes.ts';
import { docsRoutes } from './openapi/docs/docs.routes.ts';
import { openApiRoutes } from './openapi/openapi.routes.ts';
import { fileRoutes } from './publications/files.routes.ts';
import { signRoutes } from './publications/sign.routes.ts';
import { UrlSigner } from './publications/signing/url-signer.ts';
import { watchRoutes } from './publications/watch.routes.ts';
import { dashboardRoutes } from './queue/dashboard.ts';
import { agentRoutes } from './recordings/agents/agents.routes.ts';
import { agentReportRoutes } from './recordings/agents/report.routes.ts';
import { seriesAclRoutes } from './series/acl.routes.ts';
import { seriesListRoutes } from './series/list.routes.ts';
import { seriesMetadataRoutes } from './series/metadata.routes.ts';
import { seriesPropertiesRoutes } from './series/properties.routes.ts';
import { seriesSearchRoutes } from './series/search.routes.ts';
import { seriesRoutes } from './series/series.routes.ts';
import { workflowAdminRoutes } from './workflows/admin.routes.ts';
import { loadDefinitions } from './workflows/definitions.ts';
import { workflowRoutes } from './workflows/workflows.routes.ts';

/** The HTTP application over the services of a process: a plain fetch handler. A new endpoint is a line here. */
export async function createApp(context: Context): Promise<Hono> {
  const { config, log, database, storage, staging, queue, catalogs } = context;
  const idempotency = new Idempotency(context.idempotency);
  const { publicUrl } = config;
  const definitions = await loadDefinitions(config.workflowsDir);
  const directory = new Directory({ database, admin: config.admin });
  const authenticator = new Authenticator(directory);
  const tokens =
    config.jwt &&
    new TokenVerifier({
      ...config.jwt,
      keys: await openKeySet(config.jwt.keySet),
      ownsRole: (role) => directory.ownsRole(role),
    });
  const signIn = authenticate(authenticator, remoteAddress, tokens);
  const signer = config.urlSigning && new UrlSigner(config.urlSigning);
  const signing = signer && { signer, publicUrl, remoteAddress };
  return assembleApp({
    log,
    guards: [
      { path: '/api/*', middleware: [signIn, requireUrlRole(), runAs(directory)] },
      { path: '/capture-admin/*', middleware: [signIn, requireUrlRole()] },
      { path: '/admin/*', middleware: [signIn, requireAdmin()] },
    ],
    routes: [
      homeRoutes({ publicUrl }),
      healthRoutes([
        { name: 'database', check: async () => void (await sql`SELECT 1`.execute(database)) },
        { name: 'queue', check: () => queue.check() },
        { name: 'storage', check: () => storage.check() },
      ]),
      new Hono({ strict: false })
        .route('/api', baseRoutes({ publicUrl }))
        .route('/api/info', infoRoutes({ publicUrl })),
      eventCreationRoutes({
        config,
        database,
        storage,
        staging,
        idempotency,
        definitions,
        catalogs: catalogs.event,
      }),
      eventListRoutes({ publicUrl, signer, database, catalogs: catalogs.event }),
      eventRoutes({ publicUrl, signer, database, staging, catalogs: catalogs.event }),
      eventUpdateRoutes({ config, database, storage, staging, definitions, catalogs: catalogs.event }),
      eventSchedulingRoutes({ config, database }),
      eventAclRoutes({ database }),
      eventMetadataRoutes({ database, catalogs: catalogs.event }),
      eventPublicationRoutes({ publicUrl, signer, database }),
      eventMediaRoutes({ publicUrl, database, storage }),
      signRoutes({ publicUrl, signer, database }),
      trackRoutes({ config, database, storage, staging, definitions }),
      seriesListRoutes({ publicUrl, database }),
      seriesSearchRoutes({ publicUrl, database }),
      seriesRoutes({ publicUrl, database, idempotency, catalogs: catalogs.series }),
      seriesMetadataRoutes({ database, catalogs: catalogs.series }),
      seriesAclRoutes({ database }),
      seriesPropertiesRoutes({ database }),
      agentRoutes({ publicUrl, database }),
      agentReportRoutes({ database }),
      listProviderRoutes({ lists: catalogs.lists }),
      workflowRoutes({ database }),
      workflowAdminRoutes({ database }),
      openApiRoutes({ publicUrl }),
      docsRoutes(),
      watchRoutes({ database, signing }),
      fileRoutes({ database, storage, signing }),
      dashboardRoutes(queue),
    ],
  });
}

/** The address of the other end of the connection, as `serve` hands it over. */
function remoteAddress(c: HttpContext): string {
  return (c.env as { remoteAddress?: string } | undefined)?.remoteAddress ?? '';
}
