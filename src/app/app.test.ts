import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { anonymous } from '#access/principal.ts';
import { API_ROLES, UNIMPLEMENTED_ROUTES } from '#access/roles/api-roles.ts';
import { requireRole } from '#access/roles/authorization.ts';
import { ROLE_ADMIN } from '#access/roles/roles.ts';
import { handleErrors } from '#platform/http/app/error-handler.ts';
import { type Rule, Rules } from '#platform/http/endpoint/rules.ts';
import { REFERENCE } from './routes.ts';

/** Table 1.3 of the compatibility page, written out once more: path, then method and role. */
const TABLE = `
/api/info/me                   GET API
/api/info/me/roles             GET API
/api/info/organization         GET API
/api/version/other             GET API
/api/events                    GET EVENTS_VIEW POST EVENTS_CREATE
/api/events/x                  GET EVENTS_VIEW POST EVENTS_EDIT PUT EVENTS_EDIT DELETE EVENTS_DELETE
/api/events/x/acl              GET EVENTS_ACL_VIEW PUT EVENTS_ACL_EDIT
/api/events/x/acl/read         POST EVENTS_ACL_EDIT
/api/events/x/acl/read/ROLE_X  DELETE EVENTS_ACL_DELETE
/api/events/x/media            GET EVENTS_MEDIA_VIEW
/api/events/x/media/y          GET EVENTS_MEDIA_VIEW
/api/events/x/metadata         GET EVENTS_METADATA_VIEW PUT EVENTS_METADATA_EDIT DELETE EVENTS_METADATA_DELETE
/api/events/x/publications     GET EVENTS_PUBLICATIONS_VIEW
/api/events/x/publications/y   GET EVENTS_PUBLICATIONS_VIEW
/api/events/x/scheduling       GET EVENTS_SCHEDULING_VIEW PUT EVENTS_SCHEDULING_EDIT
/api/events/x/track            POST EVENTS_TRACK_EDIT
/api/series                    GET SERIES_VIEW POST SERIES_CREATE
/api/series/series.json        GET SERIES_VIEW
/api/series/x                  GET SERIES_VIEW PUT SERIES_EDIT DELETE SERIES_DELETE
/api/series/x/acl              GET SERIES_ACL_VIEW PUT SERIES_ACL_EDIT
/api/series/x/metadata         GET SERIES_METADATA_VIEW PUT SERIES_METADATA_EDIT DELETE SERIES_METADATA_DELETE
/api/series/x/properties       GET SERIES_PROPERTIES_VIEW PUT SERIES_PROPERTIES_EDIT
/api/security/sign             POST SECURITY_EDIT
/api/agents                    GET CAPTURE_AGENTS_VIEW
/api/agents/x                  GET CAPTURE_AGENTS_VIEW
/api/uploads                   POST EVENTS_CREATE
/api/uploads/x                 GET EVENTS_CREATE DELETE EVENTS_CREATE
/api/events/x/updates          GET EVENTS_VIEW
/api/updates                   GET EVENTS_VIEW
/api/workflows                 GET WORKFLOW_INSTANCE_VIEW POST WORKFLOW_INSTANCE_CREATE
/api/workflows/1               GET WORKFLOW_INSTANCE_VIEW PUT WORKFLOW_INSTANCE_EDIT DELETE WORKFLOW_INSTANCE_DELETE
/api/workflow-definitions      GET WORKFLOW_DEFINITION_VIEW
/api/workflow-definitions/x    GET WORKFLOW_DEFINITION_VIEW
/api/groups                    GET GROUPS_VIEW POST GROUPS_CREATE
/api/groups/x                  GET GROUPS_VIEW PUT GROUPS_EDIT DELETE GROUPS_DELETE
/api/groups/x/members          POST GROUPS_EDIT
/api/groups/x/members/y        DELETE GROUPS_EDIT
/api/listproviders/providers.json GET LISTPROVIDERS_VIEW
/api/listproviders/x.json      GET LISTPROVIDERS_VIEW
/api/playlists                 GET PLAYLISTS_VIEW POST PLAYLISTS_CREATE|PLAYLISTS_EDIT
/api/playlists/x               GET PLAYLISTS_VIEW PUT PLAYLISTS_CREATE|PLAYLISTS_EDIT DELETE PLAYLISTS_DELETE
/api/playlists/x/entries       POST PLAYLISTS_CREATE|PLAYLISTS_EDIT
/api/statistics/providers      GET STATISTICS_VIEW
/api/statistics/providers/x    GET STATISTICS_VIEW
/api/statistics/data/query     POST STATISTICS_VIEW
/api/statistics/data/export.csv POST STATISTICS_VIEW
`;

const ROWS = TABLE.trim()
  .split('\n')
  .flatMap((line) => {
    const [path = '', ...rest] = line.trim().split(/\s+/);
    return rest.flatMap((method, i) => {
      const names = i % 2 === 0 ? rest[i + 1] : undefined;
      const roles = names?.split('|').map((name) => (name === 'API' ? 'ROLE_API' : `ROLE_API_${name}`));
      return roles ? [{ method, path, roles }] : [];
    });
  });
const served = REFERENCE.flatMap(({ endpoints }): readonly Rule[] => endpoints);
const servedRules = new Rules(served);
const rules = new Rules([...served, ...UNIMPLEMENTED_ROUTES]);
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

const others = (roles: readonly string[]) => API_ROLES.filter((role) => !roles.includes(role));

/** The status an account with these roles gets; nobody is signed in when they are undefined. */
const ask = async (method: string, path: string, roles?: Iterable<string>) =>
  (await answer(method, path, roles)).status;

