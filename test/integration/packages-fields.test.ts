import { expect, test } from 'vitest';
import { bytes, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { field, file, type Part } from '../support/form.ts';
import { episode, ok, packageId, Recorder, workflowId } from '../support/packages.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { zipOf } from '../support/zip.ts';

/** Fields of media packages that clients send as files, or as bytes without a file name. */
const bench = EventBench.forThisFile();
const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(2_000)]);
const recorder = () => new Recorder(bench.app);
const asFile = (name: string, content: string) => file(name, `${name}.xml`, Buffer.from(content));
const asBytes = (name: string, content: string | Uint8Array): Part => ({
  name,
  content,
  type: 'application/octet-stream',
});
const withTrack = async () => ok(await recorder().addTrack(await recorder().create(), CAMERA));

test.each([
  ['a file', asFile],
  ['bytes', asBytes],
])('the media package is taken as %s wherever it is sent back', async (_, part) => {
  const ingested = ok(await recorder().post('/ingest/ingest', [part('mediaPackage', await withTrack())]));
  expect(workflowId(ingested)).toBeGreaterThan(0);

  const discarded = await withTrack();
  ok(await recorder().post('/ingest/discardMediaPackage', [part('mediaPackage', discarded)]));
  expect(await recorder().ingest(discarded)).toMatchObject({ status: 404 });

  const spatial = newAgent();
  const temporal = 'start=2031-01-01T10:00Z; end=2031-01-01T11:00Z; scheme=W3C-DTF;';
  const dublinCore = part('dublinCore', episode({ title: 'Now', spatial, temporal }));
  const planned = [part('mediaPackage', await recorder().create()), dublinCore];
  const xml = ok(await recorder().post('/ingest/addDCCatalog', planned));
  const scheduled = [part('mediaPackage', xml), part('capture.device.names', 'cam')];
  expect(await recorder().post('/ingest/schedule', scheduled)).toMatchObject({ status: 201 });
  expect(await bench.read(`/api/events/${packageId(xml)}/scheduling`)).toMatchObject({ inputs: ['cam'] });
});

test('a value of the workflow is taken as bytes at ingest', async () => {
  const parts = [field('mediaPackage', await withTrack()), asBytes('straightToPublishing', 'false')];
  const id = packageId(ok(await recorder().post('/ingest/ingest', parts)));
  expect(await bench.workflows(id)).toMatchObject([{ configuration: { straightToPublishing: 'false' } }]);
});

test('what addMediaPackage is told as bytes is no track, and a recording as bytes is one', async () => {
  const period = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
  const scheduled = await schedule(bench.app, { agent_id: newAgent(), ...period });
  const deliver = async (...more: Part[]) => {
    const parts = [...['flavor', 'tags'].map((name) => asBytes(name, 'presenter/source')), ...more];
    return packageId(ok(await recorder().post('/ingest/addMediaPackage', parts)));
  };
  const id = await deliver(
    asBytes('camera', CAMERA),
    ...['title', 'description', 'temporal', 'workflowDefinitionId'].map((name) => asBytes(name, 'fast')),
  );
  expect(await bench.tracks(id)).toMatchObject([{ filename: 'camera', sha256: sha256(CAMERA) }]);
  expect(await bench.read(`/api/events/${id}`)).toMatchObject({ title: 'fast', description: 'fast' });
  expect(await bench.workflows(id)).toMatchObject([{ definition: 'fast' }]);
  expect(await deliver(asBytes('BODY', CAMERA), asBytes('workflowInstanceId', scheduled))).toBe(scheduled);
});

test.each(['track', 'BODY'])(
  'an archive is taken as bytes in the part %s, and other bytes are fields',
  async (part) => {
    const manifest =
      '<mediapackage><media><track type="presenter/source"><url>a.mp4</url></track></media></mediapackage>';
    const zip = zipOf([
      { name: 'manifest.xml', content: manifest },
      { name: 'a.mp4', content: CAMERA },
    ]);
    const parts = [asBytes('straightToPublishing', 'false'), asBytes(part, zip), asBytes('more', 'x')];
    const id = packageId(ok(await recorder().post('/ingest/addZippedMediaPackage', parts)));
    expect(await bench.tracks(id)).toHaveLength(1);
    const configuration = { straightToPublishing: 'false', more: 'x' };
    expect(await bench.workflows(id)).toMatchObject([{ configuration }]);
  },
);
