import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openUrl } from '#opencast/packages/fetch-url.ts';
import { ownApp, workerApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { field, file, type Part } from '../support/form.ts';
import {
  episode,
  movie,
  ok,
  packageId,
  packageRows,
  Recorder,
  refusal,
  unique,
  workflowId,
} from '../support/packages.ts';
import { parseAsPyca } from '../support/pyca.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { storageWith } from '../support/storage-with.ts';
import { operationsOf } from '../support/workflows.ts';

/** Media packages as agents, recorders, Studio and scripts send them. */
const app = await workerApp();
const CAMERA = movie(300_000);
const SLIDES = movie(2_000);
const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const FLAVOR = field('flavor', 'presenter/source');
const { count, read, tracks, workflows, storesNothing } = packageRows(app);

const pyca = new Recorder(app);
const client = async (role: string) => new Recorder(app, await app.account(unique('client'), role));
const event = (id: string) => read(`/api/events/${id}?withacl=true`);
const scheduled = (title = 'Algebra I') => schedule(app, { agent_id: newAgent(), start: START, end: END }, title);
const changeSchedule = (id: string, values: Record<string, unknown>) =>
  app.database.updateTable('schedules').set(values).where('event_id', '=', id).execute();
/** The event that a package with one track becomes. */
const deliver = async (content: Uint8Array, fields: Record<string, string> = {}, by = pyca) =>
  packageId(ok(await by.ingest(await by.withTrack(content), fields)));

describe('as pyCA records', () => {
  test('rule 12: workflowInstanceId is the event of the calendar, and the package is thrown away', async () => {
    const id = await scheduled();
    const agent = await client('ROLE_CAPTURE_AGENT');
    const staged = await count('staging');
    let xml = await agent.create();
    expect(xml).toMatch(/<mediapackage id="[0-9a-f-]{36}" /);
    const throwAway = packageId(xml);
    xml = ok(await agent.addTrack(xml, CAMERA));
    expect(xml).toMatch(/<track id="[0-9a-f-]{36}"/);
    expect(xml).toContain('type="presenter/source"');
    expect(xml).toMatch(/<url>http:\/\/inlet\.test\/[^<]+\/camera\.mp4<\/url>/);
    xml = ok(await agent.addTrack(xml, SLIDES, 'presentation/source'));
    const events = await count('events');
    const fields = { workflowDefinitionId: 'fast', workflowInstanceId: id, flagForCutting: 'false' };
    const answer = ok(await agent.ingest(xml, fields));
    expect(await count('events')).toBe(events);
    expect(packageId(answer)).toBe(id);
    // Rule 16: programs that know no XML find it.
    expect(answer).toMatch(/^<\?xml [^>]*>\s*<wf:workflow id="\d+"/);
    expect(answer).toContain('xmlns:wf="http://workflow.opencastproject.org"');
    expect(answer).toContain('xmlns:mp="http://mediapackage.opencastproject.org"');
    expect(answer).toContain(`<mp:mediapackage id="${id}"`);
    expect(answer).toContain('<wf:template>fast</wf:template>');
    expect(throwAway).not.toBe(id);
    expect(await tracks(id)).toMatchObject([
      { flavor: 'presenter/source', filename: 'camera.mp4', sha256: sha256(CAMERA), size: CAMERA.length },
      { flavor: 'presentation/source', sha256: sha256(SLIDES) },
    ]);
    expect(await workflows(id)).toMatchObject([
      { id: workflowId(answer), definition: 'fast', configuration: { flagForCutting: 'false' } },
    ]);
    expect(await event(id)).toMatchObject({ title: 'Algebra I', processing_state: 'INSTANTIATED' });
    expect(await count('staging')).toBe(staged);
  });

  test('a repeated ingest of the same package answers as the first did', async () => {
    const id = await scheduled();
    const xml = await pyca.withTrack(CAMERA);
    const ingest = async () => workflowId(ok(await pyca.ingest(xml, { workflowInstanceId: id })));
    const [first, second] = await Promise.all([ingest(), ingest()]);
    expect([second, await ingest()]).toEqual([first, first]);
    expect(await tracks(id)).toHaveLength(1);
    expect(await workflows(id)).toHaveLength(1);
  });

  test('rule 13: an unknown workflow stands for the usual one', async () => {
    const answer = await pyca.ingest(await pyca.withTrack(CAMERA), { workflowDefinitionId: 'full' });
    expect(ok(answer)).toContain('<wf:template>schedule-and-upload</wf:template>');
  });

  test('rule 11: ingest answers without having looked into the recording', async () => {
    const id = await deliver(Buffer.from('This is no recording.'));
    const [workflow] = await workflows(id);
    const [first] = await operationsOf(app.database, workflow?.id ?? 0);
    expect(first).toMatchObject({ operation: 'inspect', state: 'ready' });
  });

  test('an event that was deleted while it was recorded does not cost the recording', async () => {
    const xml = await pyca.withTrack(CAMERA);
    const id = packageId(ok(await pyca.ingest(xml, { workflowInstanceId: 'gone-since' })));
    expect(id).toBe(packageId(xml));
    expect(await event(id)).toMatchObject({ processing_state: 'INSTANTIATED' });
  });

  test('the schedule keeps its configuration below what an agent sends that has reported how far it is', async () => {
    const id = await scheduled();
    const configuration = JSON.stringify({ a: 'schedule', b: 'schedule' });
    await changeSchedule(id, { configuration, workflow: 'fast', recording_state: 'uploading' });
    await deliver(CAMERA, { workflowInstanceId: id, 'org.opencastproject.workflow.config.b': 'agent' });
    const merged = { a: 'schedule', b: 'agent' };
    expect(await workflows(id)).toMatchObject([{ definition: 'fast', configuration: merged }]);
  });

  test('what an agent has read of the calendar does not overwrite what people have changed since', async () => {
    const id = await scheduled('New title');
    const xml = ok(await pyca.addDublinCore(await pyca.withTrack(CAMERA), { title: 'Old title' }));
    ok(await pyca.ingest(xml, { workflowInstanceId: id }));
    expect(await event(id)).toMatchObject({ title: 'New title' });
  });
});

describe('a second recording of an event', () => {
  test('becomes an event of its own, and the same files sent again do not', async () => {
    const id = await scheduled();
    const staged = await count('staging');
    const again = (content: Uint8Array) => deliver(content, { workflowInstanceId: id });
    expect(await again(CAMERA)).toBe(id);
    expect(await again(CAMERA)).toBe(id);
    const second = await again(SLIDES);
    expect(second).not.toBe(id);
    expect(await again(SLIDES)).toBe(second);
    const third = await again(Buffer.concat([SLIDES, SLIDES]));
    expect(await event(second)).toMatchObject({ title: 'Algebra I (part 2)' });
    expect(await event(third)).toMatchObject({ title: 'Algebra I (part 3)' });
    expect(await tracks(id)).toHaveLength(1);
    // What came twice is left to the sweep.
    expect(await count('staging')).toBe(staged + 2);
  });

  test('two that come at once lose nothing', async () => {
    const id = await scheduled();
    const packages = await Promise.all([CAMERA, SLIDES].map((content) => pyca.withTrack(content)));
    const answers = await Promise.all(packages.map((xml) => pyca.ingest(xml, { workflowInstanceId: id })));
    const ids = answers.map((answer) => packageId(ok(answer)));
    expect(new Set(ids).size).toBe(2);
    expect(ids).toContain(id);
    for (const each of ids) expect(await tracks(each)).toHaveLength(1);
  });
});

describe('drafts', () => {
  test('rule 4 and #17: tracks may come at once, and again, without doubling', async () => {
    const xml = await pyca.create();
    const contents = [1, 2, 3, 4].map((n) => Buffer.concat([SLIDES, bytes(n)]));
    const both = [...contents, ...contents];
    for (const answer of await Promise.all(both.map((content) => pyca.addTrack(xml, content)))) ok(answer);
    const id = packageId(ok(await pyca.ingest(xml)));
    expect((await tracks(id)).map((track) => track.sha256).sort()).toEqual(contents.map(sha256).sort());
  });

  test('a package of another account is not there, whatever is sent of it', async () => {
    const [mine, other] = [await client('ROLE_CAPTURE_AGENT'), await client('ROLE_CAPTURE_AGENT')];
    const xml = await mine.withTrack(CAMERA);
    await storesNothing(async () => {
      for (const answer of [
        await other.addTrack(xml, SLIDES),
        await other.addDublinCore(xml, { title: 'x' }),
        await other.ingest(xml),
        await other.post('/ingest/discardMediaPackage', [field('mediaPackage', xml)]),
        await other.post('/ingest/schedule', [field('mediaPackage', xml)]),
      ]) {
        expect(answer).toMatchObject({ status: 404 });
      }
    });
    ok(await mine.ingest(xml));
  });

  test('forged elements and addresses in what is sent back count for nothing', async () => {
    const track = '<track id="x" type="presenter/source"><url>file:///etc/passwd</url></track>';
    const forged = (await pyca.withTrack(CAMERA))
      .replace(/<media>.*<\/media>/, `<media>${track}</media>`)
      .replaceAll(/<(\/?)(?!\?)/g, '<$1ns2:');
    const id = packageId(ok(await pyca.ingest(forged)));
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(CAMERA) }]);
  });

  test('what is given up is gone, with its files; nothing can be added to what has been ingested', async () => {
    const xml = await pyca.withTrack(CAMERA);
    expect((await pyca.urlencoded('/ingest/discardMediaPackage', { mediaPackage: xml })).status).toBe(200);
    expect(await pyca.ingest(xml)).toMatchObject({ status: 404 });
    const draft = app.database.selectFrom('drafts').select('id').where('id', '=', packageId(xml));
    expect(await draft.execute()).toEqual([]);
    const ingested = await pyca.withTrack(CAMERA);
    ok(await pyca.ingest(ingested));
    expect(await pyca.addTrack(ingested, SLIDES)).toMatchObject({ status: 409 });
  });

  test('none is begun by HEAD, or for a page of another site', async () => {
    const ask = (method: string, headers = {}) => pyca.send(method, '/ingest/createMediaPackage', { headers });
    await storesNothing(async () => {
      expect(await ask('HEAD')).toEqual({ status: 200, text: '' });
      for (const method of ['GET', 'HEAD']) {
        expect((await ask(method, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
        expect((await ask(method, { Origin: 'https://elsewhere.example.org' })).status).toBe(403);
      }
    });
    expect((await ask('GET', { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });

  test('a chosen identifier is that of the event, and may be asked for again', async () => {
    const id = unique('chosen.one');
    const put = () => pyca.send('PUT', `/ingest/createMediaPackageWithID/${id}`);
    const xml = ok(await put());
    expect(packageId(xml)).toBe(id);
    ok(await pyca.addTrack(xml, CAMERA));
    expect(ok(await put())).toContain('<track ');
    expect(packageId(ok(await pyca.ingest(xml)))).toBe(id);
    expect((await pyca.send('PUT', '/ingest/createMediaPackageWithID/a%2Fb')).status).toBe(400);
  });
});

describe('elements', () => {
  const CUTTING =
    '<smil xmlns="http://www.w3.org/ns/SMIL"><body><par><video clipBegin="1s" clipEnd="2s"/></par></body></smil>';

  test.each([
    ['addTrack', 'track', 'presenter/source', file('track', 'a.mp4', CAMERA)],
    ['addPartialTrack', 'track', 'presenter/source', file('a.mp4', 'a.mp4', CAMERA)],
    ['addCatalog', 'catalog', 'smil/cutting', file('BODY', 'cutting.smil', Buffer.from(CUTTING))],
    ['addAttachment', 'attachment', 'presenter/notes', file('BODY', 'notes.pdf', Buffer.from('%PDF-1.4'))],
  ] as const)('POST /ingest/%s: all', async (route, kind, flavor, body) => {
    const path = `/ingest/${route}`;
    const mediaPackage = await pyca.create();
    const [echo, sort] = [field('mediaPackage', mediaPackage), field('flavor', flavor)];
    const answer = ok(await pyca.post(path, [echo, sort, body]));
    expect(answer).toMatch(new RegExp(`<${kind} id="[^"]+"`));
    if (kind === 'track') expect(answer).toContain('/a.mp4</url>');
    for (const [parts, sentence] of [
      [[field('mediaPackage', 'none'), sort, body], ''],
      [[echo, body, sort], "'flavor'"],
      [[echo, field('flavor', 'presenter'), body], '"presenter"'],
      [[echo, sort], 'no part with a file'],
      [[echo, sort, field('BODY', 'text')], 'no part with a file'],
      [[echo, sort, field('url', 'http://169.254.169.254/a.mp4')], 'INGEST_URL_HOSTS'],
    ] as const) {
      expect(await pyca.post(path, parts)).toMatchObject(refusal(400, sentence));
    }
  });

  test('two catalogs in parts of one name are two', async () => {
    const xml = ok(
      await pyca.post('/ingest/addCatalog', [
        field('mediaPackage', await pyca.create()),
        field('flavor', 'dublincore/episode'),
        file('BODY', 'episode.xml', Buffer.from(episode({ title: 'First' }))),
        field('flavor', 'some/other'),
        file('BODY', 'other.xml', Buffer.from('<other/>')),
      ]),
    );
    const held = app.database.selectFrom('draft_catalogs').select(['flavor', 'content']);
    expect(await held.where('draft_id', '=', packageId(xml)).orderBy('flavor').execute()).toEqual([
      { flavor: 'dublincore/episode', content: expect.stringContaining('First') },
      { flavor: 'some/other', content: expect.stringContaining('other') },
    ]);
  });
});

describe('bad packages are refused with 400, and nothing is stored', () => {
  test.each([
    ['nothing', ''],
    ['JSON', '{"id": "x"}'],
    ['another element', '<workflow id="1"/>'],
    ['no identifier', '<mediapackage/>'],
    ['an entity bomb', '<!DOCTYPE m [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><mediapackage id="&c;"/>'],
  ])('%s', async (_, mediaPackage) => {
    await storesNothing(async () => {
      expect(await pyca.ingest(mediaPackage)).toMatchObject({ status: 400 });
      expect(await pyca.addTrack(mediaPackage, CAMERA)).toMatchObject({ status: 400 });
    });
  });

  test('a package without media is no event', async () => {
    const xml = ok(await pyca.addDublinCore(await pyca.create(), { title: 'Empty' }));
    await storesNothing(async () => expect(await pyca.ingest(xml)).toMatchObject({ status: 400 }));
  });

  test('catalogs that cannot be read', async () => {
    const xml = field('mediaPackage', await pyca.create());
    const entity = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>';
    for (const text of ['', 'no XML', '<a>', entity, '<a>\0</a>', '<b/>']) {
      const answer = await pyca.post('/ingest/addDCCatalog', [xml, field('dublinCore', text)]);
      expect(answer, text).toMatchObject({ status: 400 });
    }
  });
});

describe('rule 15: dublinCore comes in three encodings', () => {
  const xml = episode({ title: 'Größe &amp; Zahl', creator: ['Ada', 'Grace'], created: '2026-11-21T10:01Z' });
  const encoded = encodeURIComponent(`\n\ufeff${xml}`);
  test.each<[string, Part | undefined]>([
    ['plain text', field('dublinCore', xml)],
    ['percent-encoded inside multipart', field('dublinCore', encodeURIComponent(xml))],
    ['percent-encoded with a line end and a mark before it', field('dublinCore', ` ${encoded}\n`)],
    ['a file', file('dublinCore', 'episode.xml', Buffer.from(xml))],
    ['urlencoded', undefined],
  ])('%s', async (_, part) => {
    const mediaPackage = await pyca.withTrack(CAMERA);
    const answer = part
      ? await pyca.post('/ingest/addDCCatalog', [field('mediaPackage', mediaPackage), part])
      : await pyca.urlencoded('/ingest/addDCCatalog', { mediaPackage, dublinCore: xml });
    expect(ok(answer)).toMatch(/<catalog id="[^"]+" type="dublincore\/episode"/);
    expect(await event(packageId(ok(await pyca.ingest(ok(answer)))))).toMatchObject({
      title: 'Größe & Zahl',
      presenter: ['Ada', 'Grace'],
      start: '2026-11-21T10:01:00Z',
    });
  });
});

describe('as Studio does', () => {
  const policy = (role: string) => {
    const value = (text: string) => `<AttributeValue>${text}</AttributeValue>`;
    const rules = ['read', 'write'].map(
      (action) =>
        `<Rule RuleId="x" Effect="Permit"><Target><Actions><Action><ActionMatch>${value(action)}</ActionMatch></Action></Actions></Target><Condition><Apply>${value(role)}</Apply></Condition></Rule>`,
    );
    return `<Policy xmlns="urn:oasis:names:tc:xacml:2.0:policy:schema:os">${rules.join('')}</Policy>`;
  };

  test('in its order, with its access control list and its names', async () => {
    const studio = await client('ROLE_STUDIO');
    let xml = await studio.create();
    const add = async (path: string, ...parts: Part[]) => {
      xml = ok(await studio.post(`/ingest/${path}`, [field('mediaPackage', xml), ...parts]));
    };
    const dublinCore = encodeURIComponent(episode({ title: 'Studio täst', spatial: 'Opencast Studio' }));
    await add('addDCCatalog', field('dublinCore', dublinCore), field('flavor', 'dublincore/episode'));
    const acl = file('BODY', 'acl.xml', Buffer.from(policy('ROLE_USER_STUDIO')));
    await add('addAttachment', field('flavor', 'security/xacml+episode'), acl);
    const video = file('BODY', '2026 - Studio täst & <upload> 100% - Dr. Ä (presenter).webm', CAMERA);
    await add('addTrack', FLAVOR, field('tags', ''), { ...video, type: 'video/webm;codecs=vp8,opus' });
    const id = packageId(ok(await studio.ingest(xml, { workflowDefinitionId: 'studio-upload' })));
    const rules = ['read', 'write'].map((action) => ({ allow: true, action, role: 'ROLE_USER_STUDIO' }));
    expect(await event(id)).toMatchObject({ title: 'Studio täst', acl: rules });
    expect((await tracks(id))[0]?.filename).toContain('Studio täst');
  });

  test('what is not given an access control list is for its account alone', async () => {
    const name = unique('private').replace('-', '_');
    const id = await deliver(CAMERA, {}, new Recorder(app, await app.account(name, 'ROLE_STUDIO')));
    const role = `ROLE_USER_${name.toUpperCase()}`;
    expect(await event(id)).toMatchObject({ acl: [{ role }, { role }] });
  });

  test('an event of somebody else cannot be recorded', async () => {
    const id = await scheduled();
    const studio = await client('ROLE_STUDIO');
    const answer = await studio.ingest(await studio.withTrack(CAMERA), { workflowInstanceId: id });
    expect(answer).toMatchObject({ status: 403 });
    expect(await tracks(id)).toEqual([]);
  });
});

describe('as scripts do in one request', () => {
  const send = (parts: Part[], workflow = '') => pyca.post(`/ingest/addMediaPackage${workflow}`, parts);
  const parts = (identifier: string, content = CAMERA) => [
    FLAVOR,
    file('BODY', 'a.mp4', content),
    field('title', 'Scripted'),
    field('creator', 'Ada'),
    field('creator', 'Grace'),
    field('acl', '{"acl":{"ace":[{"role":"ROLE_A","action":"read"}]}}'),
    field('straightToPublishing', 'false'),
    field('identifier', identifier),
  ];

  test('fields after the file, repeated creators, the identifier of the event, a workflow in the path', async () => {
    const id = unique('my-id');
    const answer = ok(await send(parts(id), '/fast'));
    expect(packageId(answer)).toBe(id);
    expect(await event(id)).toMatchObject({
      title: 'Scripted',
      presenter: ['Ada', 'Grace'],
      acl: [{ allow: true, action: 'read', role: 'ROLE_A' }],
    });
    expect(await workflows(id)).toMatchObject([
      { definition: 'fast', configuration: { straightToPublishing: 'false' } },
    ]);
    expect(workflowId(ok(await send(parts(id), '/fast')))).toBe(workflowId(answer));
    expect(await send(parts(id, SLIDES))).toMatchObject({ status: 409 });
    expect(await tracks(id)).toHaveLength(1);
  });

  test('a workflow in the path of ingest, whose form may be urlencoded', async () => {
    const fast = { mediaPackage: await pyca.withTrack(CAMERA) };
    expect(ok(await pyca.urlencoded('/ingest/ingest/fast', fast))).toContain('<wf:template>fast<');
    const usual = { mediaPackage: await pyca.withTrack(CAMERA) };
    expect(ok(await pyca.urlencoded('/ingest/ingest/', usual))).not.toContain('<wf:template>fast<');
  });

  test('the catalog names the event where no field does', async () => {
    const [catalog, chosen] = [unique('of-the-catalog'), unique('of-the-field')];
    const named = async (identifier: string, ...more: Part[]) => {
      const dublinCore = field('episodeDCCatalog', episode({ title: 'Scripted', identifier }));
      return packageId(ok(await send([FLAVOR, dublinCore, file('BODY', 'a.mp4', CAMERA), ...more])));
    };
    expect(await named(catalog)).toBe(catalog);
    expect(await named('other', field('identifier', chosen))).toBe(chosen);
    expect(await named('not/an id', field('identifier', ' '))).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('tags come together or one by one, for the track that follows', async () => {
    const answer = await send([
      ...[field('title', 'Tagged'), FLAVOR, field('tag', 'archive'), field('tags', 'a,b')],
      ...[field('tag', ' engage '), file('BODY', 'a.mp4', CAMERA)],
      ...[field('tag', 'c'), file('BODY', 'b.mp4', SLIDES)],
    ]);
    const id = packageId(ok(answer));
    expect(Object.fromEntries((await tracks(id)).map(({ filename, tags }) => [filename, tags]))).toEqual({
      'a.mp4': ['a', 'b', 'archive', 'engage'],
      'b.mp4': ['c'],
    });
    expect((await workflows(id))[0]?.configuration).not.toHaveProperty('tag');
  });

  test('two that come at once under one identifier are one event, and are answered alike', async () => {
    const id = unique('at-once');
    const answers = await Promise.all([1, 2, 3].map(() => send(parts(id))));
    expect(new Set(answers.map((answer) => workflowId(ok(answer)))).size).toBe(1);
    expect(await tracks(id)).toHaveLength(1);
    expect(await workflows(id)).toHaveLength(1);
  });

  test('fields without end are refused before they fill the memory', async () => {
    const long = field('x', 'y'.repeat(900_000));
    expect(await send(Array.from({ length: 19 }, () => long))).toMatchObject({ status: 413 });
  });

  test.each([
    ['no title', [FLAVOR, file('BODY', 'a.mp4', CAMERA)], 'title'],
    ['no media', [field('title', 'x')], 'no track'],
    ['no flavor', [file('BODY', 'a.mp4', CAMERA), field('title', 'x')], "'flavor'"],
  ])('%s is 400', async (_, sent, sentence) => {
    await storesNothing(async () => expect(await send(sent)).toMatchObject(refusal(400, sentence)));
  });

  const urlencoded = { 'Content-Type': 'application/x-www-form-urlencoded' };
  test.each([
    ['no body', {}, 'no track'],
    ['1001 fields', { body: `flavor=a/b${'&mediaUri=x'.repeat(1000)}`, headers: urlencoded }, '1000 fields'],
    ['51 addresses', { body: `flavor=a/b${'&mediaUri=x'.repeat(51)}`, headers: urlencoded }, '50 tracks'],
    ['no flavor', { body: new URLSearchParams({ mediaUri: 'http://a.test/b' }) }, "'flavor'"],
    ['JSON', { body: '{"a": 1}', headers: { 'Content-Type': 'application/json' } }, 'urlencoded'],
  ])('an urlencoded form is 400 with %s', async (_, init, sentence) => {
    expect(await pyca.send('POST', '/ingest/addMediaPackage', init)).toMatchObject(refusal(400, sentence));
  });
});

/** An application that may fetch from one host, and has room for one upload of three cameras less a byte. */
describe('by address, and with little room', async () => {
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const server = createServer(({ url }, answer) => answer.end(url === '/slides.mp4' ? SLIDES : CAMERA));
  afterAll(() => void server.close());
  const host = `127.0.0.1:${await listen(server)}`;
  const url = `http://${host}/camera.mp4`;
  let isFull = false;
  const narrow = await ownApp(
    (storage) =>
      storageWith(storage, {
        requireRoom: (bytes: number) => storage.requireRoom(isFull ? 2 ** 60 : bytes),
      }),
    { INGEST_URL_HOSTS: host, MAX_UPLOAD_BYTES: `${CAMERA.length * 3 - 1}`, MAX_PARALLEL_UPLOADS: '1' },
  );
  const fetching = new Recorder(narrow);
  const fetched = packageRows(narrow);
  const fillDisk = () => {
    isFull = true;
    onTestFinished(() => {
      isFull = false;
    });
  };

  test('a request names no more tracks than it may bring, and no more bytes', async () => {
    const send = (count: number) =>
      fetching.post('/ingest/addMediaPackage', [
        ...[FLAVOR, field('title', 'Many')],
        ...Array.from({ length: count }, () => field('mediaUri', url)),
      ]);
    expect(await send(3)).toMatchObject(refusal(413, String(CAMERA.length - 1)));
    ok(await send(2));
  });

  test('a track is fetched from a host that is named, and from no other', async () => {
    const add = async (by: Recorder, url: string) => {
      const fields = { mediaPackage: await by.create(), flavor: 'presenter/source', url };
      return by.urlencoded('/ingest/addTrack', fields);
    };
    const id = packageId(ok(await fetching.ingest(ok(await add(fetching, url)))));
    expect(await fetched.tracks(id)).toMatchObject([{ sha256: sha256(CAMERA), filename: 'camera.mp4' }]);
    for (const answer of [await add(fetching, url.replace('127.0.0.1', 'localhost')), await add(pyca, url)]) {
      expect(answer).toMatchObject(refusal(400, 'INGEST_URL_HOSTS'));
    }
  });

  test('addMediaPackage takes an urlencoded form, whose fields may be repeated', async () => {
    const body = new URLSearchParams([
      ['flavor', 'presenter/source'],
      ['mediaUri', url],
      ['flavor', 'presentation/source'],
      ['tags', 'slides'],
      ['mediaUri', `http://${host}/slides.mp4`],
      ['title', 'Fetched'],
      ['creator', 'Ada'],
      ['creator', 'Grace'],
      ['straightToPublishing', 'false'],
    ]);
    const id = packageId(ok(await fetching.send('POST', '/ingest/addMediaPackage/fast', { body })));
    const shown = await fetched.read(`/api/events/${id}`);
    expect(shown).toMatchObject({ title: 'Fetched', presenter: ['Ada', 'Grace'] });
    expect(await fetched.tracks(id)).toMatchObject([
      { flavor: 'presenter/source', sha256: sha256(CAMERA), tags: [] },
      { flavor: 'presentation/source', sha256: sha256(SLIDES), tags: ['slides'] },
    ]);
  });

  test('the last place for an upload is enough for a file that a large form names by its address', async () => {
    const answer = await fetching.post('/ingest/addTrack', [
      ...[field('mediaPackage', await fetching.create()), FLAVOR, field('url', url)],
      field('note', 'x'.repeat(100_000)),
    ]);
    expect(ok(answer)).toContain('/camera.mp4</url>');
  });

  test.each(['/ingest/addTrack', '/ingest/addMediaPackage', '/ingest/addZippedMediaPackage'])(
    '%s refuses at once what there is no room for on the disk',
    async (path) => {
      fillDisk();
      let asked = false;
      const pull = () => {
        asked = true;
      };
      const headers = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': '500000' };
      const body = new ReadableStream({ pull }, { highWaterMark: 0 });
      const init = { method: 'POST', headers, body, duplex: 'half' };
      const answer = await narrow.request(path, init as RequestInit);
      expect([answer.status, asked]).toEqual([507, false]);
    },
  );

  test('a disk without a byte left keeps no package from being ingested that has come', async () => {
    const xml = await fetching.withTrack(CAMERA);
    fillDisk();
    const post = (path: string, bytes: number, ...parts: Part[]) =>
      fetching.post(path, [field('mediaPackage', xml), ...parts], { 'Content-Length': String(bytes) });
    const track = [field('flavor', 'presentation/source'), file('BODY', 'b.mp4', CAMERA)];
    expect(await post('/ingest/addTrack', 300_000, ...track)).toMatchObject({ status: 507 });
    ok(await post('/ingest/ingest', 2_000));
  });

  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const certificate = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const { stdout: pem } = spawnSync('openssl', [...certificate, '-keyout', '-', '-out', '-', ...subject]);

  test.skipIf(!pem).each(['localhost', '127.0.0.1'])(
    'a host %s whose certificate nobody has signed is not asked',
    async (host) => {
      let requests = 0;
      const secure = createHttpsServer({ key: pem, cert: pem }, () => requests++);
      onTestFinished(() => void secure.close());
      const port = await listen(secure);
      const options = { hosts: [{ host, port }], maxBytes: 100, idleMs: 30_000 };
      await expect(openUrl(`https://${host}:${port}/`, options)).rejects.toMatchObject({
        status: 400,
        message: 'The URL cannot be fetched: the TLS connection to its host failed, or its certificate is not trusted.',
      });
      expect(requests).toBe(0);
    },
  );
});

describe('schedule', () => {
  const temporal = (start: string, end: string) => `start=${start}; end=${end}; scheme=W3C-DTF;`;
  const period = temporal('2031-01-01T10:00Z', '2031-01-01T11:00Z');
  const planned = async (terms: Record<string, string | string[]>, by = pyca) =>
    ok(await by.addDublinCore(await by.create(), { title: 'Now', ...terms }));
  const send = (xml: string, by = pyca, path = '/ingest/schedule') => by.post(path, [field('mediaPackage', xml)]);

  test('is not for people who may record alone', async () => {
    const studio = await client('ROLE_STUDIO');
    expect(await send(await studio.create(), studio)).toMatchObject({ status: 403 });
  });

  test('a package with a period and a place is an event that its agent is to record', async () => {
    const spatial = newAgent();
    const agent = await client('ROLE_CAPTURE_AGENT');
    const terms = { spatial, temporal: `\n  ${period}\n` };
    const xml = await planned(terms, agent);
    expect(await send(xml, agent)).toEqual({ status: 201, text: '' });
    expect(await send(xml, agent, '/ingest/schedule/fast')).toMatchObject({ status: 201 });
    expect(await read(`/api/events/${packageId(xml)}/scheduling`)).toEqual({
      agent_id: spatial,
      start: '2031-01-01T10:00:00Z',
      end: '2031-01-01T11:00:00Z',
    });
    expect(await send(await planned(terms, agent), agent)).toMatchObject({ status: 409 });
  });

  test('the chosen inputs are in its calendar, and not in the configuration of its workflow', async () => {
    const spatial = newAgent();
    const mediaPackage = await planned({ spatial, temporal: period });
    const choose = (inputs: string) =>
      pyca.urlencoded('/ingest/schedule', {
        mediaPackage,
        'capture.device.names': inputs,
        'org.opencastproject.workflow.config.flag': 'true',
      });
    expect(await choose('cam,a\u0007b')).toMatchObject(refusal(400, 'capture.device.names'));
    expect(await choose(' cam, screen,,cam')).toMatchObject({ status: 201 });
    const scheduling = await read(`/api/events/${packageId(mediaPackage)}/scheduling`);
    expect(scheduling).toMatchObject({ inputs: ['cam', 'screen'] });
    const calendar = await (await app.request(`/recordings/calendars?agentid=${spatial}`)).text();
    const [event] = parseAsPyca(calendar);
    const properties = event?.attach.at(-1)?.data ?? '';
    expect(properties.split('\n')).toContain('capture.device.names=cam,screen');
    expect(properties.match(/capture\.device\.names/g)).toHaveLength(1);
    expect(properties.split('\n')).toContain('org.opencastproject.workflow.config.flag=true');
  });

  test.each<[string, Record<string, string | string[]>]>([
    ['no period', { temporal: [] }],
    ['no place', { spatial: [] }],
    ['two places', { spatial: ['a', 'b'] }],
    ['an end before its start', { temporal: temporal('2031-01-01T10:00Z', '2031-01-01T09:00Z') }],
    ['a time that is over', { temporal: temporal('2026-01-01T10:00Z', '2026-01-01T11:00Z') }],
    ['a start that is not when it was created', { created: '2031-01-01T09:00Z' }],
  ])('%s is 400', async (_, terms) => {
    const answer = await send(await planned({ spatial: 'hall', temporal: period, ...terms }));
    expect(answer).toMatchObject({ status: 400 });
  });
});
