import { bytes } from '../bytes.ts';
import { field, file, form, type Part } from '../form.ts';
import { catalogOf } from '../series.ts';
import { listPaths } from './lists.ts';
import { type Target, TUS } from './target.ts';

/** One request about a target. */
export interface Ask {
  path: string;
  init?: RequestInit;
  /** The answer may say that an identifier is taken: the client chose it. */
  tellsTaken?: boolean;
}

/** A request as it differs from the plain one of its route, whose path names the target. */
interface Spec {
  path?: string;
  /** What follows the path: a suffix or a query. */
  more?: string;
  method?: string;
  headers?: Record<string, string>;
  /** An urlencoded form, or the parts of a multipart one, or another body. */
  fields?: Record<string, string>;
  parts?: readonly Part[];
  body?: Uint8Array<ArrayBuffer>;
  tellsTaken?: boolean;
}
type Specs = (target: Target) => readonly Spec[];

const METADATA_VIEWS = ['', '?type=dublincore/episode', '?type=dublincore/series', '?type=license/episode'];
const ACL = '[{"allow":true,"action":"read","role":"ROLE_USER"}]';
const FIELDS = '[{"id":"title","value":"taken"}]';
const REMARKS = '[{"id":"remarks","value":"taken"}]';
const SCHEDULING = '{"agent_id":"taken","start":"2031-01-01T08:00:00Z","duration":3600000}';
const EVENT_METADATA = catalogOf({ title: 'taken' }, 'dublincore/episode');
const SERIES_METADATA = catalogOf({ title: 'taken' });
/** The times of an agent are open to those who schedule; titles and identifiers are not. */
const BUSY = '?agent=taken&start=1930000000000&end=1930003600000';
const PLAYLIST = `{"title":"taken","accessControlEntries":${ACL}}`;
const BYTES = Uint8Array.from(bytes(100));
const APPENDING = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
const STREAMING = { headers: { 'Last-Event-ID': '0' } };

const statisticsQueries = ({ event, series }: Target) =>
  [
    ['episode', event],
    ['series', series],
    ['series', series, 'episode'],
    ['organization', 'mh_default_org', 'episode'],
  ].map(([type, resourceId, detailLevel]) => {
    const times = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z', dataResolution: 'yearly' };
    const parameters = { resourceId, ...times, ...(detailLevel && { detailLevel }) };
    return { provider: { identifier: `${type}.views.sum` }, parameters };
  });
const paths = (all: readonly string[]): Spec[] => all.map((path) => ({ path }));
const sends = (...all: Record<string, string>[]): Spec[] => all.map((fields) => ({ fields }));
const plus = (...all: string[]) => all.map((more) => ({ more }));
const newEvent = (values: Record<string, unknown>): Part[] => [
  ...[field('acl', ACL), field('processing', '{"workflow":"schedule-and-upload"}')],
  field('metadata', catalogOf(values, 'dublincore/episode')),
];
const newSeries = (values: Record<string, unknown>) => ({ metadata: catalogOf(values), acl: ACL });
/** Who knows an address may use it; nobody finds one by what else is known. */
const guess =
  (spec: Spec = {}): Specs =>
  ({ directUpload, upload }) =>
    [directUpload, upload].map((token) => ({
      ...spec,
      path: `/direct-uploads/${token}`,
      headers: { ...TUS, ...spec.headers },
    }));
/** Names a package as its event may be named later. */
const withPackage =
  (...parts: Part[]): Specs =>
  ({ event }) => [
    {
      parts: [
        ...[field('mediaPackage', `<mediapackage id="${event}"/>`), field('flavor', 'presenter/source')],
        ...parts,
      ],
    },
  ];

