import type { Context } from 'hono';
import { z } from 'zod';
import { Organization } from '#access/info.endpoints.ts';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import { ORGANIZATION, userRole } from '#access/roles/roles.ts';
import type { HealthChecks } from '#maintenance/health.endpoints.ts';
import { type Description, defineEndpoint, type Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { withTimeout } from '#platform/process/timeout.ts';

interface Services {
  /** Base of the returned URLs, without a slash at its end. */
  config: { publicUrl: string };
  health: HealthChecks;
  gate: { full: boolean };
}

/** The reported release of the reference server. Some agents and libraries use fewer features of older releases. */
const RELEASE = '17.0.0';

/** Paths of the services that agents ask for, by type. */
const PATHS: Readonly<Record<string, string>> = {
  'org.opencastproject.capture.admin': '/capture-admin',
  'org.opencastproject.scheduler': '/recordings',
  'org.opencastproject.ingest': '/ingest',
  'org.opencastproject.search': '/search',
};
/** All services, with the types of the reference server. Two of them have the same type. */
const SERVICES: readonly (readonly [type: string, path: string])[] = [
  ...Object.entries(PATHS),
  ['org.opencastproject.external', '/api'],
  ['org.opencastproject.external', '/api/series'],
  ['org.opencastproject.external.events', '/api/events'],
  ['org.opencastproject.external.agents', '/api/agents'],
  ['org.opencastproject.external.workflows.instances', '/api/workflows'],
  ['org.opencastproject.external.workflows.definitions', '/api/workflow-definitions'],
  ['org.opencastproject.external.listproviders', '/api/listproviders'],
  ['org.opencastproject.external.security', '/api/security'],
  ['org.opencastproject.external.playlists', '/api/playlists'],
  ['org.opencastproject.workflow', '/workflow'],
  ['org.opencastproject.series', '/series'],
  ['org.opencastproject.serviceregistry', '/services'],
  ['org.opencastproject.engage.ui.player.redirect', '/play'],
];
const INGEST = 'org.opencastproject.ingest';
const CHECK_MS = 2_000;
/** The reported start of all services. */
const SINCE = '2026-01-01T00:00:00.000Z';

const NO_TYPE = refusal(
  400,
  `The query parameter 'serviceType' is missing; allowed are ${Object.keys(PATHS).join(', ')}.`,
);
// Some agents repeat the request immediately and without end after an empty answer.
const NO_SUCH_SERVICE = noneAmong(Object.keys(PATHS));
const NOT_REGISTERED = noneAmong([...new Set(SERVICES.map(([type]) => type))]);
const INGEST_UNAVAILABLE = refusal(503, 'Recordings cannot be accepted now. Try again later.', [], {
  'Retry-After': '5',
});

const Service = z.looseObject({
  type: z.string(),
  host: z.string(),
  path: z.string(),
  active: z.boolean(),
  online: z.boolean(),
  maintenance: z.boolean(),
});
const services = {
  method: 'get',
  access: EVERY_ACCOUNT,
  query: z.object({
    serviceType: z.string().optional().meta({ description: 'Type of the service.', example: INGEST }),
  }),
  answers: {
    200: {
      description: 'One service as an object, or several as a list.',
      plain: true,
      body: z.object({ services: z.object({ service: z.union([Service, z.array(Service)]) }) }),
      example: { services: { service: serviceOf(INGEST, '/ingest', EXAMPLE_URL) } },
    },
  },
} as const;

/** Discovery for clients that ask before they begin: services, account, release and organization. */
export const DISCOVERY_ENDPOINTS = [
  defineEndpoint({
    ...services,
    path: '/services/available.json',
    summary: 'Find a service',
    description: 'Returns 503 for the ingest service while recordings cannot be stored or too many are being uploaded.',
    refusals: [NO_TYPE, NO_SUCH_SERVICE, INGEST_UNAVAILABLE],
    handle: async ({ c, query }, { config, health, gate }: Services) => {
      const type = query().serviceType?.trim();
      if (!type) throw NO_TYPE();
      const path = Object.hasOwn(PATHS, type) ? PATHS[type] : undefined;
      if (path === undefined) throw NO_SUCH_SERVICE(type.slice(0, 100));
      if (type === INGEST) {
        if (gate.full) throw INGEST_UNAVAILABLE();
        await requireStorage(c, health);
      }
      return c.json({ services: { service: serviceOf(type, path, config.publicUrl) } });
    },
  }),
  defineEndpoint({
    ...services,
    path: '/services/services.json',
    summary: 'List services',
    description: 'All services, or those of the given type.',
    refusals: [NOT_REGISTERED],
    handle: ({ c, query }, { config }: Services) => {
      const type = query().serviceType?.trim();
      const found = SERVICES.filter(([each]) => !type || each === type).map(([each, path]) =>
        serviceOf(each, path, config.publicUrl),
      );
      if (type && found.length === 0) throw NOT_REGISTERED(type.slice(0, 100));
      return c.json({ services: { service: found.length === 1 ? found[0] : found } });
    },
  }),
  constant(hostsOf, z.object({ hosts: z.object({ host: z.looseObject({ base_url: z.string() }) }) }), {
    path: '/services/hosts.json',
    access: EVERY_ACCOUNT,
    summary: 'List hosts',
    description: 'Always one host.',
  }),
  defineEndpoint({
    method: 'get',
    path: '/info/me.json',
    access: 'public',
    operationId: 'getRecorderMe',
    summary: 'Get the current user, for recorders',
    description: 'The user is `anonymous` without credentials.',
    answers: {
      200: {
        description: 'The user, who may be `anonymous`.',
        plain: true,
        body: z.object({
          org: Organization,
          roles: z.array(z.string()),
          userRole: z.string(),
          user: z.object({ username: z.string(), name: z.string(), email: z.string(), provider: z.string() }),
        }),
        example: {
          org: ORGANIZATION,
          roles: ['ROLE_USER', 'ROLE_USER_ADA', 'ROLE_STUDIO'],
          userRole: 'ROLE_USER_ADA',
          user: { username: 'ada', name: 'Ada Lovelace', email: 'ada@example.org', provider: 'inlet' },
        },
      },
    },
    handle: ({ c }) => {
      const { username, name, email, provider, roles } = c.var.principal;
      const signedIn = c.get('account') !== undefined;
      return c.json({
        org: ORGANIZATION,
        roles: [...roles],
        userRole: signedIn ? userRole(username) : 'ROLE_USER_ANONYMOUS',
        user: { username, name: name || username, email, provider },
      });
    },
  }),
  constant(healthOf, z.looseObject({ status: z.string(), releaseId: z.string() }), {
    path: '/info/health',
    access: 'public',
    summary: 'Get the release, for agents',
    description:
      'The release of the compatible reference server. `/health/ready` returns the state of the parts of Inlet.',
  }),
  constant(componentsOf, z.looseObject({ rest: z.array(z.looseObject({ path: z.string(), version: z.string() })) }), {
    path: '/info/components.json',
    access: EVERY_ACCOUNT,
    summary: 'List components with versions',
    description: 'Versions are those of the compatible reference server.',
  }),
  constant(
    () => ({ consistent: true, version: RELEASE, buildNumber: 'inlet' }),
    z.object({ consistent: z.boolean(), version: z.string(), buildNumber: z.string() }),
    {
      path: '/sysinfo/bundles/version',
      access: EVERY_ACCOUNT,
      summary: 'Get the release, for libraries',
      description: 'The release of the compatible reference server.',
    },
  ),
  constant(
    organizationsOf,
    z.object({ organizations: z.object({ organization: z.looseObject({ id: z.string() }) }) }),
    {
      path: '/org/all.json',
      access: EVERY_ACCOUNT,
      summary: 'List organizations',
      description: 'Always one organization.',
    },
  ),
  constant(() => ({}), z.looseObject({}), {
    path: '/lti',
    access: 'public',
    summary: 'Get the data of a learning platform',
    description: 'Always empty.',
  }),
];

/** Declares an endpoint whose answer depends on the public URL only. */
function constant(
  bodyOf: (publicUrl: string) => object,
  body: z.ZodType,
  described: Pick<Description, 'path' | 'access' | 'summary'> & { description: string },
): Endpoint<Pick<Services, 'config'>> {
  return {
    ...described,
    method: 'get',
    answers: { 200: { description: described.description, plain: true, body, example: bodyOf(EXAMPLE_URL) } },
    handle: ({ c }, { config }) => c.json(bodyOf(config.publicUrl)),
  };
}

function serviceOf(type: string, path: string, host: string) {
  return {
    ...{ type, host, path, active: true, online: true, maintenance: false, jobproducer: true, onlinefrom: SINCE },
    ...{ service_state: 'NORMAL', state_changed: SINCE, error_state_trigger: 0, warning_state_trigger: 0 },
  };
}

function hostsOf(base_url: string) {
  const load = { memory: 0, cores: 1, max_load: 1 };
  const state = { online: true, active: true, maintenance: false };
  return { hosts: { host: { base_url, address: new URL(base_url).hostname, node_name: 'inlet', ...load, ...state } } };
}

function healthOf(serviceId: string) {
  return { status: 'pass', version: '1', releaseId: RELEASE, serviceId, description: 'Inlet' };
}

function componentsOf(publicUrl: string) {
  const paths = ['/capture-admin', '/ingest', '/recordings', '/search', '/series', '/services'];
  return {
    rest: paths.map((path) => ({ path, docs: `${publicUrl}/docs`, version: RELEASE, type: path.slice(1) })),
    engage: publicUrl,
    admin: `${publicUrl}/admin`,
  };
}

function organizationsOf(publicUrl: string) {
  const { id, name, adminRole, anonymousRole } = ORGANIZATION;
  const { hostname, port, protocol } = new URL(publicUrl);
  const servers = { server: { name: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) } };
  return { organizations: { organization: { id, name, adminRole, anonymousRole, servers } } };
}

/** Rejects clients before an upload: they retry after this answer, but not after a failed upload. */
async function requireStorage(c: Context, { database, storage }: HealthChecks): Promise<void> {
  try {
    const checks = Promise.all([database(), storage()]);
    await withTimeout(checks, CHECK_MS, `Storage and database did not answer within ${CHECK_MS} ms.`);
  } catch (error) {
    c.var.log.warn({ err: error }, 'ingest service reported as unavailable');
    throw INGEST_UNAVAILABLE();
  }
}

function noneAmong(types: readonly string[]) {
  const sentence = (type: string) => `There is no service of the type '${type}'; allowed are ${types.join(', ')}.`;
  return refusal(404, sentence, ['org.opencastproject.composer']);
}
