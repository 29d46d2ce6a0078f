import type { ApiVersion } from '#platform/http/answer/version.ts';
import type { Access, Rule } from '#platform/http/endpoint/rules.ts';

/** The API roles of the contract: the actions on each resource. */
const ACTIONS = {
  CAPTURE_AGENTS: ['VIEW'],
  EVENTS: ['CREATE', 'DELETE', 'EDIT', 'VIEW'],
  EVENTS_ACL: ['DELETE', 'EDIT', 'VIEW'],
  EVENTS_MEDIA: ['VIEW'],
  EVENTS_METADATA: ['DELETE', 'EDIT', 'VIEW'],
  EVENTS_PUBLICATIONS: ['VIEW'],
  EVENTS_SCHEDULING: ['EDIT', 'VIEW'],
  EVENTS_TRACK: ['EDIT'],
  GROUPS: ['CREATE', 'DELETE', 'EDIT', 'VIEW'],
  LISTPROVIDERS: ['VIEW'],
  PLAYLISTS: ['CREATE', 'DELETE', 'EDIT', 'VIEW'],
  SECURITY: ['EDIT'],
  SERIES: ['CREATE', 'DELETE', 'EDIT', 'VIEW'],
  SERIES_ACL: ['EDIT', 'VIEW'],
  SERIES_METADATA: ['DELETE', 'EDIT', 'VIEW'],
  SERIES_PROPERTIES: ['EDIT', 'VIEW'],
  STATISTICS: ['VIEW'],
  WORKFLOW_DEFINITION: ['VIEW'],
  WORKFLOW_INSTANCE: ['CREATE', 'DELETE', 'EDIT', 'VIEW'],
} as const;
type Resource = keyof typeof ACTIONS;
type Name = { [R in Resource]: `${R}_${(typeof ACTIONS)[R][number]}` }[Resource];

/** Every API request requires this role. */
const ROLE_API = 'ROLE_API';

export const API_ROLES: readonly string[] = [
  ROLE_API,
  ...Object.entries(ACTIONS).flatMap(([resource, actions]) =>
    actions.map((action) => `ROLE_API_${resource}_${action}`),
  ),
].sort();

/** Returns API roles: `apiRole('EVENTS_VIEW')` is `ROLE_API_EVENTS_VIEW`. */
export function apiRole(...names: readonly Name[]): readonly string[] {
  return names.map((name) => `ROLE_API_${name}`);
}

export const ANY_API_ROLE = [ROLE_API] as const;
export const EVERY_ACCOUNT: readonly string[] = ['ROLE_USER'];
/** Access for administrators only. */
export const ADMINISTRATORS: readonly string[] = [];

const rule = (method: string, path: string, access: Access, since: ApiVersion = '1.0.0'): Rule => {
  return { method, path, access, since };
};

/** Requests without an endpoint that the reference guards by a role: callers with it get 404 or 405, others 403. */
export const UNIMPLEMENTED_ROUTES: readonly Rule[] = [
  rule('get', '/api/version/{name}', ANY_API_ROLE),
  rule('get', '/api/info/{name}', ANY_API_ROLE),
  rule('put', '/api/events/{id}', apiRole('EVENTS_EDIT')),
];
