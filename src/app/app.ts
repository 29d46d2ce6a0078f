import type { Hono } from 'hono';
import { runAs } from '#access/accounts/run-as.ts';
import { UNIMPLEMENTED_ROUTES } from '#access/roles/api-roles.ts';
import { requireRole } from '#access/roles/authorization.ts';
import { authenticate } from '#access/sign-in/authentication.ts';
import { UPLOAD_URL_PREFIX } from '#ingest/direct/direct-uploads.ts';
import { EVENT_HEADER } from '#ingest/direct/upload-url.endpoints.ts';
import { TUS_EXPOSED, tusHeaders } from '#ingest/tus/tus-headers.ts';
import { servedDocument } from '#openapi/served-document.ts';
import { negotiateVersion } from '#platform/http/answer/version.ts';
import { assembleApp, DENY_ALL_POLICY } from '#platform/http/app/assemble-app.ts';
import { allowOrigins } from '#platform/http/app/cross-site.ts';
import { Rules, requireVersion } from '#platform/http/endpoint/rules.ts';
import { resolveClientsBehind } from '#platform/http/server/client-address.ts';
import { serve } from '#platform/http/server/serve.ts';
import { publicationCors } from '#publications/files.endpoints.ts';
import { authenticateReaders } from '#publications/watch-access.ts';
import type { Context } from './context.ts';
import { REFERENCE, UNLISTED, WINGS } from './routes.ts';
import type { Shutdown } from './shutdown.ts';

/** Builds the HTTP application, a plain fetch handler, over the services of a process. */
export function createApp(context: Context): Hono {
  const { authenticator, digestVerifier: digest, tokens, sessions, directory, launches } = context;
  const endpoints = [
    ...REFERENCE.flatMap((group) => group.endpoints),
    ...WINGS.flatMap((wing) => wing.endpoints),
    ...UNLISTED,
  ];
  const rules = new Rules([...endpoints, ...UNIMPLEMENTED_ROUTES]);
  const byProgram = authenticate({ directory, authenticator, digest, tokens });
  const byAnyone = authenticate({ directory, authenticator, digest, tokens, sessions });
  const onPages = authenticate({ directory, authenticator, digest, tokens, sessions, pages: true });
  const ask = requireRole(rules, new Rules(endpoints));
  const actFor = runAs(directory);
  const forReaders = authenticateReaders(onPages, context);
  const { publicUrl, corsOrigins: trusted } = context.config;
  const launchOrigins = launches?.frameOrigins ?? [];
  const guards = { trusted, launchOrigins, byProgram, byAnyone, onPages, forReaders, ask, runAs: actFor };
  const services = { ...context, document: servedDocument(publicUrl) };
  return assembleApp({
    log: context.log,
    areas: [
      {
        path: '/api',
        layers: [allowOrigins(trusted)],
        guards: [
          byAnyone,
          ask,
          actFor,
          negotiateVersion((method, path) => rules.find(method, path)?.produces),
          requireVersion(rules),
        ],
        contentPolicy: DENY_ALL_POLICY,
      },
      {
        path: '/uploads',
        layers: [allowOrigins(trusted, TUS_EXPOSED), tusHeaders()],
        guards: [byAnyone, ask, actFor],
        contentPolicy: DENY_ALL_POLICY,
      },
      // The address itself is the credential.
      {
        path: UPLOAD_URL_PREFIX,
        layers: [allowOrigins(trusted, [...TUS_EXPOSED, EVENT_HEADER]), tusHeaders()],
        secret: true,
        contentPolicy: DENY_ALL_POLICY,
      },
      { path: '/metrics', guards: [byProgram, ask], contentPolicy: DENY_ALL_POLICY },
      { path: '/publications', layers: [publicationCors()], guards: [forReaders] },
      ...WINGS.flatMap((wing) => wing.areas(guards)),
    ],
    sites: { publicUrl, trusted },
    untraced: ['/health/live', '/health/ready', '/metrics'],
    clientAddress: resolveClientsBehind(context.config.trustedProxies),
    endpoints,
    services,
    mounted: WINGS.flatMap((wing) => wing.mounted(services)),
    unknown: WINGS.flatMap((wing) => wing.unknown?.(services) ?? []),
  });
}

/** Serves the application until shutdown. @throws {ListenError} */
export async function startApi(context: Context, shutdown: Shutdown): Promise<void> {
  const { config, log } = context;
  const app = await createApp(context);
  const server = await serve((request, env) => app.fetch(request, env), config);
  log.info({ url: config.publicUrl, host: config.host, port: server.port }, 'the API is listening');
  // Takes as long as a sign-in, which the first one would wait for as well.
  void context.directory.adminHash();
  shutdown.finish('answer open requests', async () => {
    // Uploads that can resume elsewhere need not be waited for.
    context.locks.wantAll();
    await context.streams.close();
    await server.close();
  });
}
