import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { createTestApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { field, file, type Part } from '../support/form.ts';
import { ok, type PackageAnswer, packageId, Recorder, workflowId } from '../support/packages.ts';
import { newAgent, putScheduling, schedule } from '../support/scheduling.ts';
import { ace, createSeries } from '../support/series.ts';
import { zipOf } from '../support/zip.ts';

/** Recordings that unusual agents would have lost: whoever is refused sends the same again and again, or gives up. */
const bench = EventBench.forThisFile();
const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(300_000)]);
const SLIDES = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(2_000)]);
const NOTHING = Buffer.alloc(0);
const PERIOD = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
const URLENCODED = { 'Content-Type': 'application/x-www-form-urlencoded' };
const FLAVOR = field('flavor', 'presenter/source');

const recorder = (authorization?: string) => new Recorder(bench.app, authorization);
const event = (id: string) => bench.read(`/api/events/${id}`);
const tracks = (id: string) => bench.tracks(id);
const count = async (table: 'events' | 'staging') => {
  const { rows } = await sql<{ n: number }>`SELECT count(*)::integer AS n FROM ${sql.table(table)}`.execute(
    bench.app.database,
  );
  return rows[0]?.n;
};
const scheduled = (agent_id: string, title = 'Algebra I') =>
  schedule(bench.app, { agent_id, ...PERIOD }, title);
const boundTo = async (agentId: string) => {
  const username = `bound-${agentId.slice(-8)}`;
  await addMachine(bench.app.database, username, { agentId });
  return recorder(`Basic ${Buffer.from(`${username}:secret`).toString('base64')}`);
};

type Deliver = (by: Recorder, id: string, content: Uint8Array) => Promise<PackageAnswer>;

/** The package is called as the event, and the archive says so as well as the form. */
const deliverZip: Deliver = (by, id, content) => {
  const manifest = `<mediapackage id="${id}"><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>`;
  const zip = zipOf([
    { name: 'manifest.xml', content: manifest },
    { name: 'a.mp4', content: Buffer.from(content) },
  ]);
  const parts = [field('workflowInstanceId', id), file('track', 'mediaPackage.zip', zip)];
  return by.post('/ingest/addZippedMediaPackage', parts);
};
const deliverNamed: Deliver = async (by, id, content) => {
  const xml = ok(await by.send('PUT', `/ingest/createMediaPackageWithID/${id}`));
  return by.ingest(ok(await by.addTrack(xml, content)));
};
const deliverElements: Deliver = async (by, id, content) =>
  by.ingest(ok(await by.addTrack(await by.create(), content)), { workflowInstanceId: id });

