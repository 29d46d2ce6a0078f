import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { field, file, type Part } from '../support/form.ts';
import { episode, ok, packageId, Recorder, workflowId } from '../support/packages.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { storageWithPut } from '../support/storage-with-put.ts';

const bench = EventBench.forThisFile();
const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(300_000)]);
const SLIDES = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(2_000)]);
const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';

const recorder = (authorization?: string) => new Recorder(bench.app, authorization);
const agent = async (name: string) => recorder(await bench.app.account(name, 'ROLE_CAPTURE_AGENT'));
const event = (id: string) => bench.read(`/api/events/${id}?withacl=true`);
const rows = (table: 'drafts' | 'draft_tracks' | 'staging' | 'events') =>
  bench.app.database.selectFrom(table).selectAll().execute() as Promise<Record<string, unknown>[]>;
const tracks = (id: string) => bench.tracks(id);
const workflows = (id: string) => bench.workflows(id);
const scheduled = (more: Record<string, unknown> = {}, title = 'Algebra I') =>
  schedule(bench.app, { agent_id: newAgent(), start: START, end: END, ...more }, title);

describe('as pyCA records', () => {
  test('rule 12: workflowInstanceId is the event of the calendar, and the package is thrown away', async () => {
    const id = await scheduled();
    const pyca = await agent('pyca-1');
    let xml = await pyca.create();
    expect(xml).toMatch(/<mediapackage id="[0-9a-f-]{36}" /);
    const throwAway = packageId(xml);
    xml = ok(await pyca.addTrack(xml, CAMERA));
    expect(xml).toContain('<track id="');
    expect(xml).toContain('type="presenter/source"');
    expect(xml).toMatch(/<url>http:\/\/inlet\.test\/[^<]+\/camera\.mp4<\/url>/);
    xml = ok(await pyca.addTrack(xml, SLIDES, 'presentation/source'));
    const before = await rows('events');
    const answer = ok(
      await pyca.ingest(xml, {
        workflowDefinitionId: 'fast',
        workflowInstanceId: id,
        flagForCutting: 'false',
      }),
    );
    expect(await rows('events')).toHaveLength(before.length);
    expect(packageId(answer)).toBe(id);
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
    expect(await rows('staging')).toEqual([]);
  });

  test('a repeated ingest of the same package answers as the first did', async () => {
    const id = await scheduled();
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    const [first, second] = await Promise.all([1, 2].map(() => pyca.ingest(xml, { workflowInstanceId: id })));
    const third = await pyca.ingest(xml, { workflowInstanceId: id });
    expect([first?.status, second?.status, third.status]).toEqual([200, 200, 200]);
    expect(new Set([first, second, third].map((answer) => workflowId(answer?.text ?? ''))).size).toBe(1);
    expect(await tracks(id)).toHaveLength(1);
    expect(await workflows(id)).toHaveLength(1);
  });

  test('rule 13: an unknown workflow stands for the usual one', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    expect(ok(await pyca.ingest(xml, { workflowDefinitionId: 'full' }))).toContain(
      '<wf:template>schedule-and-upload</wf:template>',
    );
  });

  test('an event that was deleted while it was recorded does not cost the recording', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    const answer = ok(await pyca.ingest(xml, { workflowInstanceId: 'gone-since' }));
    expect(await event(packageId(answer))).toMatchObject({ processing_state: 'INSTANTIATED' });
    expect(packageId(answer)).toBe(packageId(xml));
  });

  test('the schedule keeps its configuration below what the agent sends', async () => {
    const id = await scheduled();
    await bench.app.database
      .updateTable('schedules')
      .set({ configuration: JSON.stringify({ a: 'schedule', b: 'schedule' }), workflow: 'fast' })
      .where('event_id', '=', id)
      .execute();
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    ok(await pyca.ingest(xml, { workflowInstanceId: id, 'org.opencastproject.workflow.config.b': 'agent' }));
    expect(await workflows(id)).toMatchObject([
      { definition: 'fast', configuration: { a: 'schedule', b: 'agent' } },
    ]);
  });

  test('what an agent has read of the calendar does not overwrite what people have changed since', async () => {
    const id = await scheduled({}, 'New title');
    const pyca = recorder();
    let xml = ok(await pyca.addDublinCore(await pyca.create(), { title: 'Old title' }));
    xml = ok(await pyca.addTrack(xml, CAMERA));
    ok(await pyca.ingest(xml, { workflowInstanceId: id }));
    expect(await event(id)).toMatchObject({ title: 'New title' });
  });

  test('a recording comes in whose agent has reported how far it is', async () => {
    const id = await scheduled();
    await bench.app.database
      .updateTable('schedules')
      .set({ recording_state: 'uploading' })
      .where('event_id', '=', id)
      .execute();
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    ok(await pyca.ingest(xml, { workflowInstanceId: id }));
    expect(await tracks(id)).toHaveLength(1);
  });
});

