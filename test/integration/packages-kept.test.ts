import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { addMachine } from '../support/accounts.ts';
import { workerApp } from '../support/app.ts';
import { sha256 } from '../support/bytes.ts';
import { field, file, type Part } from '../support/form.ts';
import {
  episode,
  movie,
  ok,
  type PackageAnswer,
  packageId,
  packageRows,
  Recorder,
  refusal,
  unique,
  workflowId,
} from '../support/packages.ts';
import { newAgent, putScheduling, schedule } from '../support/scheduling.ts';
import { ace, createSeries } from '../support/series.ts';
import { zipOf } from '../support/zip.ts';

/** Recordings that unusual agents would have lost: who is refused sends the same again and again, or gives up. */
const app = await workerApp();
const CAMERA = movie(30_000);
const SLIDES = movie(2_000);
const NOTHING = Buffer.alloc(0);
const PERIOD = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
const FLAVOR = field('flavor', 'presenter/source');
const { count, read, tracks, workflows, storesNothing } = packageRows(app);

const pyca = new Recorder(app);
const event = (id: string) => read(`/api/events/${id}`);
const scheduled = (agent_id = newAgent()) => schedule(app, { agent_id, ...PERIOD }, 'Algebra I');
const move = async (id: string, agent_id: string) =>
  expect((await putScheduling(app, id, { agent_id, ...PERIOD })).status).toBe(204);
const account = async (role: string) => new Recorder(app, await app.account(unique('account'), role));
const boundTo = async (agentId: string) => {
  const username = unique('bound');
  await addMachine(app.database, username, { agentId });
  return new Recorder(app, `Basic ${Buffer.from(`${username}:secret`).toString('base64')}`);
};
const begin = (by: Recorder, id: string) => by.send('PUT', `/ingest/createMediaPackageWithID/${id}`);
const zipWith = (content: Uint8Array, id = '') =>
  zipOf([
    {
      name: 'manifest.xml',
      content: `<mediapackage${id && ` id="${id}"`}><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>`,
    },
    { name: 'a.mp4', content: Buffer.from(content) },
  ]);

type Deliver = (by: Recorder, id: string, content: Uint8Array) => Promise<PackageAnswer>;

/** The package is called as the event, and the archive says so as well as the form. */
const deliverZip: Deliver = (by, id, content) =>
  by.post('/ingest/addZippedMediaPackage', [
    field('workflowInstanceId', id),
    file('track', 'mediaPackage.zip', zipWith(content, id)),
  ]);
const deliverNamed: Deliver = async (by, id, content) =>
  by.ingest(ok(await by.addTrack(ok(await begin(by, id)), content)));
const deliverElements: Deliver = async (by, id, content) =>
  by.ingest(await by.withTrack(content), { workflowInstanceId: id });

describe('an event that was moved to another agent', () => {
  /** An event of one agent that is another's now, and what both deliver with. */
  async function moved() {
    const [former, other] = [newAgent(), newAgent()];
    const id = await scheduled(former);
    return {
      ...{ id, old: await boundTo(former), current: await boundTo(other) },
      move: () => move(id, other),
    };
  }

  test('does not cost the recording that its former one brings: it is an event of its own', async () => {
    const { id, old, move } = await moved();
    const xml = await old.withTrack(CAMERA);
    await move();
    const answer = ok(await old.ingest(xml, { workflowInstanceId: id }));
    expect(packageId(answer)).toBe(packageId(xml));
    expect(await tracks(packageId(xml))).toMatchObject([{ sha256: sha256(CAMERA) }]);
    expect(await tracks(id)).toEqual([]);
    expect(workflowId(ok(await old.ingest(xml, { workflowInstanceId: id })))).toBe(workflowId(answer));
  });

  test.each([
    ['as Galicaster delivers', deliverZip],
    ['under its own identifier', deliverNamed],
    ['as pyCA delivers', deliverElements],
  ])('is no refusal for ever to the former one, and its files sent again are known: %s', async (_, deliver) => {
    const { id, old, current, move } = await moved();
    await move();
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
  });

  test('has a package of its name for its agent, which nobody else keeps from it', async () => {
    const agent = newAgent();
    const id = await scheduled(agent);
    const begun = await begin(await account('ROLE_STUDIO'), id);
    expect(begun).toMatchObject(refusal(403, id));
    expect(packageId(ok(await deliverNamed(await boundTo(agent), id, CAMERA)))).toBe(id);
  });

  test('has a package of its name for its agent, also when the former one has begun it and died', async () => {
    const { id, old, current, move } = await moved();
    ok(await old.addTrack(ok(await begin(old, id)), CAMERA));
    await move();
    expect(packageId(ok(await deliverNamed(current, id, SLIDES)))).toBe(id);
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(SLIDES) }]);
    expect(packageId(ok(await deliverNamed(old, id, CAMERA)))).not.toBe(id);
  });
});