describe('an event that was moved to another agent', () => {
  test('does not cost the recording that its former one brings: it is an event of its own', async () => {
    const [former, other] = [newAgent(), newAgent()];
    const id = await scheduled(former);
    const pyca = await boundTo(former);
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    expect((await putScheduling(bench.app, id, { agent_id: other, ...PERIOD })).status).toBe(204);
    const answer = ok(await pyca.ingest(xml, { workflowInstanceId: id }));
    expect(packageId(answer)).toBe(packageId(xml));
    expect(await tracks(packageId(xml))).toMatchObject([{ sha256: sha256(CAMERA) }]);
    expect(await tracks(id)).toEqual([]);
    expect(workflowId(ok(await pyca.ingest(xml, { workflowInstanceId: id })))).toBe(workflowId(answer));
  });

  test.each([
    ['as Galicaster delivers', deliverZip],
    ['under its own identifier', deliverNamed],
    ['as pyCA delivers', deliverElements],
  ])(
    'is no refusal for ever to the former one, and its files sent again are known: %s',
    async (_, deliver) => {
      const [former, other] = [newAgent(), newAgent()];
      const id = await scheduled(former);
      const [old, current] = [await boundTo(former), await boundTo(other)];
      expect((await putScheduling(bench.app, id, { agent_id: other, ...PERIOD })).status).toBe(204);
      const first = ok(await deliver(old, id, CAMERA));
      expect(packageId(first)).not.toBe(id);
      expect(await tracks(packageId(first))).toMatchObject([{ sha256: sha256(CAMERA) }]);
      const before = await count('events');
      const again = ok(await deliver(old, id, CAMERA));
      expect([packageId(again), workflowId(again)]).toEqual([packageId(first), workflowId(first)]);
      expect(await count('events')).toBe(before);
      expect(packageId(ok(await deliver(old, id, SLIDES)))).not.toBe(packageId(first));
      // It takes nothing from the agent that is to record it now, nor gets any of what that brings.
      expect(packageId(ok(await deliver(current, id, SLIDES)))).toBe(id);
      expect(await tracks(id)).toMatchObject([{ sha256: sha256(SLIDES) }]);
      expect(packageId(ok(await deliver(current, id, SLIDES)))).toBe(id);
      expect(packageId(ok(await deliver(old, id, SLIDES)))).not.toBe(id);
      expect(packageId(ok(await deliver(old, id, CAMERA)))).toBe(packageId(first));
      expect(await tracks(id)).toHaveLength(1);
    },
  );

  test('is not for people to deliver to', async () => {
    const id = await scheduled(newAgent());
    const person = recorder(await bench.app.account('moved-person', 'ROLE_STUDIO'));
    expect(await deliverZip(person, id, CAMERA)).toMatchObject({ status: 403 });
  });

  test('has a package of its name for its agent, which nobody else keeps from it', async () => {
    const agent = newAgent();
    const id = await scheduled(agent);
    const person = recorder(await bench.app.account('name-keeper', 'ROLE_STUDIO'));
    const begun = await person.send('PUT', `/ingest/createMediaPackageWithID/${id}`);
    expect(begun).toMatchObject({ status: 403, text: expect.stringContaining(id) });
    expect(packageId(ok(await deliverNamed(await boundTo(agent), id, CAMERA)))).toBe(id);
  });

  test('has a package of its name for its agent, also when the former one has begun it and died', async () => {
    const [former, other] = [newAgent(), newAgent()];
    const id = await scheduled(former);
    const [old, current] = [await boundTo(former), await boundTo(other)];
    const begun = ok(await old.send('PUT', `/ingest/createMediaPackageWithID/${id}`));
    ok(await old.addTrack(begun, CAMERA));
    expect((await putScheduling(bench.app, id, { agent_id: other, ...PERIOD })).status).toBe(204);
    expect(packageId(ok(await deliverNamed(current, id, SLIDES)))).toBe(id);
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(SLIDES) }]);
    expect(packageId(ok(await deliverNamed(old, id, CAMERA)))).not.toBe(id);
  });
});

describe('a recording that its account made and may not change', () => {
  test('is known when the same files come again, to that account alone', async () => {
    const series = await createSeries(bench.app, { title: 'Course' }, [ace('ROLE_LECTURER', 'write')]);
    const agent = recorder(await bench.app.account('ad-hoc-agent', 'ROLE_CAPTURE_AGENT'));
    const other = recorder(await bench.app.account('another-agent', 'ROLE_CAPTURE_AGENT'));
    const deliver = (by: Recorder, content: Uint8Array) =>
      by.post('/ingest/addMediaPackage', [
        FLAVOR,
        file('BODY', 'a.mp4', content),
        field('identifier', 'ad-hoc-in-series'),
        field('title', 'Ad hoc'),
        field('isPartOf', series),
      ]);
    const first = ok(await deliver(agent, CAMERA));
    const again = ok(await deliver(agent, CAMERA));
    expect([packageId(again), workflowId(again)]).toEqual(['ad-hoc-in-series', workflowId(first)]);
    expect(await deliver(other, CAMERA)).toMatchObject({ status: 403 });
    const further = ok(await deliver(agent, SLIDES));
    expect(packageId(further)).not.toBe('ad-hoc-in-series');
    expect(workflowId(ok(await deliver(agent, SLIDES)))).toBe(workflowId(further));
    expect(await tracks('ad-hoc-in-series')).toHaveLength(1);
  });
});

describe('a wrong clock', () => {
  const temporal = 'start=1970-01-01T00:00:00Z; end=2030-01-07T10:00:00Z; scheme=W3C-DTF;';
  test.each([
    ['a period of decades', { title: 'Kept', temporal }, { title: 'Kept', start: '1970-01-01T00:00:00Z' }],
    ['a year before the first', { title: 'Kept', created: '0001-01-01T00:00:00+01:00' }, { title: 'Kept' }],
    ['a year after the last', { title: 'Kept', created: '9999-12-31T23:59:00-01:00' }, { title: 'Kept' }],
  ])('costs no recording: %s', async (_, terms, shown) => {
    const pyca = recorder();
    let xml = ok(await pyca.addDublinCore(await pyca.create(), terms as Record<string, string>));
    xml = ok(await pyca.addTrack(xml, CAMERA));
    expect(await event(packageId(ok(await pyca.ingest(xml))))).toMatchObject(shown);
  });
});

