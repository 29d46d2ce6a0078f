import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { eventually } from '../support/eventually.ts';
import { field, file } from '../support/form.ts';
import { episode, ok, packageId, Recorder } from '../support/packages.ts';
import { schedule } from '../support/scheduling.ts';
import { zipOf } from '../support/zip.ts';

/** What each client sends to each route, by the programs that are known to, and what they look at of the answer. */

let app: TestApp;
let agent: Recorder;
let eventId: string;
beforeAll(async () => {
  app = await createTestApp();
  agent = new Recorder(app, await app.account('hall', 'ROLE_CAPTURE_AGENT'));
  const period = { start: '2031-01-07T09:00:00Z', end: '2031-01-07T10:00:00Z' };
  eventId = await schedule(app, { agent_id: 'hall', ...period, inputs: ['cam'] });
  ok(await agent.urlencoded('/capture-admin/agents/hall', { address: '10.0.0.1', state: 'idle' }));
});
afterAll(() => app?.close());

const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(2_000)]);
const MANIFEST =
  '<mediapackage xmlns="http://mediapackage.opencastproject.org"><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>';
const PROPERTIES =
  '<?xml version="1.0"?><!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd"><properties version="1.0"><entry key="capture.device.names">cam,screen</entry></properties>';

const get = async (path: string) => ok(await agent.send('GET', path));
const json = async (path: string) => JSON.parse(await get(path));
const refused = async (path: string, status: number) =>
  expect(await agent.send('GET', path), path).toMatchObject({ status });
const withTrack = async () => ok(await agent.addTrack(await agent.create(), CAMERA));
const zip = () =>
  zipOf([
    { name: 'manifest.xml', content: MANIFEST },
    { name: 'a.mp4', content: CAMERA },
  ]);
const WORKFLOW = /^<\?xml [^>]*>\s*<wf:workflow id="\d+" .*<mp:mediapackage id="/s;

test('GET /services/available.json: pyCA, Galicaster, Extron', async () => {
  for (const type of ['capture.admin', 'scheduler', 'ingest', 'search']) {
    const path = `/services/available.json?serviceType=org.opencastproject.${type}`;
    // Storage and database have two seconds to answer, which a busy machine may take.
    const { service } = (await eventually(() => json(path))).services;
    expect(service).toMatchObject({ active: true, online: true, host: 'http://inlet.test' });
    expect(service.path).toMatch(/^\/[a-z-]+$/);
  }
  await refused('/services/available.json', 400);
});

test('GET /services/services.json: PHP', async () => {
  const found = await json('/services/services.json?serviceType=org.opencastproject.ingest');
  expect(found.services.service).toMatchObject({
    ...{ type: 'org.opencastproject.ingest', host: 'http://inlet.test', path: '/ingest' },
    ...{ active: true, online: true, maintenance: false, jobproducer: true, service_state: 'NORMAL' },
    ...{ error_state_trigger: 0, warning_state_trigger: 0 },
    ...{ onlinefrom: expect.any(String), state_changed: expect.any(String) },
  });
  for (const [type, path] of [
    ['external.events', '/api/events'],
    ['external.workflows.instances', '/api/workflows'],
    ['workflow', '/workflow'],
    ['series', '/series'],
  ]) {
    const { service } = (await json(`/services/services.json?serviceType=org.opencastproject.${type}`))
      .services;
    expect(service).toMatchObject({ path, host: 'http://inlet.test', active: true, online: true });
  }
  const external = await json('/services/services.json?serviceType=org.opencastproject.external');
  expect(external.services.service).toMatchObject([{ path: '/api' }, { path: '/api/series' }]);
  await refused('/services/services.json?serviceType=org.opencastproject.composer', 404);
});

test('GET /services/hosts.json: Extron', async () => {
  expect((await json('/services/hosts.json')).hosts.host).toMatchObject({
    ...{ base_url: 'http://inlet.test', address: expect.any(String), node_name: expect.any(String) },
    ...{ memory: expect.any(Number), cores: expect.any(Number), max_load: expect.any(Number) },
    ...{ online: true, active: true, maintenance: false },
  });
});

