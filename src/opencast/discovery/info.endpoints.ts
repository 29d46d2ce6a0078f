import { z } from 'zod';
import { Organization } from '#access/info.endpoints.ts';
import { EVERY_ACCOUNT } from '#access/roles/api-roles.ts';
import { ORGANIZATION, userRole } from '#access/roles/roles.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/schemas.ts';

interface Services {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
}

/** The release of the reference server that agents and libraries find here; some of them do less for an older one. */
const RELEASE = '17.0.0';

const User = z.object({
  username: z.string(),
  name: z.string(),
  email: z.string(),
  provider: z.string(),
});
const WhoAmI = z.object({
  org: Organization,
  roles: z.array(z.string()),
  userRole: z.string(),
  user: User,
});

/** The account, the release and the organization, for clients that ask before they begin. */
export const INFO_ENDPOINTS = [
  defineEndpoint({
    method: 'get',
    path: '/info/me.json',
    access: 'public',
    operationId: 'getRecorderMe',
    summary: 'Who one is, as recorders ask',
    description: 'Who has not signed in is `anonymous`.',
    answers: {
      200: {
        description: 'The user, who may be `anonymous`.',
        plain: true,
        body: WhoAmI,
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
  defineEndpoint({
    method: 'get',
    path: '/info/health',
    access: 'public',
    summary: 'The release, as agents ask',
    description: 'Whether every part answers is below `/health/ready`.',
    answers: {
      200: {
        description: 'The release that the server speaks like.',
        plain: true,
        body: z.looseObject({ status: z.string(), releaseId: z.string() }),
        example: healthOf(EXAMPLE_URL),
      },
    },
    handle: ({ c }, { config }: Services) => c.json(healthOf(config.publicUrl)),
  }),
  defineEndpoint({
    method: 'get',
    path: '/info/components.json',
    access: EVERY_ACCOUNT,
    summary: 'What agents speak to, with versions',
    description: 'Versions are those of the reference server that is spoken like.',
    answers: {
      200: {
        description: 'The components.',
        plain: true,
        body: z.looseObject({ rest: z.array(z.looseObject({ path: z.string(), version: z.string() })) }),
        example: componentsOf(EXAMPLE_URL),
      },
    },
    handle: ({ c }, { config }: Services) => c.json(componentsOf(config.publicUrl)),
  }),
  defineEndpoint({
    method: 'get',
    path: '/sysinfo/bundles/version',
    access: EVERY_ACCOUNT,
    summary: 'The release, as libraries ask',
    description: 'That of the reference server that is spoken like.',
    answers: {
      200: {
        description: 'The release that the server speaks like.',
        plain: true,
        body: z.object({ consistent: z.boolean(), version: z.string(), buildNumber: z.string() }),
        example: { consistent: true, version: RELEASE, buildNumber: 'inlet' },
      },
    },
    handle: ({ c }) => c.json({ consistent: true, version: RELEASE, buildNumber: 'inlet' }),
  }),
  defineEndpoint({
    method: 'get',
    path: '/org/all.json',
    access: EVERY_ACCOUNT,
    summary: 'List organizations',
    description: 'There is one.',
    answers: {
      200: {
        description: 'The organization.',
        plain: true,
        body: z.object({ organizations: z.object({ organization: z.looseObject({ id: z.string() }) }) }),
        example: organizationsOf(EXAMPLE_URL),
      },
    },
    handle: ({ c }, { config }: Services) => c.json(organizationsOf(config.publicUrl)),
  }),
  defineEndpoint({
    method: 'get',
    path: '/lti',
    access: 'public',
    summary: 'What a learning platform has said',
    description: 'For those who ask: nothing.',
    answers: { 200: { description: 'Nothing.', plain: true, body: z.looseObject({}), example: {} } },
    handle: ({ c }) => c.json({}),
  }),
];

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