/** Routes that are asked about a target by their paths alone. */
const PLAIN = [
  ...['GET /', 'GET /health/live', 'GET /health/ready', 'GET /api/version', 'GET /api/version/default'],
  ...['GET /api/info/me', 'GET /api/info/me/roles', 'GET /api/info/organization', 'GET /api/openapi.json'],
  ...['GET /api/info/organization/properties', 'GET /api/info/organization/properties/engageuiurl'],
  ...['GET /api/listproviders/providers.json', 'GET /docs', 'GET /docs/:name', 'GET /sign-in'],
  ...[
    'GET /upload',
    'GET /upload/:name',
    'GET /admin/assets/:name',
    'GET /watch/:publication_id',
    'GET /editor-ui/*',
    'GET /ui/config/editor/editor-settings.toml',
    'GET /metrics',
    'GET /lti',
    'GET /lti/keys',
    'GET /lti/login',
    'GET /lti/start',
    'GET /watch/assets/:name',
    'POST /watch/:publication_id/views',
    'GET /embed/:publication_id',
  ],
  ...['GET /publications/:publication_id/:element_id/:filename', 'GET /feeds/rss/2.0/series/:series_id'],
  'GET /play/:event_id',
  ...['GET /editor/:event_id/edit.json', 'GET /editor/:event_id/metadata.json'],
  ...['DELETE /editor/:event_id/lock/:lock_id', 'GET /editor/:event_id/files/:file_id/:filename'],

  ...['DELETE /api/events/:event_id', 'GET /api/events/:event_id/acl', 'GET /api/events/:event_id/media'],
  ...['DELETE /api/events/:event_id/acl/:action/:role', 'GET /api/events/:event_id/media/:track_id'],
  ...['GET /api/events/:event_id/scheduling', 'DELETE /uploads/:upload_id', 'GET /uploads/:upload_id'],
  ...['OPTIONS /uploads', 'GET /api/uploads/:direct_upload_id', 'DELETE /api/uploads/:direct_upload_id'],

  ...['DELETE /api/series/:series_id', 'GET /api/series/:series_id/acl'],
  'GET /api/series/:series_id/properties',

  ...['GET /api/groups', 'GET /api/groups/:group_id', 'DELETE /api/groups/:group_id'],
  'DELETE /api/groups/:group_id/members/:member',
  ...['GET /tobira/version', 'GET /tobira/harvest', 'POST /tobira/stats'],

  ...['GET /api/playlists/:playlist_id', 'DELETE /api/playlists/:playlist_id'],

  ...['GET /api/agents/:agent_id', 'GET /services/services.json', 'GET /services/hosts.json'],
  ...['GET /info/me.json', 'GET /info/health', 'GET /info/components.json', 'GET /sysinfo/bundles/version'],
  ...['GET /org/all.json', 'GET /studio-api/series.json', 'GET /series/count'],
  ...['GET /admin-ng/series/series.json', 'GET /workflow/definitions.json'],
  'GET /capture-admin/agents/:agent_id/capabilities.json',
  'GET /capture-admin/agents/:agent_id/capabilities.xml',
  'GET /capture-admin/agents/:agent_id/configuration.json',
  'GET /capture-admin/agents/:agent_id/configuration.xml',
  ...['DELETE /capture-admin/agents/:agent_id', 'DELETE /capture-admin/recordings/:recording_id'],
  'DELETE /recordings/:recording_id',
  ...['GET /capture-admin/recordings', 'GET /capture-admin/recordings.json'],

  ...['GET /api/workflow-definitions', 'GET /api/workflow-definitions/:workflow_definition_id'],
  ...['DELETE /api/workflows/:workflow_id', 'GET /api/webhooks', 'GET /api/webhooks/:webhook_id'],
  ...['DELETE /api/webhooks/:webhook_id', 'GET /api/webhooks/:webhook_id/deliveries'],
];

/** Routes that nothing of a target can be asked of: they are about the account or make something new. */
const ABOUT_NOTHING = [
  ...['POST /sign-out', 'POST /uploads', 'POST /api/groups', 'POST /api/playlists', 'GET /ingest/createMediaPackage'],
  'PUT /ingest/createMediaPackageWithID/:package_id',
  // Without the signature of a learning platform they do nothing, whatever the account.
  ...['POST /lti', 'POST /lti/login', 'POST /lti/launch', 'POST /lti/start', 'POST /lti/choose'],
  // They are open to every account with the role, and their answers change with the time.
  ...['GET /capture-admin/agents', 'GET /capture-admin/agents.json', 'GET /capture-admin/agents.xml'],
];