describe('addMediaPackage', () => {
  test('takes an urlencoded form, whose fields may be repeated', async () => {
    const server = createServer(({ url }, answer) => answer.end(url === '/b.mp4' ? SLIDES : CAMERA));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const app = await createTestApp((storage) => storage, { INGEST_URL_HOSTS: host });
    onTestFinished(() => app.close());
    const body = new URLSearchParams([
      ['flavor', 'presenter/source'],
      ['mediaUri', `http://${host}/a.mp4`],
      ['flavor', 'presentation/source'],
      ['tags', 'slides'],
      ['mediaUri', `http://${host}/b.mp4`],
      ['title', 'Fetched'],
      ['creator', 'Ada'],
      ['creator', 'Grace'],
      ['straightToPublishing', 'false'],
    ]);
    const id = packageId(ok(await new Recorder(app).send('POST', '/ingest/addMediaPackage/fast', { body })));
    const answer = await app.request(`/api/events/${id}`);
    expect(await answer.json()).toMatchObject({ title: 'Fetched', presenter: ['Ada', 'Grace'] });
    const columns = ['flavor', 'sha256', 'tags'] as const;
    expect(
      await app.database
        .selectFrom('tracks')
        .select(columns)
        .where('event_id', '=', id)
        .orderBy('position')
        .execute(),
    ).toEqual([
      { flavor: 'presenter/source', sha256: sha256(CAMERA), tags: [] },
      { flavor: 'presentation/source', sha256: sha256(SLIDES), tags: ['slides'] },
    ]);
  });

  test.each([
    ['no body', {}, 'no track'],
    ['no track', { body: new URLSearchParams({ title: 'x' }) }, 'no track'],
    [
      'tens of thousands of fields',
      { body: `flavor=a/b${'&mediaUri=x'.repeat(90_000)}`, headers: URLENCODED },
      '1000 fields',
    ],
    [
      'hundreds of addresses',
      { body: `flavor=a/b${'&mediaUri=x'.repeat(900)}`, headers: URLENCODED },
      '50 tracks',
    ],
    ['no flavor', { body: new URLSearchParams({ mediaUri: 'http://a.test/b' }) }, "'flavor'"],
    ['no form', { body: '{"a": 1}', headers: { 'Content-Type': 'application/json' } }, 'urlencoded'],
  ])('is 400 for %s', async (_, init, sentence) => {
    const answer = await recorder().send('POST', '/ingest/addMediaPackage', init);
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(sentence) });
  });
});

test('what a workflow has made of a recording does not keep the same files from being known again', async () => {
  const id = await scheduled(newAgent());
  const pyca = recorder();
  const deliver = async () => {
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    return packageId(ok(await pyca.ingest(xml, { workflowInstanceId: id })));
  };
  expect(await deliver()).toBe(id);
  await sql`
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256, made_by)
    SELECT gen_random_uuid(), event_id, 1, 'presenter/cut', filename, mediatype, 'track/made', size, ${'0'.repeat(64)}, 'cut'
    FROM tracks WHERE event_id = ${id}`.execute(bench.app.database);
  expect(await deliver()).toBe(id);
});

describe('a file without content', () => {
  const add = (xml: string, path: string, ...parts: Part[]) =>
    recorder().post(path, [field('mediaPackage', xml), FLAVOR, ...parts]);

  test.each(['/ingest/addTrack', '/ingest/addPartialTrack'])(
    'at %s leaves the package as it is, and the other tracks are ingested',
    async (path) => {
      const pyca = recorder();
      const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
      const staged = await count('staging');
      expect(ok(await add(xml, path, file('BODY', 'slides.mp4', NOTHING)))).toBe(xml);
      expect(await count('staging')).toBe(staged);
      expect(await tracks(packageId(ok(await pyca.ingest(xml))))).toHaveLength(1);
    },
  );

  test('beside another one in the same form costs neither that nor its tags', async () => {
    const pyca = recorder();
    const xml = await pyca.create();
    const parts = [file('a', 'a.mp4', NOTHING), file('b', 'b.mp4', CAMERA), field('tags', 'x')];
    ok(await add(xml, '/ingest/addTrack', ...parts));
    const id = packageId(ok(await pyca.ingest(xml)));
    expect(await tracks(id)).toMatchObject([{ filename: 'b.mp4', sha256: sha256(CAMERA), tags: ['x'] }]);
  });

  test('is no recording: a package of nothing else is refused', async () => {
    const pyca = recorder();
    const xml = await pyca.create();
    ok(await add(xml, '/ingest/addTrack', file('BODY', 'a.mp4', NOTHING)));
    expect(await pyca.ingest(xml)).toMatchObject({ status: 400 });
  });

  test('is nothing to add to a package that is not there, or that has been ingested', async () => {
    const pyca = recorder();
    const xml = ok(await pyca.addTrack(await pyca.create(), CAMERA));
    ok(await pyca.ingest(xml));
    const empty = file('BODY', 'a.mp4', NOTHING);
    expect(await add(xml, '/ingest/addTrack', empty)).toMatchObject({ status: 409 });
    expect(await add('<mediapackage id="none"/>', '/ingest/addTrack', empty)).toMatchObject({ status: 404 });
    expect(await add('', '/ingest/addTrack', empty)).toMatchObject({ status: 400 });
  });

  test('at addMediaPackage costs neither the other tracks nor their tags', async () => {
    const [camera, slides] = [file('BODY', 'a.mp4', CAMERA), file('BODY', 'b.mp4', NOTHING)];
    const send = (parts: Part[]) =>
      recorder().post('/ingest/addMediaPackage', [FLAVOR, ...parts, field('title', 'One input')]);
    const staged = await count('staging');
    const id = packageId(
      ok(await send([field('tags', 'lost'), field('tag', 'one'), slides, field('tag', 'kept'), camera])),
    );
    expect(await tracks(id)).toMatchObject([{ filename: 'a.mp4', sha256: sha256(CAMERA), tags: ['kept'] }]);
    expect(await send([slides])).toMatchObject({ status: 400, text: expect.stringContaining('no track') });
    expect(await count('staging')).toBe(staged);
  });

  test('that a person adds as an attachment is refused', async () => {
    const xml = await recorder().create();
    const answer = await add(xml, '/ingest/addAttachment', file('BODY', 'cover.jpg', NOTHING));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('empty') });
  });
});