describe('a recording that its account made and may not change', () => {
  test('is known when the same files come again, to that account alone', async () => {
    const series = await createSeries(app, { title: 'Course' }, [ace('ROLE_LECTURER', 'write')]);
    const [agent, other] = [await account('ROLE_CAPTURE_AGENT'), await account('ROLE_CAPTURE_AGENT')];
    const id = unique('ad-hoc');
    const deliver = (by: Recorder, content: Uint8Array) =>
      by.post('/ingest/addMediaPackage', [
        ...[FLAVOR, file('BODY', 'a.mp4', content), field('identifier', id)],
        ...[field('title', 'Ad hoc'), field('isPartOf', series)],
      ]);
    const first = ok(await deliver(agent, CAMERA));
    const again = ok(await deliver(agent, CAMERA));
    expect([packageId(again), workflowId(again)]).toEqual([id, workflowId(first)]);
    expect(await deliver(other, CAMERA)).toMatchObject({ status: 403 });
    const further = ok(await deliver(agent, SLIDES));
    expect(packageId(further)).not.toBe(id);
    expect(workflowId(ok(await deliver(agent, SLIDES)))).toBe(workflowId(further));
    expect(await tracks(id)).toHaveLength(1);
  });
});

describe('a wrong clock', () => {
  const temporal = 'start=1970-01-01T00:00:00Z; end=2030-01-07T10:00:00Z; scheme=W3C-DTF;';
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a period of decades', { temporal }, { start: '1970-01-01T00:00:00Z' }],
    ['a year before the first', { created: '0001-01-01T00:00:00+01:00' }, {}],
    ['a year after the last', { created: '9999-12-31T23:59:00-01:00' }, {}],
  ])('costs no recording: %s', async (_, terms, shown) => {
    const xml = ok(await pyca.addDublinCore(await pyca.withTrack(CAMERA), { title: 'Kept', ...terms }));
    const id = packageId(ok(await pyca.ingest(xml)));
    expect(await event(id)).toMatchObject({ title: 'Kept', ...shown });
  });
});

test('what a workflow has made of a recording does not keep the same files from being known again', async () => {
  const id = await scheduled();
  expect(packageId(ok(await deliverElements(pyca, id, CAMERA)))).toBe(id);
  await sql`
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256, made_by)
    SELECT gen_random_uuid(), event_id, 1, 'presenter/cut', filename, mediatype, ${`track/${id}`}, size, ${'0'.repeat(64)}, 'cut'
    FROM tracks WHERE event_id = ${id}`.execute(app.database);
  expect(packageId(ok(await deliverElements(pyca, id, CAMERA)))).toBe(id);
});