describe('a second recording of an event', () => {
  test('becomes an event of its own, and the same files sent again do not', async () => {
    const id = await scheduled();
    const pyca = recorder();
    const deliver = async (content: Uint8Array) => {
      const xml = ok(await pyca.addTrack(await pyca.create(), content));
      return packageId(ok(await pyca.ingest(xml, { workflowInstanceId: id })));
    };
    expect(await deliver(CAMERA)).toBe(id);
    expect(await deliver(CAMERA)).toBe(id);
    const second = await deliver(SLIDES);
    expect(second).not.toBe(id);
    expect(await deliver(SLIDES)).toBe(second);
    const third = await deliver(Buffer.concat([SLIDES, SLIDES]));
    expect(await event(second)).toMatchObject({ title: 'Algebra I (part 2)' });
    expect(await event(third)).toMatchObject({ title: 'Algebra I (part 3)' });
    expect(await tracks(id)).toHaveLength(1);
    expect(await rows('staging')).toMatchObject([{ owner: null }, { owner: null }]);
  });

  test('two that come at once lose nothing', async () => {
    const id = await scheduled();
    const pyca = recorder();
    const packages = await Promise.all(
      [CAMERA, SLIDES].map(async (content) => ok(await pyca.addTrack(await pyca.create(), content))),
    );
    const answers = await Promise.all(packages.map((xml) => pyca.ingest(xml, { workflowInstanceId: id })));
    const ids = answers.map((answer) => packageId(ok(answer)));
    expect(new Set(ids).size).toBe(2);
    expect(ids).toContain(id);
    for (const each of ids) expect(await tracks(each)).toHaveLength(1);
  });
});

