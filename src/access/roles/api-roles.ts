import type { ApiVersion } from '#platform/http/answer/version.ts';
import type { Access, Rule } from '#platform/http/endpoint/rules.ts';

/** The API roles of the contract, without their prefix. */
const NAMES = [
  'CAPTURE_AGENTS_VIEW',
  'EVENTS_ACL_DELETE',
  'EVENTS_ACL_EDIT',
  'EVENTS_ACL_VIEW',
  'EVENTS_CREATE',
  'EVENTS_DELETE',
  'EVENTS_EDIT',
  'EVENTS_MEDIA_VIEW',
  'EVENTS_METADATA_DELETE',
  'EVENTS_METADATA_EDIT',
  'EVENTS_METADATA_VIEW',
  'EVENTS_PUBLICATIONS_VIEW',
  'EVENTS_SCHEDULING_EDIT',
  'EVENTS_SCHEDULING_VIEW',
  'EVENTS_TRACK_EDIT',
  'EVENTS_VIEW',
  'GROUPS_CREATE',
  'GROUPS_DELETE',
  'GROUPS_EDIT',
  'GROUPS_VIEW',
  'LISTPROVIDERS_VIEW',
  'PLAYLISTS_CREATE',
  'PLAYLISTS_DELETE',
  'PLAYLISTS_EDIT',
  'PLAYLISTS_VIEW',
  'SECURITY_EDIT',
  'SERIES_ACL_EDIT',
  'SERIES_ACL_VIEW',
  'SERIES_CREATE',
  'SERIES_DELETE',
  'SERIES_EDIT',
  'SERIES_METADATA_DELETE',
  'SERIES_METADATA_EDIT',
  'SERIES_METADATA_VIEW',
  'SERIES_PROPERTIES_EDIT',
  'SERIES_PROPERTIES_VIEW',
  'SERIES_VIEW',
  'STATISTICS_VIEW',
  'WORKFLOW_DEFINITION_VIEW',
  'WORKFLOW_INSTANCE_CREATE',
  'WORKFLOW_INSTANCE_DELETE',
  'WORKFLOW_INSTANCE_EDIT',
  'WORKFLOW_INSTANCE_VIEW',
] as const;

/** Every API request requires this role. */
const ROLE_API = 'ROLE_API';

export const API_ROLES: readonly string[] = [ROLE_API, ...NAMES.map((name) => `ROLE_API_${name}`)];

/** Returns API roles: `apiRole('EVENTS_VIEW')` is `ROLE_API_EVENTS_VIEW`. */
export function apiRole(...names: readonly (typeof NAMES)[number][]): readonly string[] {
  return names.map((name) => `ROLE_API_${name}`);
}

export const ANY_API_ROLE = [ROLE_API] as const;
export const EVERY_ACCOUNT: readonly string[] = ['ROLE_USER'];
/** Access for administrators only. */
export const ADMINISTRATORS: readonly string[] = [];

const rule = (method: string, path: string, access: Access, since?: ApiVersion): Rule => ({
  method,
  path,
  access,
  ...(since && { since }),
});
const savePlaylist = apiRole('PLAYLISTS_CREATE', 'PLAYLISTS_EDIT');

/** Contract endpoints that are not implemented (compatibility 1.3): callers with the role get 404 or 405. */
export const UNIMPLEMENTED_ROUTES: readonly Rule[] = [
  rule('get', '/api/version/{name}', ANY_API_ROLE),
  rule('get', '/api/info/{name}', ANY_API_ROLE),
  rule('put', '/api/events/{id}', apiRole('EVENTS_EDIT')),
  rule('get', '/api/groups', apiRole('GROUPS_VIEW')),
  rule('post', '/api/groups', apiRole('GROUPS_CREATE')),
  rule('get', '/api/groups/{id}', apiRole('GROUPS_VIEW')),
  rule('put', '/api/groups/{id}', apiRole('GROUPS_EDIT')),
  rule('delete', '/api/groups/{id}', apiRole('GROUPS_DELETE')),
  rule('post', '/api/groups/{id}/members', apiRole('GROUPS_EDIT')),
  rule('delete', '/api/groups/{id}/members/{member}', apiRole('GROUPS_EDIT')),
  rule('get', '/api/playlists', apiRole('PLAYLISTS_VIEW'), '1.11.0'),
  rule('post', '/api/playlists', savePlaylist, '1.11.0'),
  rule('get', '/api/playlists/{id}', apiRole('PLAYLISTS_VIEW'), '1.11.0'),
  rule('put', '/api/playlists/{id}', savePlaylist, '1.11.0'),
  rule('delete', '/api/playlists/{id}', apiRole('PLAYLISTS_DELETE'), '1.11.0'),
  rule('get', '/api/statistics/providers', apiRole('STATISTICS_VIEW'), '1.3.0'),
  rule('get', '/api/statistics/providers/{id}', apiRole('STATISTICS_VIEW'), '1.3.0'),
  rule('post', '/api/statistics/data/query', apiRole('STATISTICS_VIEW'), '1.3.0'),
  rule('post', '/api/statistics/data/export.csv', apiRole('STATISTICS_VIEW'), '1.4.0'),
];