describe('a file without content', () => {
  const empty = file('BODY', 'empty.mp4', NOTHING);
  const add = (xml: string, path: string, ...parts: Part[]) =>
    pyca.post(path, [field('mediaPackage', xml), FLAVOR, ...parts]);

  test.each(['/ingest/addTrack', '/ingest/addPartialTrack'])(
    'at %s leaves the package as it is, and the other tracks are ingested',
    async (path) => {
      const xml = await pyca.withTrack(CAMERA);
      await storesNothing(async () => expect(ok(await add(xml, path, empty))).toBe(xml));
      expect(await tracks(packageId(ok(await pyca.ingest(xml))))).toHaveLength(1);
    },
  );

  test('beside another one in the same form costs neither that nor its tags', async () => {
    const xml = await pyca.create();
    ok(await add(xml, '/ingest/addTrack', empty, file('b', 'b.mp4', CAMERA), field('tags', 'x')));
    const id = packageId(ok(await pyca.ingest(xml)));
    expect(await tracks(id)).toMatchObject([{ filename: 'b.mp4', sha256: sha256(CAMERA), tags: ['x'] }]);
  });

  test('is no recording: a package of nothing else is refused', async () => {
    const xml = await pyca.create();
    ok(await add(xml, '/ingest/addTrack', empty));
    expect(await pyca.ingest(xml)).toMatchObject({ status: 400 });
  });

  test('is nothing to add to a package that is not there, or that has been ingested', async () => {
    const xml = await pyca.withTrack(CAMERA);
    ok(await pyca.ingest(xml));
    const statuses = { [xml]: 409, '<mediapackage id="none"/>': 404, '': 400 };
    for (const [mediaPackage, status] of Object.entries(statuses))
      expect(await add(mediaPackage, '/ingest/addTrack', empty)).toMatchObject({ status });
  });

  test('at addMediaPackage costs neither the other tracks nor their tags', async () => {
    const send = (parts: Part[]) =>
      pyca.post('/ingest/addMediaPackage', [FLAVOR, ...parts, field('title', 'One input')]);
    const staged = await count('staging');
    const lost = [field('tags', 'lost'), field('tag', 'one'), empty];
    const id = packageId(ok(await send([...lost, field('tag', 'kept'), file('BODY', 'a.mp4', CAMERA)])));
    expect(await tracks(id)).toMatchObject([{ filename: 'a.mp4', sha256: sha256(CAMERA), tags: ['kept'] }]);
    expect(await send([empty])).toMatchObject(refusal(400, 'no track'));
    expect(await count('staging')).toBe(staged);
  });

  test('that a person adds as an attachment is refused', async () => {
    const answer = await add(await pyca.create(), '/ingest/addAttachment', empty);
    expect(answer).toMatchObject(refusal(400, 'empty'));
  });
});

describe('rule 6: fields behind the file', () => {
  const send = (...behind: Part[]) => pyca.post('/ingest/addTrack', [FLAVOR, file('BODY', 'a.mp4', CAMERA), ...behind]);

  test('are its package and its tags', async () => {
    const xml = await pyca.create();
    ok(await send(field('tags', 'a,b'), field('mediaPackage', xml)));
    const id = packageId(ok(await pyca.ingest(xml)));
    expect(await tracks(id)).toMatchObject([{ sha256: sha256(CAMERA), tags: ['a', 'b'] }]);
  });

  test.each([
    ['none', [], 400],
    ['a package that is not there', [field('mediaPackage', '<mediapackage id="none"/>')], 404],
    ['tags that there cannot be', [field('tags', '\u0007')], 400],
  ])('are checked: with %s nothing is kept', async (_, behind, status) => {
    await storesNothing(async () => expect(await send(...behind)).toMatchObject({ status }));
  });
});