async function answer(method: string, path: string, roles?: Iterable<string>): Promise<Response> {
  const app = new Hono({ strict: false });
  handleErrors(app);
  app.use(async (c, next) => {
    c.set('principal', roles ? anonymous.withRoles(roles) : anonymous);
    if (roles) c.set('account', 'somebody');
    await next();
  });
  for (const area of ['/api', '/uploads']) {
    app.use(`${area}/*`, requireRole(rules, servedRules));
    app.all(area, (c) => c.text('passed'));
    app.all(`${area}/*`, (c) => c.text('passed'));
  }
  return app.request(path, { method });
}

async function expectOpenTo(roles: readonly string[], method: string, path: string): Promise<void> {
  for (const role of [...roles, ROLE_ADMIN]) expect(await ask(method, path, [role])).toBe(200);
  expect(await ask(method, path, others(roles))).toBe(403);
  expect(await ask(method, path)).toBe(401);
}

describe.each(ROWS)('$method $path', ({ method, path, roles }) => {
  test('is open to its role and to administrators, closed to every other', async () => {
    await expectOpenTo(roles, method, path);
  });

  test('does not change with the way the path is written', async () => {
    const encoded = path.replace(/[a-z](?=[^/]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    for (const variant of [`${path}/`, path.replace('api', '%61pi'), encoded, `${path}?x=1`]) {
      expect([variant, await ask(method, variant, roles)]).toEqual([variant, 200]);
      expect([variant, await ask(method, variant, others(roles))]).toEqual([variant, 403]);
    }
  });

  test('lets administrators alone through where a path becomes another one', async () => {
    const variants = [path.replace('/api/', '/api//'), `${path}//`, path.replace('/api/', '/api/./..%2f')];
    for (const variant of variants) {
      expect([variant, await ask(method, variant, API_ROLES)]).toEqual([variant, 403]);
      expect([variant, await ask(method, variant)]).toEqual([variant, 401]);
    }
  });
});

test('every endpoint of the API for which one must sign in has its line', () => {
  const told = new Set(ROWS.map(({ method, path }) => rules.find(method, path)));
  const missing = served.filter((rule) => rule.access !== 'public' && rule.path.startsWith('/api') && !told.has(rule));
  // These have no role of the API; see below.
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'get /api/info/organization/properties',
    'get /api/info/organization/properties/engageuiurl',
    'get /api/webhooks',
    'post /api/webhooks',
    'get /api/webhooks/{webhook_id}',
    'put /api/webhooks/{webhook_id}',
    'delete /api/webhooks/{webhook_id}',
    'post /api/webhooks/{webhook_id}/test',
    'get /api/webhooks/{webhook_id}/deliveries',
    'post /api/webhooks/{webhook_id}/deliveries/{delivery_id}',
  ]);
});

test.each([
  ...['POST /uploads', 'GET /uploads/x', 'HEAD /uploads/x', 'PATCH /uploads/x', 'POST /uploads/x'],
  'DELETE /uploads/x',
])('%s is for those who may create events', async (asked) => {
  const [method = '', path = ''] = asked.split(' ');
  await expectOpenTo(['ROLE_API_EVENTS_CREATE'], method, path);
});

test('what uploads there can be may be asked by everybody, and nothing of one', async () => {
  expect(await ask('OPTIONS', '/uploads')).toBe(200);
  expect(await ask('OPTIONS', '/uploads/x')).toBe(401);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    expect([method, await ask(method, '/uploads', API_ROLES)]).toEqual([method, 405]);
  }
});

test('methods without a line in the table go no further than to whoever may do everything', async () => {
  for (const path of ['/api/security/sign', '/api/events', '/api/info/me']) {
    const known = ROWS.filter((row) => row.path === path).map((row) => row.method);
    const allowed = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    for (const method of METHODS.filter((each) => !known.includes(each))) {
      const { status, headers } = await answer(method, path, API_ROLES);
      expect([method, path, status]).toEqual([method, path, 405]);
      expect(headers.get('Allow')?.split(', ').toSorted()).toEqual(allowed.toSorted());
      expect(await ask(method, path)).toBe(401);
      expect(await ask(method, path, [ROLE_ADMIN])).toBe(200);
    }
  }
});

test('HEAD is judged like GET, and an encoded slash stays inside its segment', async () => {
  expect(await ask('HEAD', '/api/events', ['ROLE_API_EVENTS_VIEW'])).toBe(200);
  expect(await ask('HEAD', '/api/events', ['ROLE_API_EVENTS_CREATE'])).toBe(403);
  expect(await ask('HEAD', '/api')).toBe(200);
  expect(await ask('GET', '/api/events/x%2Facl', ['ROLE_API_EVENTS_VIEW'])).toBe(200);
  expect(await ask('GET', '/api/events/x%2Facl', ['ROLE_API_EVENTS_ACL_VIEW'])).toBe(403);
});

test.each(['/api', '/api/', '/api/version', '/api/version/', '/api/version/default', '/api/openapi.json'])(
  '%s is open to everybody for reading only',
  async (path) => {
    expect(await ask('GET', path)).toBe(200);
    expect(await ask('POST', path)).toBe(401);
    expect(await ask('POST', path, API_ROLES)).toBe(405);
  },
);

test('paths without a rule are for administrators', async () => {
  const unknown = ['/api/unknown', '/api/events/x/y/z', '/api/events/x%0a/acl/y/z/a'];
  for (const path of [...unknown, '/api/info/organization/properties']) {
    expect([path, await ask('GET', path, API_ROLES)]).toEqual([path, 403]);
    expect([path, await ask('GET', path, [ROLE_ADMIN])]).toEqual([path, 200]);
  }
  const embedding = '/api/info/organization/properties/engageuiurl';
  expect(await ask('GET', embedding, ['ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW'])).toBe(200);
  expect(await ask('GET', embedding, API_ROLES)).toBe(403);
});