const SPECIAL: Readonly<Record<string, Specs>> = {
  'GET /api': () => plus('', '/'),
  'GET /api/listproviders/:name': ({ channel }) =>
    paths(['/api/listproviders/LICENSES.json', `/api/listproviders/${channel}.json`]),
  'POST /sign-in': ({ account }) => sends({ username: account, password: 'wrong' }),

  'GET /api/events': (t) => paths(listPaths(t).events),
  'POST /api/events': (t) => [
    { parts: newEvent({ title: 'joins', isPartOf: t.series }) },
    { parts: newEvent({ title: 'repeats' }), headers: { 'Idempotency-Key': t.idempotencyKey } },
    {
      parts: [...newEvent({ title: 'takes a file' }), field('uploads', `[{"id":"${t.upload}","field":"presenter"}]`)],
    },
    { parts: newEvent({ title: 'takes', identifier: t.event }), tellsTaken: true },
  ],
  'GET /api/events/:event_id': () =>
    plus('', '/', '?withacl=true&withmetadata=true&withpublications=true&withscheduling=true&sign=true'),
  'POST /api/events/:event_id': () => [
    { parts: [field('metadata', EVENT_METADATA)] },
    { parts: [field('acl', ACL)] },
    { parts: [field('processing', '{"workflow":"retract"}')] },
    { parts: [] },
    { parts: [field('scheduling', SCHEDULING)] },
    { parts: [file('presenter', 'a.mp4', BYTES)] },
    { fields: { metadata: EVENT_METADATA } },
  ],
  'PUT /api/events/:event_id/acl': () => sends({ acl: ACL }),
  'POST /api/events/:event_id/acl/:action': () => sends({ role: 'ROLE_USER' }),
  'GET /api/events/:event_id/metadata': () => plus(...METADATA_VIEWS),
  'PUT /api/events/:event_id/metadata': () => [
    { more: '?type=dublincore/episode', fields: { metadata: FIELDS } },
    { more: '?type=license/episode', fields: { metadata: REMARKS } },
  ],
  'DELETE /api/events/:event_id/metadata': () => plus('?type=dublincore/episode', '?type=license/episode'),
  'GET /api/events/:event_id/publications': () => plus('', '?sign=true&includeInternalPublication=true'),
  'GET /api/events/:event_id/publications/:publication_id': () => plus('?sign=true'),
  'PUT /api/events/:event_id/scheduling': () =>
    sends({ scheduling: SCHEDULING }, { scheduling: SCHEDULING, allowConflict: 'true' }),
  'POST /api/events/:event_id/track': () => [
    {
      parts: [
        ...[field('flavor', 'presenter/source'), field('overwriteExisting', 'true')],
        file('track', 'a.mp4', BYTES),
      ],
    },
  ],
  'GET /lti/series': ({ series }) => plus('', `?series=${series}`),
  ...Object.fromEntries(
    [
      ...['/paella8/ui/watch.html', '/paella7/ui/watch.html', '/paella/ui/watch.html', '/paella/ui/embed.html'],
      ...['/engage/theodul/ui/core.html', '/engage/ui/watch.html', '/engage/ui/embed.html'],
    ].map((path) => [`GET ${path}`, ({ event }: Target) => plus(`?id=${event}`)]),
  ),
  'POST /editor/:event_id/edit.json': ({ track }) => [
    { body: Buffer.from(`{"segments":[],"tracks":[{"id":"${track}"}],"workflows":[{"id":"publish"}]}`) },
  ],
  'POST /editor/:event_id/metadata.json': () => [{ body: Buffer.from(EVENT_METADATA) }],
  'GET /editor-ui': ({ event }) => plus(`?id=${event}`),
  'GET /editor-ui/index.html': ({ event }) => plus(`?id=${event}`, `?mediaPackageId=${event}`),
  'POST /editor-ui': ({ event }) =>
    ['save', 'process'].map((action) => ({
      fields: { id: event, uuid: 'taken', from: '0', to: '1', action, workflow: 'publish' },
    })),
  'POST /editor/:event_id/lock': () => sends({ uuid: 'taken' }),
  'GET /oembed': ({ publication }) => paths([`/oembed?url=http://inlet.test/watch/${publication}`, '/oembed']),
  'POST /api/security/sign': ({ publication, element, filename }) =>
    [`watch/${publication}`, `embed/${publication}`, `publications/${publication}/${element}/${filename}`].map(
      (address) => ({
        fields: { url: `http://inlet.test/${address}` },
      }),
    ),

  'GET /api/statistics/providers': () => plus('?withparameters=true'),
  'GET /api/statistics/providers/:provider_id': () =>
    paths(['episode', 'series', 'organization'].map((type) => `/api/statistics/providers/${type}.views.sum`)),
  'POST /api/statistics/data/query': (t) =>
    statisticsQueries(t).map((query) => ({ fields: { data: JSON.stringify([query]) } })),
  'POST /api/statistics/data/export.csv': (t) =>
    statisticsQueries(t).map((query) => ({ fields: { data: JSON.stringify(query) } })),

  'PATCH /uploads/:upload_id': () => [{ headers: APPENDING, body: BYTES }],
  'POST /uploads/:upload_id': () =>
    ['PATCH', 'DELETE', 'GET'].map((method) => ({ headers: { 'X-HTTP-Method-Override': method } })),
  'POST /api/uploads': (t) => [
    { parts: newEvent({ title: 'joins', isPartOf: t.series }) },
    { parts: newEvent({ title: 'takes', identifier: t.event }), tellsTaken: true },
  ],
  'OPTIONS /direct-uploads/:token': guess(),
  'POST /direct-uploads/:token': guess({ headers: { 'Upload-Length': '100' } }),
  'GET /direct-uploads/:token': guess(),
  'PATCH /direct-uploads/:token': guess({ headers: APPENDING, body: BYTES }),
  'DELETE /direct-uploads/:token': guess(),

  'GET /api/series': (t) => paths(listPaths(t).series),
  'GET /api/series/series.json': (t) => paths(listPaths(t).search),
  'POST /api/series': (t) => [
    { fields: newSeries({ title: 'repeats' }), headers: { 'Idempotency-Key': t.idempotencyKey } },
    { fields: newSeries({ title: 'takes', identifier: t.series }), tellsTaken: true },
  ],
  'GET /api/series/:series_id': () => plus('?withacl=true', '/'),
  'PUT /api/series/:series_id': () => sends({ metadata: SERIES_METADATA }),
  'PUT /api/series/:series_id/acl': () => sends({ acl: ACL }, { acl: ACL, override: 'true' }),
  'GET /api/series/:series_id/metadata': () => plus(...METADATA_VIEWS),
  'PUT /api/series/:series_id/metadata': () => [{ more: '?type=dublincore/series', fields: { metadata: FIELDS } }],
  'DELETE /api/series/:series_id/metadata': () => plus('?type=dublincore/series', '?type=license/series'),
  'PUT /api/series/:series_id/properties': ({ property }) => [{ fields: { properties: `{"${property}":"taken"}` } }],

  'PUT /api/groups/:group_id': ({ account }) => sends({ members: account }),
  'POST /api/groups/:group_id/members': ({ account }) => sends({ member: account }),
  'GET /api/playlists': (t) => paths(listPaths(t).playlists),
  'POST /api/playlists/:playlist_id/entries': () => sends({ playlistEntries: '[]' }),
  'PUT /api/playlists/:playlist_id': () => sends({ playlist: PLAYLIST }, { playlist: '{}' }),

  'GET /api/agents': () => plus('', '?limit=1', '?offset=1'),
  'GET /services/available.json': () => plus('?serviceType=org.opencastproject.scheduler'),
  'GET /series/:series_id': () => plus('.json'),
  'POST /series': ({ series }) => [{ fields: { title: 'taken', identifier: series }, tellsTaken: true }],
  'GET /search/episode.json': ({ event, series, eventWords, seriesWords }) =>
    plus(`?id=${event}`, `?sid=${series}`, `?sname=${seriesWords.title}`, `?q=${eventWords.title}`, '?sort=title desc'),
  'GET /search/series.json': ({ series, seriesWords }) => plus(`?id=${series}`, `?q=${seriesWords.title}`),
  'GET /capture-admin/agents/:agent_id': () => plus('.json', '.xml'),
  'POST /capture-admin/recordings/:recording_id': () => sends({ state: 'capturing' }),
  'GET /capture-admin/recordings/:recording_id': () => plus('.json', '.xml'),
  'GET /recordings/conflicts.json': () => plus(BUSY),
  'GET /recordings/conflicts.xml': () => plus(BUSY),
  'PUT /recordings/:recording_id': () => sends({ start: '1930000000000', end: '1930003600000' }),
  'GET /recordings/calendars': ({ series }) => plus(`?agentid=a&seriesid=${series}`),
  'GET /recordings/calendar.json': ({ series }) => plus(`?agentid=a&seriesid=${series}`),
  'POST /ingest/addTrack': withPackage(file('BODY', 'a.mp4', BYTES)),
  'POST /ingest/addPartialTrack': withPackage(file('BODY', 'a.mp4', BYTES)),
  'POST /ingest/addAttachment': withPackage(file('BODY', 'a.jpg', BYTES)),
  'POST /ingest/addCatalog': withPackage(file('BODY', 'a.xml', BYTES)),
  'POST /ingest/addDCCatalog': withPackage(field('dublinCore', '<a/>')),
  'POST /ingest/ingest': withPackage(),
  'POST /ingest/ingest/:workflow': withPackage(),
  'POST /ingest/schedule': withPackage(),
  'POST /ingest/schedule/:workflow': withPackage(),
  'POST /ingest/discardMediaPackage': withPackage(),
  'POST /ingest/addMediaPackage': () => [{ parts: [field('title', 'x')] }],
  'POST /ingest/addMediaPackage/:workflow': () => [{ parts: [field('title', 'x')] }],
  'POST /ingest/addZippedMediaPackage': () => [{ parts: [file('track', 'a.zip', BYTES)] }],
  'POST /ingest/addZippedMediaPackage/:workflow': () => [{ parts: [file('track', 'a.zip', BYTES)] }],
  'POST /capture-admin/agents/:agent_id': () => sends({ state: 'idle' }),
  'POST /capture-admin/agents/:agent_id/configuration': () => [{ fields: { configuration: '{}' } }],

  'GET /api/updates': ({ event, series, playlist }) =>
    [`event:${event}`, `series:${series}`, `playlist:${playlist}`].map((filter) => ({
      more: `?filter=${filter}`,
      ...STREAMING,
    })),
  'GET /api/events/:event_id/updates': () => [STREAMING],
  'GET /api/workflows': (t) => paths(listPaths(t).workflows),
  'POST /api/workflows': ({ event }) =>
    ['publish', 'retract'].map((definition) => ({
      fields: { event_identifier: event, workflow_definition_identifier: definition },
    })),
  'GET /api/workflows/:workflow_id': () => plus('?withoperations=true&withconfiguration=true'),
  'PUT /api/workflows/:workflow_id': () =>
    ['running', 'paused', 'stopped', 'retry'].map((state) => ({ fields: { state } })),
  'POST /api/webhooks': () => sends({ url: 'https://taken.example.org' }),
  'PUT /api/webhooks/:webhook_id': () => sends({ active: 'false' }),
  'POST /api/webhooks/:webhook_id/test': () => sends({}),
  'POST /api/webhooks/:webhook_id/deliveries/:delivery_id': () => sends({ state: 'retry' }),
};