describe('drafts', () => {
  test('rule 4 and #17: tracks may come at once, and again, without doubling', async () => {
    const pyca = recorder();
    const xml = await pyca.create();
    const contents = [1, 2, 3, 4].map((n) => Buffer.concat([CAMERA, bytes(n)]));
    const answers = await Promise.all(
      [...contents, ...contents].map((content) => pyca.addTrack(xml, content)),
    );
    for (const answer of answers) expect(answer.status).toBe(200);
    const id = packageId(ok(await pyca.ingest(xml)));
    expect((await tracks(id)).map((track) => track.sha256).sort()).toEqual(contents.map(sha256).sort());
  });

  test('a package of another account is not there, whatever is sent of it', async () => {
    const [mine, other] = [await agent('owner'), await agent('thief')];
    const xml = ok(await mine.addTrack(await mine.create(), CAMERA));
    const before = await rows('events');
    for (const answer of [
      await other.addTrack(xml, SLIDES),
      await other.addDublinCore(xml, { title: 'x' }),
      await other.ingest(xml),
      await other.post('/ingest/discardMediaPackage', [field('mediaPackage', xml)]),
      await other.post('/ingest/schedule', [field('mediaPackage', xml)]),
    ]) {
      expect(answer).toMatchObject({ status: 404 });
    }
    expect(await rows('events')).toEqual(before);
    ok(await mine.ingest(xml));
  });

  test('forged elements and addresses in what is sent back count for nothing', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    const forged = xml.replace(
      /<media>.*<\/media>/,
      '<media><track id="x" type="presenter/source"><url>file:///etc/passwd</url></track></media>',
    );
    const id = packageId(
      ok(
        await pyca.ingest(
          forged.replaceAll('<', '<ns2:').replaceAll('<ns2:/', '</ns2:').replace('<ns2:?', '<?'),
        ),
      ),
    );
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(CAMERA) }]);
  });

  test('what is given up is gone, with its files', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    expect((await pyca.urlencoded('/ingest/discardMediaPackage', { mediaPackage: xml })).status).toBe(200);
    expect(await pyca.ingest(xml)).toMatchObject({ status: 404 });
    expect(
      await bench.app.database.selectFrom('drafts').select('id').where('id', '=', packageId(xml)).execute(),
    ).toEqual([]);
  });

  test('nothing can be added to what has been ingested', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    ok(await pyca.ingest(xml));
    expect(await pyca.addTrack(xml, SLIDES)).toMatchObject({ status: 409 });
  });

  test('none is begun by HEAD, or for a page of another site', async () => {
    const pyca = recorder();
    const drafts = () => bench.app.database.selectFrom('drafts').select('id').orderBy('id').execute();
    const before = await drafts();
    const ask = (method: string, headers = {}) =>
      pyca.send(method, '/ingest/createMediaPackage', { headers });
    expect(await ask('HEAD')).toEqual({ status: 200, text: '' });
    for (const method of ['GET', 'HEAD']) {
      expect((await ask(method, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
      expect((await ask(method, { Origin: 'https://elsewhere.example.org' })).status).toBe(403);
    }
    expect(await drafts()).toEqual(before);
    expect((await ask('GET', { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });

  test('a chosen identifier is that of the event, and may be asked for again', async () => {
    const pyca = recorder();
    const put = () => pyca.send('PUT', '/ingest/createMediaPackageWithID/chosen.one');
    const xml = ok(await put());
    expect(packageId(xml)).toBe('chosen.one');
    ok(await pyca.addTrack(xml, CAMERA));
    expect(ok(await put())).toContain('<track ');
    expect(packageId(ok(await pyca.ingest(xml)))).toBe('chosen.one');
    expect((await pyca.send('PUT', '/ingest/createMediaPackageWithID/a%2Fb')).status).toBe(400);
  });
});

describe('bad packages are refused with 400, and nothing is stored', () => {
  test.each([
    ['nothing', ''],
    ['the text of an error', 'Internal server error; the log has the details'],
    ['JSON', '{"id": "x"}'],
    ['another element', '<workflow id="1"/>'],
    ['no identifier', '<mediapackage/>'],
    ['an entity bomb', '<!DOCTYPE m [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><mediapackage id="&c;"/>'],
  ])('%s', async (_, mediaPackage) => {
    const pyca = recorder();
    const before = [await rows('events'), await rows('staging')];
    expect(await pyca.ingest(mediaPackage)).toMatchObject({ status: 400 });
    expect(await pyca.addTrack(mediaPackage, CAMERA)).toMatchObject({ status: 400 });
    expect([await rows('events'), await rows('staging')]).toEqual(before);
  });

  test.each([
    [
      'the flavor after the file',
      [file('BODY', 'a.mp4', CAMERA), field('flavor', 'presenter/source')],
      "'flavor'",
    ],
    ['a flavor that is none', [field('flavor', 'presenter'), file('BODY', 'a.mp4', CAMERA)], '"presenter"'],
    ['no file', [field('flavor', 'presenter/source')], 'no part with a file'],
  ])('%s', async (_, parts, sentence) => {
    const pyca = recorder();
    const xml = await pyca.create();
    const answer = await pyca.post('/ingest/addTrack', [field('mediaPackage', xml), ...parts]);
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(sentence);
  });

  test('a package without media is no event', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addDublinCore(await pyca.create(), { title: 'Empty' }));
    const before = await rows('events');
    expect(await pyca.ingest(xml)).toMatchObject({ status: 400 });
    expect(await rows('events')).toEqual(before);
  });

  test('catalogs that cannot be read', async () => {
    const pyca = recorder();
    const xml = await pyca.create();
    for (const dublinCore of [
      '',
      'no XML',
      '<a>',
      '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      `<a>\0</a>`,
      '<foo/>',
    ]) {
      const parts = [field('mediaPackage', xml), field('dublinCore', dublinCore)];
      expect((await pyca.post('/ingest/addDCCatalog', parts)).status).toBe(400);
    }
  });
});

describe('rule 15: dublinCore comes in three encodings', () => {
  const xml = episode({ title: 'Größe &amp; Zahl', creator: ['Ada', 'Grace'], created: '2026-11-21T10:01Z' });
  test.each([
    ['plain text', field('dublinCore', xml)],
    ['percent-encoded inside multipart', field('dublinCore', encodeURIComponent(xml))],
    ['percent-encoded with a line end before it', field('dublinCore', encodeURIComponent(`\r\n\t ${xml}`))],
    [
      'percent-encoded with a mark before it',
      field('dublinCore', ` ${encodeURIComponent(`\n\ufeff${xml}`)}\n`),
    ],
    ['a file', file('dublinCore', 'episode.xml', Buffer.from(xml))],
  ])('%s', async (_, part) => {
    const pyca = recorder();
    let mp = await pyca.create();
    mp = ok(await pyca.post('/ingest/addDCCatalog', [field('mediaPackage', mp), part]));
    mp = ok(await pyca.addTrack(mp, CAMERA, 'presenter/source', 'file'));
    const id = packageId(ok(await pyca.ingest(mp)));
    expect(await event(id)).toMatchObject({
      title: 'Größe & Zahl',
      presenter: ['Ada', 'Grace'],
      start: '2026-11-21T10:01:00Z',
    });
  });

  test('urlencoded as well', async () => {
    const pyca = recorder();
    const mp = await pyca.create();
    ok(await pyca.urlencoded('/ingest/addDCCatalog', { mediaPackage: mp, dublinCore: xml }));
  });
});

describe('as Studio does', () => {
  const policy = (role: string) =>
    `<Policy xmlns="urn:oasis:names:tc:xacml:2.0:policy:schema:os">${['read', 'write']
      .map(
        (action) =>
          `<Rule RuleId="x" Effect="Permit"><Target><Actions><Action><ActionMatch><AttributeValue>${action}</AttributeValue></ActionMatch></Action></Actions></Target><Condition><Apply><AttributeValue>${role}</AttributeValue></Apply></Condition></Rule>`,
      )
      .join('')}</Policy>`;

  test('in its order, with its access control list and its names', async () => {
    const studio = recorder(await bench.app.account('studio', 'ROLE_STUDIO'));
    let xml = await studio.create();
    xml = ok(
      await studio.post('/ingest/addDCCatalog', [
        field('mediaPackage', xml),
        field(
          'dublinCore',
          encodeURIComponent(episode({ title: 'Studio täst', spatial: 'Opencast Studio' })),
        ),
        field('flavor', 'dublincore/episode'),
      ]),
    );
    xml = ok(
      await studio.post('/ingest/addAttachment', [
        field('flavor', 'security/xacml+episode'),
        field('mediaPackage', xml),
        file('BODY', 'acl.xml', Buffer.from(policy('ROLE_USER_STUDIO'))),
      ]),
    );
    const filename = '2026-11-21 10-01 - Studio täst & <upload> 100% - Dr. Ä (presenter, OC Studio).webm';
    xml = ok(
      await studio.post('/ingest/addTrack', [
        field('mediaPackage', xml),
        field('flavor', 'presenter/source'),
        field('tags', ''),
        { ...file('BODY', filename, CAMERA), type: 'video/webm;codecs=vp8,opus' },
      ]),
    );
    const id = packageId(ok(await studio.ingest(xml, { workflowDefinitionId: 'studio-upload' })));
    expect(await event(id)).toMatchObject({
      title: 'Studio täst',
      acl: [
        { allow: true, action: 'read', role: 'ROLE_USER_STUDIO' },
        { allow: true, action: 'write', role: 'ROLE_USER_STUDIO' },
      ],
    });
    expect((await tracks(id))[0]?.filename).toContain('Studio täst');
  });

  test('what is not given an access control list is for its account alone', async () => {
    const studio = recorder(await bench.app.account('private', 'ROLE_STUDIO'));
    const xml = ok(await studio.addTrack(await studio.create(), CAMERA));
    const id = packageId(ok(await studio.ingest(xml)));
    expect(await event(id)).toMatchObject({
      acl: [{ role: 'ROLE_USER_PRIVATE' }, { role: 'ROLE_USER_PRIVATE' }],
    });
  });

  test('an event of somebody else cannot be recorded', async () => {
    const id = await scheduled();
    const studio = recorder(await bench.app.account('stranger-2', 'ROLE_STUDIO'));
    const xml = ok(await studio.addTrack(await studio.create(), CAMERA));
    expect(await studio.ingest(xml, { workflowInstanceId: id })).toMatchObject({ status: 403 });
    expect(await tracks(id)).toEqual([]);
  });
});

describe('as scripts do in one request', () => {
  const parts = (content = CAMERA) => [
    field('flavor', 'presenter/source'),
    file('BODY', 'a.mp4', content),
    field('title', 'Scripted'),
    field('creator', 'Ada'),
    field('creator', 'Grace'),
    field('acl', '{"acl":{"ace":[{"role":"ROLE_A","action":"read"}]}}'),
    field('straightToPublishing', 'false'),
  ];

  test('fields after the file, repeated creators, the identifier of the event, a workflow in the path', async () => {
    const script = recorder();
    const answer = ok(
      await script.post('/ingest/addMediaPackage/fast', [...parts(), field('identifier', 'my-id')]),
    );
    expect(packageId(answer)).toBe('my-id');
    expect(await event('my-id')).toMatchObject({
      title: 'Scripted',
      presenter: ['Ada', 'Grace'],
      acl: [{ allow: true, action: 'read', role: 'ROLE_A' }],
    });
    expect(await workflows('my-id')).toMatchObject([
      { definition: 'fast', configuration: { straightToPublishing: 'false' } },
    ]);
    const again = ok(
      await script.post('/ingest/addMediaPackage/fast', [...parts(), field('identifier', 'my-id')]),
    );
    expect(workflowId(again)).toBe(workflowId(answer));
    const other = await script.post('/ingest/addMediaPackage', [
      ...parts(SLIDES),
      field('identifier', 'my-id'),
    ]);
    expect(other).toMatchObject({ status: 409 });
    expect(await tracks('my-id')).toHaveLength(1);
  });

  test('the catalog names the event where no field does', async () => {
    const script = recorder();
    const send = (identifier: string, ...more: Part[]) =>
      script.post('/ingest/addMediaPackage', [
        field('flavor', 'presenter/source'),
        field('episodeDCCatalog', episode({ title: 'Scripted', identifier })),
        file('BODY', 'a.mp4', CAMERA),
        ...more,
      ]);
    expect(packageId(ok(await send('of-the-catalog')))).toBe('of-the-catalog');
    expect(packageId(ok(await send('other', field('identifier', 'of-the-field'))))).toBe('of-the-field');
    expect(packageId(ok(await send('not/an id', field('identifier', ' '))))).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('tags come together or one by one, for the track that follows', async () => {
    const [flavor, title] = [field('flavor', 'presenter/source'), field('title', 'Tagged')];
    const answer = ok(
      await recorder().post('/ingest/addMediaPackage', [
        ...[title, flavor, field('tag', 'archive'), field('tags', 'a,b'), field('tag', ' engage ')],
        ...[file('BODY', 'a.mp4', CAMERA), field('tag', 'c'), file('BODY', 'b.mp4', SLIDES)],
      ]),
    );
    const id = packageId(answer);
    expect(Object.fromEntries((await tracks(id)).map(({ filename, tags }) => [filename, tags]))).toEqual({
      'a.mp4': ['a', 'b', 'archive', 'engage'],
      'b.mp4': ['c'],
    });
    expect((await workflows(id))[0]?.configuration).not.toHaveProperty('tag');
  });

  test('two that come at once under one identifier are one event, and are answered alike', async () => {
    const script = recorder();
    const send = () => script.post('/ingest/addMediaPackage', [...parts(), field('identifier', 'at-once')]);
    const answers = await Promise.all([send(), send(), send()]);
    expect(new Set(answers.map((answer) => workflowId(ok(answer)))).size).toBe(1);
    expect(await tracks('at-once')).toHaveLength(1);
    expect(await workflows('at-once')).toHaveLength(1);
  });

  test.each(['/ingest/addTrack', '/ingest/addMediaPackage', '/ingest/addZippedMediaPackage'])(
    '%s refuses at once what there is no room for on the disk',
    async (path) => {
      const app = await createTestApp((storage) => storage, { MAX_UPLOAD_BYTES: String(2 ** 52) });
      onTestFinished(() => app.close());
      let asked = false;
      const body = new ReadableStream(
        {
          pull: () => {
            asked = true;
          },
        },
        { highWaterMark: 0 },
      );
      const answer = await app.request(path, {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': String(2 ** 51) },
        body,
        duplex: 'half',
      } as RequestInit);
      expect([answer.status, asked]).toEqual([507, false]);
    },
  );

  test('fields without end are refused before they fill the memory', async () => {
    const long = field('x', 'y'.repeat(900_000));
    const answer = await recorder().post(
      '/ingest/addMediaPackage',
      Array.from({ length: 30 }, () => long),
    );
    expect(answer).toMatchObject({ status: 413 });
  });

  test.each([
    ['no title', [field('flavor', 'presenter/source'), file('BODY', 'a.mp4', CAMERA)], 'title'],
    ['no media', [field('title', 'x')], 'no track'],
    ['no flavor', [file('BODY', 'a.mp4', CAMERA), field('title', 'x')], "'flavor'"],
  ])('%s is 400', async (_, sent, sentence) => {
    const before = [await rows('events'), await rows('staging')];
    const answer = await recorder().post('/ingest/addMediaPackage', sent);
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(sentence);
    expect([await rows('events'), await rows('staging')]).toEqual(before);
  });
});

describe('by address', () => {
  test('a request names no more tracks than it may bring, and no more bytes', async () => {
    const server = createServer((_, answer) => answer.end(CAMERA)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const app = await createTestApp((storage) => storage, {
      INGEST_URL_HOSTS: host,
      MAX_UPLOAD_BYTES: String(CAMERA.length * 3 - 1),
    });
    onTestFinished(() => app.close());
    const send = (count: number) =>
      new Recorder(app).post('/ingest/addMediaPackage', [
        ...[field('flavor', 'presenter/source'), field('title', 'Many')],
        ...Array.from({ length: count }, (_, i) => field('mediaUri', `http://${host}/${i}.mp4`)),
      ]);
    expect(await send(51)).toMatchObject({ status: 400, text: expect.stringContaining('50 tracks') });
    expect(await send(3)).toMatchObject({
      status: 413,
      text: expect.stringContaining(String(CAMERA.length - 1)),
    });
    ok(await send(2));
  });

  test('a track is fetched from a host that is named, and from no other', async () => {
    const server = createServer((_, answer) => answer.end(CAMERA)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/camera.mp4`;
    const named = await createTestApp((storage) => storage, { INGEST_URL_HOSTS: `127.0.0.1:${port}` });
    const fetching = new Recorder(named);
    const xml = ok(
      await fetching.urlencoded('/ingest/addTrack', {
        mediaPackage: await fetching.create(),
        flavor: 'presenter/source',
        url,
      }),
    );
    const parts = [field('flavor', 'presenter/source'), field('mediaUri', url), field('title', 'Fetched')];
    const ids = [await fetching.ingest(xml), await fetching.post('/ingest/addMediaPackage', parts)];
    for (const answer of ids) {
      const stored = await named.database
        .selectFrom('tracks')
        .select(['sha256', 'filename'])
        .where('event_id', '=', packageId(ok(answer)))
        .execute();
      expect(stored).toEqual([{ sha256: sha256(CAMERA), filename: 'camera.mp4' }]);
    }
    const other = url.replace('127.0.0.1', 'localhost');
    for (const [client, address] of [
      [fetching, other],
      [recorder(), url],
    ] as const) {
      const mediaPackage = await client.create();
      const refused = await client.urlencoded('/ingest/addTrack', {
        mediaPackage,
        flavor: 'presenter/source',
        url: address,
      });
      expect(refused).toMatchObject({ status: 400 });
      expect(refused.text).toContain('INGEST_URL_HOSTS');
    }
    await named.close();
    server.close();
  });
});

test('two catalogs in parts of one name are two', async () => {
  const client = recorder();
  const xml = ok(
    await client.post('/ingest/addCatalog', [
      field('mediaPackage', await client.create()),
      field('flavor', 'dublincore/episode'),
      file('BODY', 'episode.xml', Buffer.from(episode({ title: 'First' }))),
      field('flavor', 'some/other'),
      file('BODY', 'other.xml', Buffer.from('<other/>')),
    ]),
  );
  const { rows: held } = await sql<{ flavor: string; content: string }>`
    SELECT flavor, content FROM draft_catalogs WHERE draft_id = ${packageId(xml)} ORDER BY flavor`.execute(
    bench.app.database,
  );
  expect(
    held.map(({ flavor, content }) => [flavor, content.includes('First'), content.includes('other')]),
  ).toEqual([
    ['dublincore/episode', true, false],
    ['some/other', false, true],
  ]);
});

test('a disk without a byte left keeps no package from being ingested that has come', async () => {
  let full = false;
  const app = await createTestApp((storage) =>
    Object.assign(storageWithPut(storage, storage.put.bind(storage)), {
      requireRoom: async (bytes: number) => storage.requireRoom(full ? 2 ** 60 : bytes),
    }),
  );
  onTestFinished(() => app.close());
  const client = new Recorder(app);
  const xml = ok(await client.addTrack(await client.create(), CAMERA));
  full = true;
  const post = (path: string, bytes: number, ...parts: Part[]) =>
    client.post(path, [field('mediaPackage', xml), ...parts], { 'Content-Length': String(bytes) });
  const track = [field('flavor', 'presentation/source'), file('BODY', 'b.mp4', CAMERA)];
  expect(await post('/ingest/addTrack', 300_000, ...track)).toMatchObject({ status: 507 });
  ok(await post('/ingest/ingest', 2_000));
});

test('the last place for an upload is enough for a file that a large form names by its address', async () => {
  const server = createServer((_, answer) => answer.end(CAMERA)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const app = await createTestApp((storage) => storage, {
    INGEST_URL_HOSTS: host,
    MAX_PARALLEL_UPLOADS: '1',
  });
  onTestFinished(() => app.close());
  const client = new Recorder(app);
  const answer = await client.post('/ingest/addTrack', [
    field('mediaPackage', await client.create()),
    field('flavor', 'presenter/source'),
    field('url', `http://${host}/camera.mp4`),
    field('note', 'x'.repeat(100_000)),
  ]);
  expect(ok(answer)).toContain('/camera.mp4</url>');
});

describe('schedule', () => {
  test('is not for people who may record alone', async () => {
    const studio = recorder(await bench.app.account('studio-2', 'ROLE_STUDIO'));
    const parts = [field('mediaPackage', await studio.create())];
    expect(await studio.post('/ingest/schedule', parts)).toMatchObject({ status: 403 });
  });

  const temporal = (start: string, end: string) => `start=${start}; end=${end}; scheme=W3C-DTF;`;

  test('a package with a period and a place is an event that its agent is to record', async () => {
    const agentId = newAgent();
    const pyca = await agent('scheduler');
    let xml = await pyca.create();
    const terms = {
      title: 'Now',
      spatial: agentId,
      temporal: `\n  ${temporal('2031-01-01T10:00Z', '2031-01-01T11:00Z')}\n`,
    };
    xml = ok(await pyca.addDublinCore(xml, terms));
    expect(await pyca.post('/ingest/schedule', [field('mediaPackage', xml)])).toEqual({
      status: 201,
      text: '',
    });
    expect(await pyca.post('/ingest/schedule/fast', [field('mediaPackage', xml)])).toMatchObject({
      status: 201,
    });
    expect(await bench.read(`/api/events/${packageId(xml)}/scheduling`)).toEqual({
      agent_id: agentId,
      start: '2031-01-01T10:00:00Z',
      end: '2031-01-01T11:00:00Z',
    });
    const other = ok(await pyca.addDublinCore(await pyca.create(), terms));
    expect(await pyca.post('/ingest/schedule', [field('mediaPackage', other)])).toMatchObject({
      status: 409,
    });
  });

  test('the chosen inputs are in its calendar, and not in the configuration of its workflow', async () => {
    const agentId = newAgent();
    const pyca = recorder();
    const period = temporal('2031-01-02T10:00Z', '2031-01-02T11:00Z');
    const xml = ok(
      await pyca.addDublinCore(await pyca.create(), { title: 'Now', spatial: agentId, temporal: period }),
    );
    const send = (inputs: string) =>
      pyca.urlencoded('/ingest/schedule', {
        mediaPackage: xml,
        'capture.device.names': inputs,
        'org.opencastproject.workflow.config.flag': 'true',
      });
    expect(await send('cam,a\u0007b')).toMatchObject({
      status: 400,
      text: expect.stringContaining('capture.device.names'),
    });
    expect(await send(' cam, screen,,cam')).toMatchObject({ status: 201 });
    expect(await bench.read(`/api/events/${packageId(xml)}/scheduling`)).toMatchObject({
      inputs: ['cam', 'screen'],
    });
    const calendar = await (await bench.app.request(`/recordings/calendars?agentid=${agentId}`)).text();
    const attached = /agent\.properties:((?:[A-Za-z0-9+/=]|\r\n )+)/.exec(calendar)?.[1] ?? '';
    const properties = Buffer.from(attached.replaceAll(/\s/g, ''), 'base64').toString();
    expect(properties.split('\n')).toContain('capture.device.names=cam,screen');
    expect(properties.match(/capture\.device\.names/g)).toHaveLength(1);
    expect(properties.split('\n')).toContain('org.opencastproject.workflow.config.flag=true');
  });

  test.each([
    ['no period', { title: 'x', spatial: 'hall' }],
    ['no place', { title: 'x', temporal: temporal('2031-01-01T10:00Z', '2031-01-01T11:00Z') }],
    [
      'two places',
      { title: 'x', spatial: ['a', 'b'], temporal: temporal('2031-01-01T10:00Z', '2031-01-01T11:00Z') },
    ],
    [
      'an end before its start',
      { title: 'x', spatial: 'a', temporal: temporal('2031-01-01T10:00Z', '2031-01-01T09:00Z') },
    ],
    [
      'a time that is over, by a clock off by hours',
      { title: 'x', spatial: 'a', temporal: temporal('2026-01-01T10:00Z', '2026-01-01T11:00Z') },
    ],
    [
      'a start that is not when it was created',
      {
        ...{ title: 'x', spatial: 'a', created: '2031-01-01T09:00Z' },
        temporal: temporal('2031-01-01T10:00Z', '2031-01-01T11:00Z'),
      },
    ],
  ])('%s is 400', async (_, terms) => {
    const pyca = recorder();
    const xml = ok(await pyca.addDublinCore(await pyca.create(), terms as Record<string, string>));
    expect(await pyca.post('/ingest/schedule', [field('mediaPackage', xml)])).toMatchObject({ status: 400 });
  });
});