test('POST /capture-admin/agents/{name}: multipart of pyCA, urlencoded of Galicaster', async () => {
  const said = 'pyca 1 set to capturing';
  const parts = [field('address', 'http://pyca.test'), field('state', 'capturing')];
  expect(ok(await agent.post('/capture-admin/agents/pyca%201', parts))).toBe(said);
  for (const state of ['idle', 'shutting_down', 'uploading', 'unknown', 'offline', 'error']) {
    expect(ok(await agent.urlencoded('/capture-admin/agents/gc', { address: '10.0.0.1', state }))).toBe(
      `gc set to ${state}`,
    );
  }
  const unknown = await agent.urlencoded('/capture-admin/agents/gc', { state: 'flying' });
  expect(unknown).toMatchObject({ status: 400 });
});

test('POST /capture-admin/agents/{name}/configuration: Galicaster, Extron, scripts', async () => {
  const path = '/capture-admin/agents/hall/configuration';
  const echoed = ok(await agent.urlencoded(path, { configuration: PROPERTIES }));
  expect(echoed).toContain('<entry key="capture.device.names">cam,screen</entry>');
  ok(await agent.post(path, [field('configuration', '{"capture.device.names": "Channel A,Channel B"}')]));
  const inputs = (await (await app.request('/api/agents/hall')).json()) as { inputs: string[] };
  expect(inputs.inputs).toEqual(['Channel A', 'Channel B']);
  for (const configuration of ['', ' ', '{"a":', '<properties>']) {
    expect(await agent.urlencoded(path, { configuration })).toMatchObject({ status: 400 });
  }
});

test('GET /capture-admin/agents…: displays and scripts', async () => {
  expect(await json('/capture-admin/agents/hall.json')).toMatchObject({
    'agent-state-update': {
      ...{ name: 'hall', state: 'idle', url: '10.0.0.1' },
      'time-since-last-update': expect.any(Number),
      capabilities: { item: expect.any(Array) },
    },
  });
  expect((await json('/capture-admin/agents.json')).agents.agent).toContainEqual(
    expect.objectContaining({ name: 'hall' }),
  );
  for (const path of ['agents', 'agents/hall', 'agents/hall/capabilities', 'agents/hall/configuration']) {
    const answer = await json(`/capture-admin/${path}.json`);
    if (/(capabilities|configuration)$/.test(path)) {
      expect(answer['properties-response'].properties.item).toContainEqual({
        key: 'capture.device.names',
        value: 'Channel A,Channel B',
      });
    }
    expect(await get(`/capture-admin/${path}.xml`)).toMatch(/^<\?xml /);
    if (path !== 'agents') await refused(`/capture-admin/${path.replace('hall', 'nobody')}.json`, 404);
  }
});

test('DELETE /capture-admin/agents/{name}: scripts', async () => {
  ok(await agent.urlencoded('/capture-admin/agents/old', { state: 'offline' }));
  expect(await agent.send('DELETE', '/capture-admin/agents/old')).toMatchObject({ status: 200 });
  expect(await agent.send('DELETE', '/capture-admin/agents/old')).toMatchObject({ status: 404 });
});

test('POST /capture-admin/recordings/{id}: pyCA, Galicaster, Extron', async () => {
  const path = `/capture-admin/recordings/${eventId}`;
  expect(ok(await agent.post(path, [field('state', 'capturing')]))).toBe(`${eventId} set to capturing`);
  ok(await agent.urlencoded(path, { state: 'capture_error' }));
  expect(await agent.urlencoded(path, { state: 'flying' })).toMatchObject({ status: 400 });
  const nobody = await agent.urlencoded('/capture-admin/recordings/nobody', { state: 'capturing' });
  expect(nobody).toMatchObject({ status: 404 });
});

test('GET and DELETE /capture-admin/recordings…: scripts', async () => {
  expect(await get('/capture-admin/recordings')).toContain(`<id>${eventId}</id>`);
  expect((await json(`/capture-admin/recordings/${eventId}.json`))['recording-state-update']).toMatchObject({
    ...{ id: eventId, state: 'capture_error' },
  });
  expect(await get(`/capture-admin/recordings/${eventId}.xml`)).toContain('<state>capture_error</state>');
  ok(await agent.send('DELETE', `/capture-admin/recordings/${eventId}`));
});

