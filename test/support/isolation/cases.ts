import { bytes } from '../bytes.ts';
import { field, file, form, type Part } from '../form.ts';
import { catalogOf } from '../series.ts';
import { listPaths } from './lists.ts';
import { type Target, TUS } from './target.ts';

/** One request about a target. */
export interface Ask {
  path: string;
  init?: RequestInit;
  /** Whether the answer may tell that an identifier is taken, which who chooses identifiers cannot be spared. */
  tellsTaken?: boolean;
}

type Asks = (target: Target) => Ask[];

const get = (...paths: string[]): Ask[] => paths.map((path) => ({ path }));

function urlencoded(method: string, path: string, fields: Record<string, string>): Ask {
  return { path, init: { method, body: new URLSearchParams(fields) } };
}

function multipart(path: string, parts: readonly Part[], headers: Record<string, string> = {}): Ask {
  const { type, body } = form(parts);
  return { path, init: { method: 'POST', headers: { 'Content-Type': type, ...headers }, body } };
}

const METADATA_VIEWS = ['', '?type=dublincore/episode', '?type=dublincore/series', '?type=license/episode'];
const ACL = '[{"allow":true,"action":"read","role":"ROLE_USER"}]';
const FIELDS = '[{"id":"title","value":"taken"}]';
const SCHEDULING = '{"agent_id":"taken","start":"2031-01-01T08:00:00Z","duration":3600000}';
const EVENT_METADATA = catalogOf({ title: 'taken' }, 'dublincore/episode');
const SERIES_METADATA = catalogOf({ title: 'taken' });
const NEW_EVENT = [field('acl', ACL), field('processing', '{"workflow":"schedule-and-upload"}')];
const newEvent = (values: Record<string, unknown>, headers = {}, more: readonly Part[] = []) =>
  multipart(
    '/api/events',
    [...NEW_EVENT, field('metadata', catalogOf(values, 'dublincore/episode')), ...more],
    headers,
  );
const newDirectUpload = (values: Record<string, unknown>) =>
  multipart('/api/uploads', [...NEW_EVENT, field('metadata', catalogOf(values, 'dublincore/episode'))]);
/** Whoever knows an address may use it; nobody gets at one by what else is known. */
const guess = (
  method: string,
  { directUpload, upload }: Target,
  headers: Record<string, string> = {},
): Ask[] =>
  [directUpload, upload].map((token) => {
    const body = method === 'PATCH' ? bytes(100) : null;
    const init = { method, headers: { ...TUS, ...headers }, body } as RequestInit;
    return { path: `/direct-uploads/${token}`, init };
  });
const newSeries = (values: Record<string, unknown>, headers: Record<string, string> = {}): Ask => ({
  path: '/api/series',
  init: { method: 'POST', headers, body: new URLSearchParams({ metadata: catalogOf(values), acl: ACL }) },
});

/** Whoever knows how a package is called, as its event may be called later. */
const withPackage = (path: string, { event }: Target, parts: readonly Part[] = []) =>
  multipart(`/ingest/${path}`, [
    field('mediaPackage', `<mediapackage id="${event}"/>`),
    field('flavor', 'presenter/source'),
    ...parts,
  ]);

