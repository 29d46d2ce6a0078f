import { z } from 'zod';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { EXAMPLE_URL, TextByName } from '#platform/http/endpoint/endpoint-schemas.ts';
import { ADMINISTRATORS, ANY_API_ROLE } from './roles/api-roles.ts';
import { ORGANIZATION, userRole } from './roles/roles.ts';

/** The user of the request. */
const Me = z
  .object({
    provider: z.string().describe('The source of the account.'),
    name: z.string().describe('The display name; may be empty.'),
    userrole: z.string().describe('The role of this user only.'),
    email: z.string().describe('May be empty.'),
    username: z.string(),
  })
  .meta({ id: 'Me' });

export const Roles = z.array(z.string()).meta({ id: 'Roles' });

export const Organization = z
  .object({ id: z.string(), name: z.string(), adminRole: z.string(), anonymousRole: z.string() })
  .meta({ id: 'Organization' });

const OrganizationProperties = TextByName.meta({ id: 'OrganizationProperties' });

/** Declares an answer that is `application/json` in every version. */
function plainJson(description: string, body: z.ZodType, example: unknown) {
  return { 200: { description, plain: true, body, example } };
}

interface Services {
  config: { publicUrl: string };
}

const USERNAME = 'video-team';
const propertiesOf = (publicUrl: string) => ({ 'org.opencastproject.engage.ui.url': publicUrl });
const PROPERTIES = plainJson('The properties.', OrganizationProperties, propertiesOf(EXAMPLE_URL));

export const me = defineEndpoint({
  method: 'get',
  path: '/api/info/me',
  access: ANY_API_ROLE,
  summary: 'The user of this request',
  description: 'The account that signed in, or the user it acts as.',
  answers: plainJson('The user.', Me, {
    provider: 'inlet',
    name: 'Video Team',
    userrole: userRole(USERNAME),
    email: 'video@example.org',
    username: USERNAME,
  }),
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
  description: 'All roles of the account, or of the user it acts as.',
  answers: plainJson('The roles.', Roles, ['ROLE_USER', userRole(USERNAME), 'ROLE_API', 'ROLE_API_EVENTS_VIEW']),
  handle: ({ c }) => c.json([...c.var.principal.roles]),
});

export const organization = defineEndpoint({
  method: 'get',
  path: '/api/info/organization',
  access: ANY_API_ROLE,
  summary: 'The organization',
  description: 'The only organization; it owns all resources.',
  answers: plainJson('The organization.', Organization, ORGANIZATION),
  handle: ({ c }) => c.json(ORGANIZATION),
});

export const organizationProperties = defineEndpoint({
  method: 'get',
  path: '/api/info/organization/properties',
  access: ADMINISTRATORS,
  summary: 'The properties of the organization',
  description: 'Requires an administrator.',
  answers: PROPERTIES,
  handle: ({ c }, { config }: Services) => c.json(propertiesOf(config.publicUrl)),
});

export const engageUrl = defineEndpoint({
  method: 'get',
  path: '/api/info/organization/properties/engageuiurl',
  access: ['ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW'],
  summary: 'The URL of the watch pages',
  description: 'Requires the role `ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW`.',
  answers: PROPERTIES,
  handle: ({ c }, { config }: Services) => c.json(propertiesOf(config.publicUrl)),
});