describe('rule 6: fields behind the file', () => {
  test('are its package and its tags', async () => {
    const pyca = recorder();
    const xml = await pyca.create();
    const parts = [FLAVOR, file('BODY', 'a.mp4', CAMERA), field('tags', 'a,b'), field('mediaPackage', xml)];
    ok(await pyca.post('/ingest/addTrack', parts));
    const id = packageId(ok(await pyca.ingest(xml)));
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(CAMERA), tags: ['a', 'b'] }]);
  });

  test.each([
    ['none', [], 400],
    ['a package that is not there', [field('mediaPackage', '<mediapackage id="none"/>')], 404],
    ['tags that there cannot be', [field('tags', '\u0007')], 400],
  ])('are checked: with %s nothing is kept', async (_, behind, status) => {
    const staged = await count('staging');
    const parts = [FLAVOR, file('BODY', 'a.mp4', CAMERA), ...behind];
    expect(await recorder().post('/ingest/addTrack', parts)).toMatchObject({ status });
    expect(await count('staging')).toBe(staged);
  });
});

describe('a package of a chosen identifier that has been ingested', () => {
  const put = (by: Recorder, id: string) => by.send('PUT', `/ingest/createMediaPackageWithID/${id}`);

  test('is begun anew for a second set of files, and the same files are known again', async () => {
    const id = await scheduled(newAgent());
    const pearl = recorder();
    const deliver = async (content: Uint8Array) => {
      const xml = ok(await put(pearl, id));
      expect(xml).not.toContain('<track ');
      ok(await pearl.addTrack(xml, content));
      const answer = ok(await pearl.ingest(xml));
      expect(workflowId(ok(await pearl.ingest(xml)))).toBe(workflowId(answer));
      return packageId(answer);
    };
    expect(await deliver(CAMERA)).toBe(id);
    const second = await deliver(SLIDES);
    expect(await event(second)).toMatchObject({ title: 'Algebra I (part 2)' });
    const before = await count('events');
    expect([await deliver(CAMERA), await deliver(SLIDES)]).toEqual([id, second]);
    expect(await count('events')).toBe(before);
    expect(await tracks(id)).toHaveLength(1);
  });

  test('is begun once when that is asked for at once', async () => {
    const pearl = recorder();
    const id = 'begun-at-once';
    ok(await pearl.addTrack(ok(await put(pearl, id)), CAMERA));
    ok(await pearl.ingest(`<mediapackage id="${id}"/>`));
    for (const answer of await Promise.all([1, 2, 3].map(() => put(pearl, id)))) {
      expect(packageId(ok(answer))).toBe(id);
    }
  });

  test('is not for others to begin', async () => {
    const id = 'mine-alone';
    const pearl = recorder();
    ok(await pearl.addTrack(ok(await put(pearl, id)), CAMERA));
    ok(await pearl.ingest(`<mediapackage id="${id}"/>`));
    const other = recorder(await bench.app.account('other-pearl', 'ROLE_CAPTURE_AGENT'));
    expect(await put(other, id)).toMatchObject({ status: 403 });
  });
});
