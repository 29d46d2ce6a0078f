/** The roles of the contract that open parts of the API, without their prefix. */
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

/** Lets a request of the API in at all. */
const ROLE_API = 'ROLE_API';

/** Every role that some URL of the API may ask for, in order. */
export const API_ROLES: readonly string[] = [ROLE_API, ...NAMES.map((name) => `ROLE_API_${name}`)];

/** Access for whoever has one of these roles: `apiRole('EVENTS_VIEW')` asks for `ROLE_API_EVENTS_VIEW`. */
export function apiRole(...names: readonly (typeof NAMES)[number][]): readonly string[] {
  return names.map((name) => `ROLE_API_${name}`);
}

/** Access for every account of the API. */
export const ANY_API_ROLE = [ROLE_API] as const;
/** Access for every account, whatever it may do. */
export const EVERY_ACCOUNT: readonly string[] = ['ROLE_USER'];
/** Access for administrators only. */
export const ADMINISTRATORS: readonly string[] = [];
