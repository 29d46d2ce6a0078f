import type { ApiVersion } from '#platform/http/answer/version.ts';
import type { Access, Rule } from '#platform/http/endpoint/rules.ts';
import { ANY_API_ROLE, apiRole } from './api-roles.ts';

const rule = (method: string, path: string, access: Access, since?: ApiVersion): Rule => ({
  method,
  path,
  access,
  ...(since && { since }),
});
const savePlaylist = apiRole('PLAYLISTS_CREATE', 'PLAYLISTS_EDIT');

/**
 * What the contract has a role for and this server has not (compatibility 1.3): whoever may ask learns that it is not
 * there (404, 405), everybody else that they may not.
 */
export const UNSERVED: readonly Rule[] = [
  rule('get', '/api/version/{name}', ANY_API_ROLE),
  rule('get', '/api/info/{name}', ANY_API_ROLE),
  rule('put', '/api/events/{id}', apiRole('EVENTS_EDIT')),
  rule('post', '/api/workflows', apiRole('WORKFLOW_INSTANCE_CREATE'), '1.1.0'),
  rule('delete', '/api/workflows/{id}', apiRole('WORKFLOW_INSTANCE_DELETE'), '1.1.0'),
  rule('get', '/api/workflow-definitions', apiRole('WORKFLOW_DEFINITION_VIEW'), '1.1.0'),
  rule('get', '/api/workflow-definitions/{id}', apiRole('WORKFLOW_DEFINITION_VIEW'), '1.1.0'),
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
