import type { Context } from 'hono';
import { z } from 'zod';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import type { HealthChecks } from '#maintenance/health.endpoints.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { withTimeout } from '#platform/process/timeout.ts';

interface Services {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
  health: HealthChecks;
  gate: { full: boolean };
}

/** What agents look for, and where it is. */
const PATHS: Readonly<Record<string, string>> = {
  'org.opencastproject.capture.admin': '/capture-admin',
  'org.opencastproject.scheduler': '/recordings',
  'org.opencastproject.ingest': '/ingest',
  'org.opencastproject.search': '/search',
};
/** What programs look for beside it, by the types of the reference: two of them have the same. */
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
  ['org.opencastproject.workflow', '/workflow'],
  ['org.opencastproject.series', '/series'],
];
const INGEST = 'org.opencastproject.ingest';
const CHECK_MS = 2_000;
/** Services have been where they are since then. */
const SINCE = '2026-01-01T00:00:00.000Z';

const NO_TYPE = refusal(
  400,
  `The query parameter 'serviceType' is missing; there are ${Object.keys(PATHS).join(', ')}.`,
);
// Some agents ask again at once, without end, when they are told that there is none.
const NO_SUCH_SERVICE = noneAmong(Object.keys(PATHS));
const NOT_REGISTERED = noneAmong([...new Set(SERVICES.map(([type]) => type))]);
const NOT_NOW = refusal(503, 'Recordings cannot be taken at the moment. Ask again later.', [], {
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
const Found = z.object({
  services: z.object({ service: z.union([Service, z.array(Service)]) }),
});
const Query = z.object({
  serviceType: z.string().optional().meta({ description: 'What is looked for.', example: INGEST }),
});
const answers = {
  200: {
    description: 'Where it is: one service is an object, several are a list.',
    plain: true,
    body: Found,
    example: { services: { service: serviceOf(INGEST, '/ingest', EXAMPLE_URL) } },
  },
} as const;

/** Service discovery. */
export const SERVICE_ENDPOINTS = [
  defineEndpoint({
    method: 'get',
    path: '/services/available.json',
    access: EVERY_ACCOUNT,
    summary: 'Find a service',
    description:
      'While recordings cannot be stored, or as many come as may at once, the one that takes them is not available: 503.',
    query: Query,
    answers,
    refusals: [NO_TYPE, NO_SUCH_SERVICE, NOT_NOW],
    handle: async ({ c, query }, { config, health, gate }: Services) => {
      const type = query().serviceType?.trim();
      if (!type) throw NO_TYPE();
      const path = Object.hasOwn(PATHS, type) ? PATHS[type] : undefined;
      if (path === undefined) throw NO_SUCH_SERVICE(type.slice(0, 100));
      if (type === INGEST) {
        if (gate.full) throw NOT_NOW();
        await requireStorage(c, health);
      }
      return c.json({ services: { service: serviceOf(type, path, config.publicUrl) } });
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/services/services.json',
    access: EVERY_ACCOUNT,
    summary: 'List services',
    description: 'Of the type that is asked for, or all: those of agents, and those of the API.',
    query: Query,
    answers,
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
  defineEndpoint({
    method: 'get',
    path: '/services/hosts.json',
    access: EVERY_ACCOUNT,
    summary: 'List hosts',
    description: 'There is one, whatever it consists of.',
    answers: {
      200: {
        description: 'The host.',
        plain: true,
        body: z.object({ hosts: z.object({ host: z.looseObject({ base_url: z.string() }) }) }),
        example: hostsOf(EXAMPLE_URL),
      },
    },
    handle: ({ c }, { config }: Services) => c.json(hostsOf(config.publicUrl)),
  }),
];

function serviceOf(type: string, path: string, host: string) {
  return {
    type,
    host,
    path,
    active: true,
    online: true,
    maintenance: false,
    jobproducer: true,
    onlinefrom: SINCE,
    service_state: 'NORMAL',
    state_changed: SINCE,
    error_state_trigger: 0,
    warning_state_trigger: 0,
  };
}

function hostsOf(baseUrl: string) {
  return {
    hosts: {
      host: {
        base_url: baseUrl,
        address: new URL(baseUrl).hostname,
        node_name: 'inlet',
        memory: 0,
        cores: 1,
        max_load: 1,
        online: true,
        active: true,
        maintenance: false,
      },
    },
  };
}

/** Whoever is sent away now comes back by itself; whoever meets it in an upload does not. */
async function requireStorage(c: Context, { database, storage }: HealthChecks): Promise<void> {
  try {
    const checks = Promise.all([database(), storage()]);
    await withTimeout(checks, CHECK_MS, `Storage and database did not answer within ${CHECK_MS} ms.`);
  } catch (error) {
    c.var.log.warn({ err: error }, 'agents are told to come back later');
    throw NOT_NOW();
  }
}

/** @param types of the services that there are */
function noneAmong(types: readonly string[]) {
  const sentence = (type: string) => `There is no service of the type '${type}'; there are ${types.join(', ')}.`;
  return refusal(404, sentence, ['org.opencastproject.composer']);
}
