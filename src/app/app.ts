import type { Hono } from 'hono';
import { runAs } from '#access/accounts/run-as.ts';
import { requireRole } from '#access/roles/guard.ts';
import { UNSERVED } from '#access/roles/unserved.ts';
import { authenticate } from '#access/sign-in/authentication.ts';
import { EVENT_HEADER } from '#ingest/direct/address-uploads.ts';
import { ADDRESSES } from '#ingest/direct/direct-uploads.ts';
import { speakTus, TUS_EXPOSED } from '#ingest/tus/tus-headers.ts';
import { servedDocument } from '#openapi/served.ts';
import { dashboardRoutes } from '#pages/operator/dashboard.ts';
import { askToSignIn, forPeople } from '#pages/sign-in/page-layers.ts';
import { studioPages } from '#pages/studio/studio-pages.ts';
import { negotiateVersion } from '#platform/http/answer/version.ts';
import { assembleApp } from '#platform/http/app/app.ts';
import { shareWith } from '#platform/http/app/cross-site.ts';
import { Rules, requireVersion } from '#platform/http/endpoint/rules.ts';
import { clientsBehind } from '#platform/http/server/client-address.ts';
import { forPlayersElsewhere } from '#publications/files.endpoints.ts';
import type { Context } from './context.ts';
import { PAGES, REFERENCE } from './routes.ts';

const NOTHING = "default-src 'none'; frame-ancestors 'none'";
const DASHBOARD =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'";

const AGENTS = [
  ...['/services', '/recordings', '/ingest', '/info', '/sysinfo', '/org', '/lti', '/series'],
  ...['/studio-api', '/admin-ng', '/workflow', '/search'],
];

/** The HTTP application over the services of a process: a plain fetch handler. */
export function createApp(context: Context): Hono {
  const { authenticator, digestVerifier: digest, tokens, sessions, directory } = context;
  const endpoints = [...REFERENCE.flatMap((group) => group.endpoints), ...PAGES];
  const rules = new Rules([...endpoints, ...UNSERVED]);
  const byProgram = authenticate({ authenticator, digest, tokens });
  const byAnybody = authenticate({ authenticator, digest, tokens, sessions });
  const onPages = authenticate({ authenticator, digest, tokens, sessions, pages: true });
  const ask = requireRole(rules, new Rules(endpoints));
  const { publicUrl, corsOrigins: trusted } = context.config;
  const share = shareWith(trusted);
  return assembleApp({
    log: context.log,
    areas: [
      {
        path: '/api',
        layers: [share],
        guards: [
          byAnybody,
          ask,
          runAs(directory),
          negotiateVersion((method, path) => rules.find(method, path)?.produces),
          requireVersion(rules),
        ],
        contentPolicy: NOTHING,
      },
      {
        path: '/uploads',
        layers: [shareWith(trusted, TUS_EXPOSED), speakTus()],
        guards: [byAnybody, ask, runAs(directory)],
        contentPolicy: NOTHING,
      },
      // Whoever has an address may use it, and needs no account.
      {
        path: ADDRESSES,
        layers: [shareWith(trusted, [...TUS_EXPOSED, EVENT_HEADER]), speakTus()],
        secret: true,
        contentPolicy: NOTHING,
      },
      {
        path: '/capture-admin',
        layers: [share],
        guards: [byProgram, ask, runAs(directory)],
        contentPolicy: NOTHING,
      },
      // What agents and recorders speak, at the root of the server as they know it.
      ...AGENTS.map((path) => ({
        path,
        // Some recorders in pages of trusted sites count on the session that a person has here.
        layers: [shareWith(trusted, [], { credentials: true })],
        guards: [byAnybody, ask, runAs(directory)],
        contentPolicy: NOTHING,
      })),
      {
        path: '/admin',
        layers: [forPeople()],
        guards: [onPages, askToSignIn(), ask],
        contentPolicy: DASHBOARD,
      },
      {
        path: '/upload',
        layers: [forPeople()],
        guards: [onPages, askToSignIn(), ask],
        contentPolicy: NOTHING,
      },
      { path: '/studio', layers: [forPeople()], guards: [onPages, askToSignIn()] },
      { path: '/metrics', guards: [byProgram, ask], contentPolicy: NOTHING },
      { path: '/sign-in', layers: [forPeople()], contentPolicy: NOTHING },
      { path: '/sign-out', layers: [forPeople()], contentPolicy: NOTHING },
      { path: '/publications', layers: [forPlayersElsewhere()] },
    ],
    sites: { publicUrl, trusted },
    untraced: ['/health/live', '/health/ready', '/metrics'],
    clientAddress: clientsBehind(context.config.trustedProxies),
    endpoints,
    services: { ...context, document: servedDocument(publicUrl) },
    mounted: [dashboardRoutes(context.queue), studioPages(context.studio)],
  });
}