test('GET /recordings/calendars: pyCA, Galicaster, Extron', async () => {
  const path = '/recordings/calendars?agentid=hall';
  const ask = (tag: string) => app.request(path, { headers: { 'If-None-Match': tag } }) as Promise<Response>;
  const first = await ask('-1');
  expect([first.status, first.headers.get('Content-Type')]).toEqual([200, 'text/calendar; charset=UTF-8']);
  expect(await first.text()).toContain(`UID:${eventId}\r\n`);
  expect((await ask(first.headers.get('ETag') ?? '')).status).toBe(304);
  expect(await get('/recordings/calendars?agentid=nobody')).toMatch(/^BEGIN:VCALENDAR\r\n/);
});

test('GET /recordings/calendar.json: displays', async () => {
  const cutoff = Date.parse('2032-01-01');
  const [event] = await json(`/recordings/calendar.json?agentid=hall&cutoff=${cutoff}&timestamp=true`);
  expect(event.data).toMatchObject({
    ...{ startDate: Date.parse('2031-01-07T09:00Z'), endDate: Date.parse('2031-01-07T10:00Z') },
    agentConfig: { 'event.title': expect.any(String) },
  });
});

test('GET /ingest/createMediaPackage and PUT …WithID/{id}: all', async () => {
  expect(await get('/ingest/createMediaPackage')).toMatch(/<mediapackage id="/);
  const chosen = ok(await agent.send('PUT', '/ingest/createMediaPackageWithID/of-mine'));
  expect(packageId(chosen)).toBe('of-mine');
});

const CUTTING =
  '<smil xmlns="http://www.w3.org/ns/SMIL"><body><par><video clipBegin="1s" clipEnd="2s"/></par></body></smil>';
test.each([
  ['addTrack', 'track', 'presenter/source', file('BODY1', 'a.mp4', CAMERA)],
  ['addPartialTrack', 'track', 'presenter/source', file('BODY', 'a.mp4', CAMERA)],
  ['addCatalog', 'catalog', 'smil/cutting', file('BODY', 'cutting.smil', Buffer.from(CUTTING))],
  ['addAttachment', 'attachment', 'presenter/notes', file('BODY', 'notes.pdf', Buffer.from('%PDF-1.4'))],
] as const)('POST /ingest/%s: all', async (route, kind, flavor, body) => {
  const path = `/ingest/${route}`;
  const mediaPackage = await agent.create();
  const [echo, sort] = [field('mediaPackage', mediaPackage), field('flavor', flavor)];
  expect(ok(await agent.post(path, [echo, sort, body]))).toMatch(new RegExp(`<${kind} id="[^"]+"`));
  const unread = [field('mediaPackage', 'none'), sort, body];
  expect(await agent.post(path, unread)).toMatchObject({ status: 400 });
  expect(await agent.post(path, [echo, body, sort])).toMatchObject({ status: 400 });
  const inside = { mediaPackage, flavor, url: 'http://169.254.169.254/a.mp4' };
  expect(await agent.urlencoded(path, inside)).toMatchObject({ status: 400 });
});

test('POST /ingest/addDCCatalog: pyCA, Studio, scripts without a flavor', async () => {
  const dublinCore = episode({ title: 'Algebra' });
  const parts = [field('mediaPackage', await agent.create()), field('dublinCore', dublinCore)];
  const xml = ok(await agent.post('/ingest/addDCCatalog', parts));
  expect(xml).toMatch(/<catalog id="[^"]+" type="dublincore\/episode"/);
  const none = { mediaPackage: xml, dublinCore: 'none' };
  expect(await agent.urlencoded('/ingest/addDCCatalog', none)).toMatchObject({ status: 400 });
});

test.each(['/ingest/ingest', '/ingest/ingest/', '/ingest/ingest/fast'])('POST %s: all', async (path) => {
  expect(ok(await agent.post(path, [field('mediaPackage', await withTrack())]))).toMatch(WORKFLOW);
  expect(ok(await agent.urlencoded(path, { mediaPackage: await withTrack() }))).toMatch(WORKFLOW);
  expect(await agent.urlencoded(path, { mediaPackage: 'error' })).toMatchObject({ status: 400 });
});

test.each(['/ingest/addMediaPackage', '/ingest/addMediaPackage/fast'])('POST %s: scripts', async (path) => {
  const [flavor, title] = [field('flavor', 'presenter/source'), field('title', 'Algebra')];
  const body = file('BODY', 'a.mp4', CAMERA);
  expect(ok(await agent.post(path, [flavor, body, title]))).toMatch(WORKFLOW);
  for (const parts of [
    [flavor, body],
    [flavor, title],
    [body, title],
  ]) {
    expect(await agent.post(path, parts)).toMatchObject({ status: 400 });
  }
});

test.each(['/ingest/addZippedMediaPackage', '/ingest/addZippedMediaPackage/fast'])(
  'POST %s: Galicaster',
  async (path) => {
    const parts = [field('workflowInstanceId', 'gone'), file('track', 'mediaPackage.zip', zip())];
    expect(ok(await agent.post(path, parts))).toMatch(WORKFLOW);
    const raw = { headers: { 'Content-Type': 'application/zip' }, body: Uint8Array.from(zip()) };
    expect(ok(await agent.send('POST', path, raw))).toMatch(WORKFLOW);
    expect(await agent.post(path, [file('track', 'mediaPackage.zip', CAMERA)])).toMatchObject({
      status: 400,
    });
  },
);

test.each([
  ['/ingest/schedule', 'a'],
  ['/ingest/schedule/fast', 'b'],
])('POST %s: pyCA, scripts', async (path, spatial) => {
  const temporal = 'start=2031-01-08T10:00Z; end=2031-01-08T11:00Z; scheme=W3C-DTF;';
  const terms = { title: 'Now', spatial, temporal };
  const xml = async () => ok(await agent.addDublinCore(await agent.create(), terms));
  const answer = await agent.post(path, [field('mediaPackage', await xml())]);
  expect(answer).toEqual({ status: 201, text: '' });
  expect(await agent.post(path, [field('mediaPackage', await xml())])).toMatchObject({ status: 409 });
  const empty = await agent.post(path, [field('mediaPackage', await agent.create())]);
  expect(empty).toMatchObject({ status: 400 });
});

test('POST /ingest/discardMediaPackage: Tobira', async () => {
  const mediaPackage = await withTrack();
  ok(await agent.post('/ingest/discardMediaPackage', [field('mediaPackage', mediaPackage)]));
  expect((await agent.ingest(mediaPackage)).status).toBe(404);
});

test('GET /info/me.json, /info/health, /info/components.json, /sysinfo/bundles/version', async () => {
  expect(await (await app.anonymous('/info/me.json')).json()).toMatchObject({
    ...{ user: { username: 'anonymous' }, roles: ['ROLE_ANONYMOUS'] },
  });
  expect(await json('/info/me.json')).toMatchObject({
    ...{ org: { id: expect.any(String), name: expect.any(String) }, userRole: 'ROLE_USER_HALL' },
    roles: expect.arrayContaining(['ROLE_CAPTURE_AGENT', 'ROLE_USER_HALL']),
    user: {
      username: 'hall',
      name: expect.any(String),
      email: expect.any(String),
      provider: expect.any(String),
    },
  });
  expect(Number.parseInt((await json('/info/health')).releaseId, 10)).toBeGreaterThanOrEqual(6);
  expect((await json('/info/components.json')).rest[0].version).toEqual(expect.any(String));
  expect(await json('/sysinfo/bundles/version')).toMatchObject({ consistent: true });
});

test('GET /studio-api/series.json and /lti: Studio', async () => {
  expect(await json('/studio-api/series.json')).toEqual(expect.any(Array));
  expect(await json('/lti')).toEqual({});
});

test('GET /series/count, POST /series/, GET /admin-ng/series/series.json, /workflow/definitions.json, /search/episode.json', async () => {
  const fields = { title: 'Analysis', identifier: 'analysis', publisher: 'x' };
  const admin = new Recorder(app);
  expect((await admin.urlencoded('/series/', fields)).status).toBe(201);
  expect((await admin.urlencoded('/series/', fields)).status).toBe(204);
  expect((await agent.urlencoded('/series/', fields)).status).toBe(403);
  expect(Number(await get('/series/count'))).toBeGreaterThan(0);
  const series = await json('/admin-ng/series/series.json?offset=0&limit=500');
  expect(series).toMatchObject({ count: expect.any(Number) });
  expect(series.results).toContainEqual(
    expect.objectContaining({ id: 'analysis', title: 'Analysis', creation_date: expect.any(String) }),
  );
  const [definition] = (await json('/workflow/definitions.json')).definitions.definition;
  expect([definition.tags.tag].flat()).toEqual(expect.any(Array));
  expect((await json(`/search/episode.json?id=${eventId}`))['search-results'].total).toBe(0);
});
