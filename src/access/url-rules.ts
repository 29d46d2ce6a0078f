type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Any of these roles will do; none at all means administrators only. */
export type AnyOf = readonly string[];

/** `*` stands for one path segment, `**` for one or more. */
interface UrlRule {
  paths: readonly string[];
  roles: Readonly<Partial<Record<Method, AnyOf>>>;
}

const api = (name: string): AnyOf => [`ROLE_API_${name}`];
const viewAndEdit = (name: string) => ({ GET: api(`${name}_VIEW`), PUT: api(`${name}_EDIT`) });
const viewEditDelete = (name: string) => ({ ...viewAndEdit(name), DELETE: api(`${name}_DELETE`) });
const createToDelete = (name: string) => ({ ...viewEditDelete(name), POST: api(`${name}_CREATE`) });
const savePlaylist = [...api('PLAYLISTS_CREATE'), ...api('PLAYLISTS_EDIT')];

/** What the API tells everybody. */
const PUBLIC = new Set(['/api', '/api/openapi.json', '/api/version', '/api/version/default']);

/**
 * Which role a request needs. `ROLE_ADMIN` passes everywhere; what no rule mentions is for administrators only, so a
 * new route is closed until it has its line here. No path matches two rules.
 */
const RULES: readonly UrlRule[] = [
  {
    paths: ['/api', '/api/info/*', '/api/info/me/*', '/api/version', '/api/version/*'],
    roles: { GET: ['ROLE_API'] },
  },
  {
    paths: ['/api/info/organization/properties/engageuiurl'],
    roles: { GET: ['ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW'] },
  },
  { paths: ['/api/events'], roles: { GET: api('EVENTS_VIEW'), POST: api('EVENTS_CREATE') } },
  { paths: ['/api/events/*'], roles: { ...viewEditDelete('EVENTS'), POST: api('EVENTS_EDIT') } },
  { paths: ['/api/events/*/acl'], roles: viewAndEdit('EVENTS_ACL') },
  { paths: ['/api/events/*/acl/*'], roles: { POST: api('EVENTS_ACL_EDIT') } },
  { paths: ['/api/events/*/acl/*/*'], roles: { DELETE: api('EVENTS_ACL_DELETE') } },
  {
    paths: ['/api/events/*/media', '/api/events/*/media/*'],
    roles: { GET: api('EVENTS_MEDIA_VIEW') },
  },
  { paths: ['/api/events/*/metadata'], roles: viewEditDelete('EVENTS_METADATA') },
  {
    paths: ['/api/events/*/publications', '/api/events/*/publications/*'],
    roles: { GET: api('EVENTS_PUBLICATIONS_VIEW') },
  },
  { paths: ['/api/events/*/scheduling'], roles: viewAndEdit('EVENTS_SCHEDULING') },
  { paths: ['/api/events/*/track'], roles: { POST: api('EVENTS_TRACK_EDIT') } },
  { paths: ['/api/series', '/api/series/*'], roles: createToDelete('SERIES') },
  { paths: ['/api/series/*/acl'], roles: viewAndEdit('SERIES_ACL') },
  { paths: ['/api/series/*/metadata'], roles: viewEditDelete('SERIES_METADATA') },
  { paths: ['/api/series/*/properties'], roles: viewAndEdit('SERIES_PROPERTIES') },
  { paths: ['/api/security/sign'], roles: { POST: api('SECURITY_EDIT') } },
  { paths: ['/api/agents', '/api/agents/*'], roles: { GET: api('CAPTURE_AGENTS_VIEW') } },
  {
    paths: ['/capture-admin/agents/*', '/capture-admin/agents/*/configuration'],
    roles: { POST: ['ROLE_CAPTURE_AGENT'] },
  },
  { paths: ['/api/workflows', '/api/workflows/*'], roles: createToDelete('WORKFLOW_INSTANCE') },
  {
    paths: ['/api/workflow-definitions', '/api/workflow-definitions/*'],
    roles: { GET: api('WORKFLOW_DEFINITION_VIEW') },
  },
  { paths: ['/api/groups', '/api/groups/*'], roles: createToDelete('GROUPS') },
  { paths: ['/api/groups/*/members'], roles: { POST: api('GROUPS_EDIT') } },
  { paths: ['/api/groups/*/members/*'], roles: { DELETE: api('GROUPS_EDIT') } },
  { paths: ['/api/listproviders', '/api/listproviders/*'], roles: { GET: api('LISTPROVIDERS_VIEW') } },
  {
    paths: ['/api/playlists', '/api/playlists/*'],
    roles: { ...viewEditDelete('PLAYLISTS'), POST: savePlaylist, PUT: savePlaylist },
  },
  {
    paths: ['/api/statistics/**'],
    roles: { GET: api('STATISTICS_VIEW'), POST: api('STATISTICS_VIEW') },
  },
];

const MATCHERS = RULES.flatMap(({ paths, roles }) =>
  paths.map((path) => ({ pattern: expression(path), roles: new Map(Object.entries(roles)) })),
);

/**
 * What a request needs: `'public'`, or one of the roles (an empty list: administrators only).
 *
 * @param path as the router sees it, so that both mean the same resource
 */
export function requirement(method: string, path: string): 'public' | AnyOf {
  const effective = method === 'HEAD' ? 'GET' : method;
  if (effective === 'GET' && PUBLIC.has(path)) return 'public';
  return MATCHERS.find(({ pattern }) => pattern.test(path))?.roles.get(effective) ?? [];
}

/** Every `ROLE_API*` that some rule asks for, in order. */
export function apiRoles(): string[] {
  const asked = RULES.flatMap(({ roles }) => Object.values(roles).flat());
  return [...new Set(asked)].filter((role) => role.startsWith('ROLE_API')).sort();
}

function expression(path: string): RegExp {
  const source = path
    .replace(/[.-]/g, '\\$&')
    .replaceAll('**', '[^/]+(?:/[^/]+)*')
    .replace(/(?<=\/)\*/g, '[^/]+');
  return new RegExp(`^${source}$`);
}