/** Requests of whatever a route can be asked about a target, by route. */
export const CASES: Readonly<Record<string, Asks>> = {
  'GET /health/live': () => get('/health/live'),
  'GET /health/ready': () => get('/health/ready'),
  'GET /': () => get('/'),
  'GET /api': () => get('/api', '/api/'),
  'GET /api/version': () => get('/api/version'),
  'GET /api/version/default': () => get('/api/version/default'),
  'GET /api/info/me': () => get('/api/info/me'),
  'GET /api/info/me/roles': () => get('/api/info/me/roles'),
  'GET /api/info/organization': () => get('/api/info/organization'),
  'GET /api/info/organization/properties': () => get('/api/info/organization/properties'),
  'GET /api/info/organization/properties/engageuiurl': () =>
    get('/api/info/organization/properties/engageuiurl'),
  'GET /api/listproviders/providers.json': () => get('/api/listproviders/providers.json'),
  'GET /api/listproviders/:name': ({ channel }) =>
    get('/api/listproviders/LICENSES.json', `/api/listproviders/${channel}.json`),

  'GET /api/openapi.json': () => get('/api/openapi.json'),
  'GET /docs': () => get('/docs'),
  'GET /docs/:name': ({ channel }) => get(`/docs/${channel}`),
  'GET /sign-in': () => get('/sign-in'),
  'POST /sign-in': ({ account }) => [
    urlencoded('POST', '/sign-in', { username: account, password: 'wrong' }),
  ],
  // It is about whoever asks.
  'POST /sign-out': () => [],

  'GET /api/events': (target) => get(...listPaths(target).events),
  'POST /api/events': (t) => [
    newEvent({ title: 'joins', isPartOf: t.series }),
    newEvent({ title: 'repeats' }, { 'Idempotency-Key': t.idempotencyKey }),
    newEvent({ title: 'takes a file' }, {}, [field('uploads', `[{"id":"${t.upload}","field":"presenter"}]`)]),
    { ...newEvent({ title: 'takes', identifier: t.event }), tellsTaken: true },
  ],
  'GET /api/events/:event_id': ({ event }) =>
    get(
      `/api/events/${event}`,
      `/api/events/${event}/`,
      `/api/events/${event}?withacl=true&withmetadata=true&withpublications=true&withscheduling=true&sign=true`,
    ),
  'POST /api/events/:event_id': ({ event }) => [
    multipart(`/api/events/${event}`, [field('metadata', EVENT_METADATA)]),
    multipart(`/api/events/${event}`, [field('acl', ACL)]),
    multipart(`/api/events/${event}`, [field('processing', '{"workflow":"retract"}')]),
    multipart(`/api/events/${event}`, []),
    multipart(`/api/events/${event}`, [field('scheduling', SCHEDULING)]),
    multipart(`/api/events/${event}`, [file('presenter', 'a.mp4', bytes(100))]),
    urlencoded('POST', `/api/events/${event}`, { metadata: EVENT_METADATA }),
  ],
  'DELETE /api/events/:event_id': ({ event }) => [
    { path: `/api/events/${event}`, init: { method: 'DELETE' } },
  ],
  'GET /api/events/:event_id/acl': ({ event }) => get(`/api/events/${event}/acl`),
  'PUT /api/events/:event_id/acl': ({ event }) => [
    urlencoded('PUT', `/api/events/${event}/acl`, { acl: ACL }),
  ],
  'POST /api/events/:event_id/acl/:action': ({ event }) => [
    urlencoded('POST', `/api/events/${event}/acl/read`, { role: 'ROLE_USER' }),
  ],
  'DELETE /api/events/:event_id/acl/:action/:role': ({ event, role }) => [
    { path: `/api/events/${event}/acl/read/${role}`, init: { method: 'DELETE' } },
  ],
  'GET /api/events/:event_id/metadata': ({ event }) =>
    get(...METADATA_VIEWS.map((view) => `/api/events/${event}/metadata${view}`)),
  'PUT /api/events/:event_id/metadata': ({ event }) => [
    urlencoded('PUT', `/api/events/${event}/metadata?type=dublincore/episode`, { metadata: FIELDS }),
    urlencoded('PUT', `/api/events/${event}/metadata?type=license/episode`, {
      metadata: '[{"id":"remarks","value":"taken"}]',
    }),
  ],
  'DELETE /api/events/:event_id/metadata': ({ event }) =>
    ['dublincore', 'license'].map((type) => ({
      path: `/api/events/${event}/metadata?type=${type}/episode`,
      init: { method: 'DELETE' },
    })),
  'GET /api/events/:event_id/publications': ({ event }) =>
    get(
      `/api/events/${event}/publications`,
      `/api/events/${event}/publications?sign=true&includeInternalPublication=true`,
    ),
  'GET /api/events/:event_id/publications/:publication_id': ({ event, publication }) =>
    get(`/api/events/${event}/publications/${publication}?sign=true`),
  'GET /api/events/:event_id/media': ({ event }) => get(`/api/events/${event}/media`),
  'GET /api/events/:event_id/media/:track_id': ({ event, track }) =>
    get(`/api/events/${event}/media/${track}`),
  'GET /api/events/:event_id/scheduling': ({ event }) => get(`/api/events/${event}/scheduling`),
  'PUT /api/events/:event_id/scheduling': ({ event }) => [
    urlencoded('PUT', `/api/events/${event}/scheduling`, { scheduling: SCHEDULING }),
    urlencoded('PUT', `/api/events/${event}/scheduling`, { scheduling: SCHEDULING, allowConflict: 'true' }),
  ],
  'POST /api/events/:event_id/track': ({ event }) => [
    multipart(`/api/events/${event}/track`, [
      field('flavor', 'presenter/source'),
      field('overwriteExisting', 'true'),
      file('track', 'a.mp4', bytes(100)),
    ]),
  ],
  'POST /api/security/sign': ({ publication, element, filename }) =>
    [`watch/${publication}`, `publications/${publication}/${element}/${filename}`].map((address) =>
      urlencoded('POST', '/api/security/sign', { url: `http://inlet.test/${address}` }),
    ),

  'OPTIONS /uploads': () => [{ path: '/uploads', init: { method: 'OPTIONS', headers: TUS } }],
  // What it makes has a name of its own.
  'POST /uploads': () => [],
  'GET /uploads/:upload_id': ({ upload }) => [{ path: `/uploads/${upload}`, init: { headers: TUS } }],
  'PATCH /uploads/:upload_id': ({ upload }) => [
    {
      path: `/uploads/${upload}`,
      init: {
        method: 'PATCH',
        headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
        body: Uint8Array.from(bytes(100)),
      },
    },
  ],
  'POST /uploads/:upload_id': ({ upload }) =>
    ['PATCH', 'DELETE', 'GET'].map((method) => ({
      path: `/uploads/${upload}`,
      init: { method: 'POST', headers: { ...TUS, 'X-HTTP-Method-Override': method } },
    })),
  'DELETE /uploads/:upload_id': ({ upload }) => [
    { path: `/uploads/${upload}`, init: { method: 'DELETE', headers: TUS } },
  ],

  'POST /api/uploads': (t) => [
    newDirectUpload({ title: 'joins', isPartOf: t.series }),
    { ...newDirectUpload({ title: 'takes', identifier: t.event }), tellsTaken: true },
  ],
  'GET /api/uploads/:direct_upload_id': ({ directUpload }) => get(`/api/uploads/${directUpload}`),
  'DELETE /api/uploads/:direct_upload_id': ({ directUpload }) => [
    { path: `/api/uploads/${directUpload}`, init: { method: 'DELETE' } },
  ],
  'OPTIONS /direct-uploads/:token': (t) => guess('OPTIONS', t),
  'POST /direct-uploads/:token': (t) => guess('POST', t, { 'Upload-Length': '100' }),
  'GET /direct-uploads/:token': (t) => guess('GET', t),
  'PATCH /direct-uploads/:token': (t) =>
    guess('PATCH', t, { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }),
  'DELETE /direct-uploads/:token': (t) => guess('DELETE', t),

  'GET /api/series': (target) => get(...listPaths(target).series),
  'GET /api/series/series.json': (target) => get(...listPaths(target).search),
  'POST /api/series': (t) => [
    newSeries({ title: 'repeats' }, { 'Idempotency-Key': t.idempotencyKey }),
    { ...newSeries({ title: 'takes', identifier: t.series }), tellsTaken: true },
  ],
  'GET /api/series/:series_id': ({ series }) =>
    get(`/api/series/${series}?withacl=true`, `/api/series/${series}/`),
  'PUT /api/series/:series_id': ({ series }) => [
    urlencoded('PUT', `/api/series/${series}`, { metadata: SERIES_METADATA }),
  ],
  'DELETE /api/series/:series_id': ({ series }) => [
    { path: `/api/series/${series}`, init: { method: 'DELETE' } },
  ],
  'GET /api/series/:series_id/acl': ({ series }) => get(`/api/series/${series}/acl`),
  'PUT /api/series/:series_id/acl': ({ series }) => [
    urlencoded('PUT', `/api/series/${series}/acl`, { acl: ACL }),
    urlencoded('PUT', `/api/series/${series}/acl`, { acl: ACL, override: 'true' }),
  ],
  'GET /api/series/:series_id/metadata': ({ series }) =>
    get(...METADATA_VIEWS.map((view) => `/api/series/${series}/metadata${view}`)),
  'PUT /api/series/:series_id/metadata': ({ series }) => [
    urlencoded('PUT', `/api/series/${series}/metadata?type=dublincore/series`, { metadata: FIELDS }),
  ],
  'DELETE /api/series/:series_id/metadata': ({ series }) =>
    ['dublincore', 'license'].map((type) => ({
      path: `/api/series/${series}/metadata?type=${type}/series`,
      init: { method: 'DELETE' },
    })),
  'GET /api/series/:series_id/properties': ({ series }) => get(`/api/series/${series}/properties`),
  'PUT /api/series/:series_id/properties': ({ series, property }) => [
    urlencoded('PUT', `/api/series/${series}/properties`, { properties: `{"${property}":"taken"}` }),
  ],

  'GET /api/agents': () => get('/api/agents', '/api/agents?limit=1', '/api/agents?offset=1'),
  'GET /api/agents/:agent_id': ({ channel }) => get(`/api/agents/${channel}`),
  'GET /services/available.json': () =>
    get('/services/available.json?serviceType=org.opencastproject.scheduler'),
  'GET /services/services.json': () => get('/services/services.json'),
  'GET /services/hosts.json': () => get('/services/hosts.json'),
  'GET /info/me.json': () => get('/info/me.json'),
  'GET /info/health': () => get('/info/health'),
  'GET /metrics': () => get('/metrics'),
  'GET /info/components.json': () => get('/info/components.json'),
  'GET /sysinfo/bundles/version': () => get('/sysinfo/bundles/version'),
  'GET /org/all.json': () => get('/org/all.json'),
  'GET /lti': () => get('/lti'),
  'GET /studio-api/series.json': () => get('/studio-api/series.json'),
  'GET /series/count': () => get('/series/count'),
  'GET /admin-ng/series/series.json': () => get('/admin-ng/series/series.json'),
  'POST /series': ({ series }) => [
    { ...urlencoded('POST', '/series', { title: 'taken', identifier: series }), tellsTaken: true },
  ],
  'GET /workflow/definitions.json': () => get('/workflow/definitions.json'),
  'GET /search/episode.json': ({ event }) => get(`/search/episode.json?id=${event}`),
  // All of them are for everybody who may ask, and they tell for how long they have been silent.
  'GET /capture-admin/agents': () => [],
  'GET /capture-admin/agents.json': () => [],
  'GET /capture-admin/agents.xml': () => [],
  'GET /capture-admin/agents/:agent_id': ({ channel }) =>
    get(`/capture-admin/agents/${channel}.json`, `/capture-admin/agents/${channel}.xml`),
  'GET /capture-admin/agents/:agent_id/capabilities.json': ({ channel }) =>
    get(`/capture-admin/agents/${channel}/capabilities.json`),
  'GET /capture-admin/agents/:agent_id/capabilities.xml': ({ channel }) =>
    get(`/capture-admin/agents/${channel}/capabilities.xml`),
  'GET /capture-admin/agents/:agent_id/configuration.json': ({ channel }) =>
    get(`/capture-admin/agents/${channel}/configuration.json`),
  'GET /capture-admin/agents/:agent_id/configuration.xml': ({ channel }) =>
    get(`/capture-admin/agents/${channel}/configuration.xml`),
  'DELETE /capture-admin/agents/:agent_id': ({ channel }) => [
    { path: `/capture-admin/agents/${channel}`, init: { method: 'DELETE' } },
  ],
  'POST /capture-admin/recordings/:recording_id': ({ event }) => [
    urlencoded('POST', `/capture-admin/recordings/${event}`, { state: 'capturing' }),
  ],
  'GET /capture-admin/recordings': () => get('/capture-admin/recordings'),
  'GET /capture-admin/recordings.json': () => get('/capture-admin/recordings.json'),
  'GET /capture-admin/recordings/:recording_id': ({ event }) =>
    get(`/capture-admin/recordings/${event}.json`, `/capture-admin/recordings/${event}.xml`),
  'DELETE /capture-admin/recordings/:recording_id': ({ event }) => [
    { path: `/capture-admin/recordings/${event}`, init: { method: 'DELETE' } },
  ],
  'GET /recordings/calendars': ({ series }) => get(`/recordings/calendars?agentid=a&seriesid=${series}`),
  'GET /recordings/calendar.json': ({ series }) =>
    get(`/recordings/calendar.json?agentid=a&seriesid=${series}`),
  'GET /ingest/createMediaPackage': () => [],
  'PUT /ingest/createMediaPackageWithID/:package_id': () => [],
  'POST /ingest/addTrack': (t) => [withPackage('addTrack', t, [file('BODY', 'a.mp4', bytes(100))])],
  'POST /ingest/addPartialTrack': (t) => [
    withPackage('addPartialTrack', t, [file('BODY', 'a.mp4', bytes(100))]),
  ],
  'POST /ingest/addAttachment': (t) => [withPackage('addAttachment', t, [file('BODY', 'a.jpg', bytes(100))])],
  'POST /ingest/addCatalog': (t) => [withPackage('addCatalog', t, [file('BODY', 'a.xml', bytes(100))])],
  'POST /ingest/addDCCatalog': (t) => [withPackage('addDCCatalog', t, [field('dublinCore', '<a/>')])],
  'POST /ingest/ingest': (t) => [withPackage('ingest', t)],
  'POST /ingest/ingest/:workflow': (t) => [withPackage('ingest/fast', t)],
  'POST /ingest/schedule': (t) => [withPackage('schedule', t)],
  'POST /ingest/schedule/:workflow': (t) => [withPackage('schedule/fast', t)],
  'POST /ingest/discardMediaPackage': (t) => [withPackage('discardMediaPackage', t)],
  'POST /ingest/addMediaPackage': () => [multipart('/ingest/addMediaPackage', [field('title', 'x')])],
  'POST /ingest/addMediaPackage/:workflow': () => [
    multipart('/ingest/addMediaPackage/fast', [field('title', 'x')]),
  ],
  'POST /ingest/addZippedMediaPackage': () => [
    multipart('/ingest/addZippedMediaPackage', [file('track', 'a.zip', bytes(100))]),
  ],
  'POST /ingest/addZippedMediaPackage/:workflow': () => [
    multipart('/ingest/addZippedMediaPackage/fast', [file('track', 'a.zip', bytes(100))]),
  ],
  'POST /capture-admin/agents/:agent_id': ({ channel }) => [
    urlencoded('POST', `/capture-admin/agents/${channel}`, { state: 'idle' }),
  ],
  'POST /capture-admin/agents/:agent_id/configuration': ({ channel }) => [
    urlencoded('POST', `/capture-admin/agents/${channel}/configuration`, { configuration: '{}' }),
  ],

  'GET /api/updates': ({ event, series }) =>
    get(`/api/updates?filter=event:${event}`, `/api/updates?filter=series:${series}`).map((ask) => ({
      ...ask,
      init: { headers: { 'Last-Event-ID': '0' } },
    })),
  'GET /api/events/:event_id/updates': ({ event }) => [
    { path: `/api/events/${event}/updates`, init: { headers: { 'Last-Event-ID': '0' } } },
  ],
  'GET /api/workflow-definitions': () => get('/api/workflow-definitions'),
  'GET /api/workflow-definitions/:workflow_definition_id': ({ workflow }) =>
    get(`/api/workflow-definitions/${workflow}`),
  'GET /api/workflows': (target) => get(...listPaths(target).workflows),
  'POST /api/workflows': ({ event }) =>
    ['publish', 'retract'].map((definition) =>
      urlencoded('POST', '/api/workflows', {
        event_identifier: event,
        workflow_definition_identifier: definition,
      }),
    ),
  'DELETE /api/workflows/:workflow_id': ({ workflow }) => [
    { path: `/api/workflows/${workflow}`, init: { method: 'DELETE' } },
  ],
  'GET /api/workflows/:workflow_id': ({ workflow }) =>
    get(`/api/workflows/${workflow}?withoperations=true&withconfiguration=true`),
  'PUT /api/workflows/:workflow_id': ({ workflow }) =>
    ['running', 'paused', 'stopped', 'retry'].map((state) =>
      urlencoded('PUT', `/api/workflows/${workflow}`, { state }),
    ),

  'GET /api/webhooks': () => get('/api/webhooks'),
  'POST /api/webhooks': () => [urlencoded('POST', '/api/webhooks', { url: 'https://taken.example.org' })],
  'GET /api/webhooks/:webhook_id': ({ workflow }) => get(`/api/webhooks/${workflow}`),
  'PUT /api/webhooks/:webhook_id': ({ workflow }) => [
    urlencoded('PUT', `/api/webhooks/${workflow}`, { active: 'false' }),
  ],
  'DELETE /api/webhooks/:webhook_id': ({ workflow }) => [
    { path: `/api/webhooks/${workflow}`, init: { method: 'DELETE' } },
  ],
  'POST /api/webhooks/:webhook_id/test': ({ workflow }) => [
    urlencoded('POST', `/api/webhooks/${workflow}/test`, {}),
  ],
  'GET /api/webhooks/:webhook_id/deliveries': ({ workflow }) => get(`/api/webhooks/${workflow}/deliveries`),
  'POST /api/webhooks/:webhook_id/deliveries/:delivery_id': ({ workflow }) => [
    urlencoded('POST', `/api/webhooks/${workflow}/deliveries/1`, { state: 'retry' }),
  ],
  'GET /upload': () => get('/upload'),
  'GET /upload/:name': ({ channel }) => get(`/upload/${channel}`),
  'GET /watch/:publication_id': ({ publication }) => get(`/watch/${publication}`),
  'GET /publications/:publication_id/:element_id/:filename': ({ publication, element, filename }) =>
    get(`/publications/${publication}/${element}/${filename}`),
};

/** Addresses of a route for administrators only. */
export function adminAsks(route: { method: string; path: string }, target: Target): Ask[] {
  const values: Record<string, string> = { event_id: target.event, queueName: 'operations' };
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? target.workflow);
  return [{ path: path.replace('*', 'x'), init: { method: route.method } }];
}