describe('a package of a chosen identifier that has been ingested', () => {
  test('is begun anew for a second set of files, and the same files are known again', async () => {
    const id = await scheduled();
    const deliver = async (content: Uint8Array) => {
      const xml = ok(await begin(pyca, id));
      expect(xml).not.toContain('<track ');
      ok(await pyca.addTrack(xml, content));
      const answer = ok(await pyca.ingest(xml));
      expect(workflowId(ok(await pyca.ingest(xml)))).toBe(workflowId(answer));
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

  test('is begun once when that is asked for at once, and not for others to begin', async () => {
    const id = unique('chosen');
    ok(await deliverNamed(pyca, id, CAMERA));
    for (const answer of await Promise.all([1, 2, 3].map(() => begin(pyca, id)))) {
      expect(packageId(ok(answer))).toBe(id);
    }
    expect(await begin(await account('ROLE_CAPTURE_AGENT'), id)).toMatchObject({ status: 403 });
  });
});

/** Fields of media packages that clients send as files, or as bytes without a file name. */
const asFile = (name: string, content: string) => file(name, `${name}.xml`, Buffer.from(content));
const asBytes = (name: string, content: string | Uint8Array): Part => ({
  name,
  content,
  type: 'application/octet-stream',
});

test.each([
  ['a file', asFile],
  ['bytes', asBytes],
])('the media package is taken as %s wherever it is sent back', async (_, part) => {
  const ingested = [part('mediaPackage', await pyca.withTrack(CAMERA)), part('straightToPublishing', 'false')];
  const ingestedId = packageId(ok(await pyca.post('/ingest/ingest', ingested)));
  expect(await workflows(ingestedId)).toMatchObject([{ configuration: { straightToPublishing: 'false' } }]);

  const discarded = await pyca.withTrack(CAMERA);
  ok(await pyca.post('/ingest/discardMediaPackage', [part('mediaPackage', discarded)]));
  expect(await pyca.ingest(discarded)).toMatchObject({ status: 404 });

  const temporal = 'start=2031-01-01T10:00Z; end=2031-01-01T11:00Z; scheme=W3C-DTF;';
  const dublinCore = part('dublinCore', episode({ title: 'Now', spatial: newAgent(), temporal }));
  const planned = [part('mediaPackage', await pyca.create()), dublinCore];
  const xml = ok(await pyca.post('/ingest/addDCCatalog', planned));
  const chosen = [part('mediaPackage', xml), part('capture.device.names', 'cam')];
  expect(await pyca.post('/ingest/schedule', chosen)).toMatchObject({ status: 201 });
  expect(await read(`/api/events/${packageId(xml)}/scheduling`)).toMatchObject({ inputs: ['cam'] });
});

test('what addMediaPackage is told as bytes is no track, and a recording as bytes is one', async () => {
  const expected = await scheduled();
  const deliver = async (...more: Part[]) => {
    const parts = [...['flavor', 'tags'].map((name) => asBytes(name, 'presenter/source')), ...more];
    return packageId(ok(await pyca.post('/ingest/addMediaPackage', parts)));
  };
  const told = ['title', 'description', 'temporal', 'workflowDefinitionId'].map((name) => asBytes(name, 'fast'));
  const id = await deliver(asBytes('camera', CAMERA), ...told);
  expect(await tracks(id)).toMatchObject([{ filename: 'camera', sha256: sha256(CAMERA) }]);
  expect(await event(id)).toMatchObject({ title: 'fast', description: 'fast' });
  expect(await workflows(id)).toMatchObject([{ definition: 'fast' }]);
  expect(await deliver(asBytes('BODY', CAMERA), asBytes('workflowInstanceId', expected))).toBe(expected);
});

test.each(['track', 'BODY'])(
  'an archive is taken as bytes in the part %s, and other bytes are fields',
  async (part) => {
    const configuration = { straightToPublishing: 'false', more: 'x' };
    const [before, behind] = Object.entries(configuration).map(([name, value]) => asBytes(name, value));
    const parts = [before, asBytes(part, zipWith(CAMERA)), behind].filter((each) => each !== undefined);
    const id = packageId(ok(await pyca.post('/ingest/addZippedMediaPackage', parts)));
    expect(await tracks(id)).toHaveLength(1);
    expect(await workflows(id)).toMatchObject([{ configuration }]);
  },
);
