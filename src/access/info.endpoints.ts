import { z } from 'zod';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL, TextByName } from '#platform/http/endpoint/schemas.ts';
import { ADMINISTRATORS, ANY_API_ROLE } from './roles/api-roles.ts';
import { ORGANIZATION, userRole } from './roles/roles.ts';

/** Who the caller is, or acts as. */
export const Me = z
  .object({
    provider: z.string().describe('Where the account comes from.'),
    name: z.string().describe('Name for people; may be empty.'),
    userrole: z.string().describe('The role that only this user has.'),
    email: z.string().describe('May be empty.'),
    username: z.string(),
  })
  .meta({ id: 'Me' });

/** All roles of the caller. */
export const Roles = z.array(z.string()).meta({ id: 'Roles' });

/** The organization that everything belongs to. */
export const Organization = z
  .object({ id: z.string(), name: z.string(), adminRole: z.string(), anonymousRole: z.string() })
  .meta({ id: 'Organization' });

/** Properties of the organization. */
export const OrganizationProperties = TextByName.meta({ id: 'OrganizationProperties' });

interface Services {
  /** Base of the URLs handed out, without a slash at its end. */
  config: { publicUrl: string };
}

const USERNAME = 'video-team';
const propertiesOf = (publicUrl: string) => ({ 'org.opencastproject.engage.ui.url': publicUrl });

export const me = defineEndpoint({
  method: 'get',
  path: '/api/info/me',
  access: ANY_API_ROLE,
  summary: 'The user of this request',
  description: 'The account that signed in, or the user it acts as.',
  answers: {
    200: {
      description: 'The user.',
      plain: true,
      body: Me,
      example: {
        provider: 'inlet',
        name: 'Video Team',
        userrole: userRole(USERNAME),
        email: 'video@example.org',
        username: USERNAME,
      },
    },
  },
  handle: ({ c }) => {
    const { provider, name, email, username } = c.var.principal;
    return c.json({ provider, name, userrole: userRole(username), email, username });
  },
});

export const myRoles = defineEndpoint({
  method: 'get',
  path: '/api/info/me/roles',
  access: ANY_API_ROLE,
  summary: 'The roles of the user',
  description: 'All roles that this request is answered with.',
  answers: {
    200: {
      description: 'The roles.',
      plain: true,
      body: Roles,
      example: ['ROLE_USER', userRole(USERNAME), 'ROLE_API', 'ROLE_API_EVENTS_VIEW'],
    },
  },
  handle: ({ c }) => c.json([...c.var.principal.roles]),
});

export const organization = defineEndpoint({
  method: 'get',
  path: '/api/info/organization',
  access: ANY_API_ROLE,
  summary: 'The organization',
  description: 'There is one; everything belongs to it.',
  answers: {
    200: { description: 'The organization.', plain: true, body: Organization, example: ORGANIZATION },
  },
  handle: ({ c }) => c.json(ORGANIZATION),
});

export const organizationProperties = defineEndpoint({
  method: 'get',
  path: '/api/info/organization/properties',
  access: ADMINISTRATORS,
  summary: 'The properties of the organization',
  description: 'For administrators.',
  answers: {
    200: {
      description: 'The properties.',
      plain: true,
      body: OrganizationProperties,
      example: propertiesOf(EXAMPLE_URL),
    },
  },
  handle: ({ c }, { config }: Services) => c.json(propertiesOf(config.publicUrl)),
});

export const engageUrl = defineEndpoint({
  method: 'get',
  path: '/api/info/organization/properties/engageuiurl',
  access: ['ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW'],
  summary: 'Where recordings are watched',
  description: 'Needs the role `ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW`.',
  answers: {
    200: {
      description: 'The address.',
      plain: true,
      body: OrganizationProperties,
      example: propertiesOf(EXAMPLE_URL),
    },
  },
  handle: ({ c }, { config }: Services) => c.json(propertiesOf(config.publicUrl)),
});