const ALL: Readonly<Record<string, Specs>> = {
  ...Object.fromEntries(PLAIN.map((route) => [route, () => [{}]])),
  ...Object.fromEntries(ABOUT_NOTHING.map((route) => [route, () => []])),
  ...SPECIAL,
};

/** All requests that a route can be sent about a target, by route. */
export const CASES: Readonly<Record<string, (target: Target) => Ask[]>> = Object.fromEntries(
  Object.entries(ALL).map(([route, specs]) => [
    route,
    (target: Target) => specs(target).map((spec) => askOf(route, spec, target)),
  ]),
);

/** What the parameters of paths name. */
const namesOf = (target: Target): Record<string, string> => ({
  ...{ event_id: target.event, recording_id: target.event, series_id: target.series, role: target.role },
  ...{ publication_id: target.publication, element_id: target.element, filename: target.filename },
  // A group that exists everywhere, with roles that the asking account does not have.
  ...{ group_id: 'mh_default_org_external_applications', member: target.account },
  ...{
    track_id: target.track,
    file_id: target.element,
    upload_id: target.upload,
    direct_upload_id: target.directUpload,
  },
  playlist_id: target.playlist,
  ...{ name: target.channel, agent_id: target.channel, action: 'read', workflow: 'fast', delivery_id: '1' },
  ...{ workflow_id: target.workflow, workflow_definition_id: target.workflow, webhook_id: target.workflow },
});

function askOf(route: string, spec: Spec, target: Target): Ask {
  const [method = '', pattern = ''] = route.split(' ');
  const names = namesOf(target);
  const path = spec.path ?? pattern.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? 'x');
  const multipart = spec.parts && form(spec.parts);
  const headers = {
    ...(pattern.startsWith('/uploads') && TUS),
    ...(multipart && { 'Content-Type': multipart.type }),
    ...spec.headers,
  };
  const body = multipart?.body ?? (spec.fields && new URLSearchParams(spec.fields)) ?? spec.body ?? null;
  const { more = '', tellsTaken = false } = spec;
  return { path: path + more, init: { method, headers, body }, tellsTaken };
}

/** Addresses of a route for administrators only. */
export function adminAsks(route: { method: string; path: string }, target: Target): Ask[] {
  const values: Record<string, string> = { event_id: target.event, queueName: 'operations' };
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? target.workflow);
  return [{ path: path.replace('*', 'x'), init: { method: route.method } }];
}
