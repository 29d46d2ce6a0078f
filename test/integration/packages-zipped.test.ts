import { expect, test } from 'vitest';
import { bytes, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { field, file } from '../support/form.ts';
import { episode, ok, packageId, Recorder } from '../support/packages.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { type ZipPart, zipOf } from '../support/zip.ts';

const bench = EventBench.forThisFile();
const CAMERA = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(3_000_000)]);
const SLIDES = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), bytes(20_000)]);

const recorder = (authorization?: string) => new Recorder(bench.app, authorization);
const rows = (table: 'drafts' | 'staging' | 'events') =>
  bench.app.database.selectFrom(table).selectAll().execute() as Promise<Record<string, unknown>[]>;
const tracks = (id: string) => bench.tracks(id);
const manifest = (files: Record<string, [kind: string, flavor: string]>, id = 'galicaster-1') =>
  `<?xml version="1.0" encoding="UTF-8"?><mediapackage xmlns="http://mediapackage.opencastproject.org" id="${id}"><media>${Object.entries(
    files,
  )
    .filter(([, [kind]]) => kind === 'track')
    .map(
      ([name, [, flavor]]) =>
        `<track type="${flavor}"><mimetype>video/mp4</mimetype><tags/><url>${name}</url></track>`,
    )
    .join('')}</media><metadata>${Object.entries(files)
    .filter(([, [kind]]) => kind === 'catalog')
    .map(([name, [, flavor]]) => `<catalog type="${flavor}"><url>${name}</url></catalog>`)
    .join('')}</metadata></mediapackage>`;
const POLICY = 'security/xacml+episode';
const FILES: Record<string, [string, string]> = {
  'CAMERA.mp4': ['track', 'presenter/source'],
  'SCREEN.mp4': ['track', 'presentation/source'],
  'episode.xml': ['catalog', 'dublincore/episode'],
};
const archive = (more: Partial<ZipPart> = {}, content = manifest(FILES)) =>
  zipOf([
    { name: 'manifest.xml', content, ...more },
    { name: 'CAMERA.mp4', content: CAMERA, ...more },
    { name: 'SCREEN.mp4', content: SLIDES, ...more },
    { name: 'episode.xml', content: episode({ title: 'From the calendar' }), ...more },
    { name: 'org.opencastproject.capture.agent.properties', content: 'a=b\n', ...more },
  ]);
const send = (zip: Buffer, fields: Record<string, string> = {}, by = recorder()) =>
  by.post('/ingest/addZippedMediaPackage', [
    ...Object.entries(fields).map(([name, value]) => field(name, value)),
    file('track', 'mediaPackage.zip', zip),
  ]);

test.each([
  ['stored, as zip -0 makes it', {}],
  ['deflated', { deflated: true }],
  ['with sizes after the content', { deflated: true, descriptor: { signed: true, wide: false } }],
  ['stored with sizes after the content', { descriptor: { signed: true, wide: false } }],
])('as Galicaster delivers: the archive is the recording of the scheduled event: %s', async (_, more) => {
  const agent = newAgent();
  const start = '2030-01-07T09:00:00Z';
  const id = await schedule(bench.app, { agent_id: agent, start, end: '2030-01-07T10:00:00Z' }, 'Algebra');
  const galicaster = recorder(await bench.app.account(agent.replaceAll(' ', '-'), 'ROLE_CAPTURE_AGENT'));
  const fields = { workflowDefinitionId: 'fast', workflowInstanceId: id, straightToPublishing: 'true' };
  const answer = ok(await send(archive(more), fields, galicaster));
  expect(packageId(answer)).toBe(id);
  expect(await tracks(id)).toMatchObject([
    { flavor: 'presenter/source', sha256: sha256(CAMERA), filename: 'CAMERA.mp4', mediatype: 'video/mp4' },
    { flavor: 'presentation/source', sha256: sha256(SLIDES), filename: 'SCREEN.mp4' },
  ]);
  expect(await bench.read(`/api/events/${id}`)).toMatchObject({
    title: 'Algebra',
    processing_state: 'INSTANTIATED',
  });
  expect(await rows('staging')).toEqual([]);
});

/** As Galicaster writes them: what it was told of the schedule, which has no flavor, and files that it may not have packed. */
const besides = (attributes: string) =>
  manifest({ ...FILES, 'series.xml': ['catalog', 'dublincore/series'] }).replace(
    '</mediapackage>',
    `<attachments><attachment id="org.opencastproject.capture.agent.properties" ref="" ${attributes}><mimetype>None</mimetype><tags/><url>org.opencastproject.capture.agent.properties</url></attachment></attachments></mediapackage>`,
  );
test.each(['type=""', ''])(
  'what Galicaster names beside the tracks costs no recording: %j',
  async (attributes) => {
    const agent = newAgent();
    const start = '2030-01-07T09:00:00Z';
    const id = await schedule(bench.app, { agent_id: agent, start, end: '2030-01-07T10:00:00Z' });
    const answer = ok(await send(archive({}, besides(attributes)), { workflowInstanceId: id }));
    expect(packageId(answer)).toBe(id);
    expect(await tracks(id)).toHaveLength(2);
  },
);

const unpacked = (content: string, files: ZipPart[]) =>
  send(zipOf([{ name: 'manifest.xml', content }, { name: 'CAMERA.mp4', content: CAMERA }, ...files]));

test.each([
  ['empty', ''],
  ['no XML', 'title=Algebra'],
  ['cut short', episode({ title: 'Algebra' }).slice(0, 100)],
  ['of a wrong clock', episode({ temporal: 'start=1970-01-01T00:00Z; end=2030-01-01T00:00Z' })],
])('a catalog of the episode that is %s costs no recording', async (what, content) => {
  const id = `catalog ${what}`.replaceAll(' ', '-');
  const files = { 'CAMERA.mp4': FILES['CAMERA.mp4'], 'episode.xml': FILES['episode.xml'] };
  const answer = ok(await unpacked(manifest(files as typeof FILES, id), [{ name: 'episode.xml', content }]));
  expect(packageId(answer)).toBe(id);
  expect(await tracks(id)).toHaveLength(1);
});

test('an input that has recorded nothing does not cost the others; without any it is no recording', async () => {
  const files = manifest({ ...FILES, 'cutting.smil': ['catalog', 'smil/cutting'] }, 'one-input');
  const empty = ['SCREEN.mp4', 'episode.xml', 'cutting.smil'].map((name) => ({ name, content: '' }));
  ok(await unpacked(files, empty));
  expect(await tracks('one-input')).toMatchObject([{ filename: 'CAMERA.mp4' }]);
  const nothing = manifest({ 'SCREEN.mp4': ['track', 'presentation/source'] }, 'no-input');
  expect(await unpacked(nothing, empty)).toMatchObject({ status: 400 });
});

const LONG_POLICY = `<Policy>${' '.repeat(2 ** 20)}</Policy>`;
const smallFiles = (extension: string) =>
  Array.from({ length: 17 }, (_, i) => ({ name: `${i}.${extension}`, content: bytes(2 ** 20) }));
test.each([
  ['no XACML', '<Policy>', []],
  ['empty', '', []],
  ['too long', LONG_POLICY, []],
  ['behind many documents', '<Policy>', smallFiles('xml')],
])(
  'an access control list that is %s is refused for a new event, and does not count for a scheduled one',
  async (what, policy, before) => {
    const content = (id: string) =>
      manifest({ 'CAMERA.mp4': FILES['CAMERA.mp4'], 'p.xml': ['catalog', POLICY] } as typeof FILES, id);
    const files = [...before, { name: 'p.xml', content: policy }];
    expect(await unpacked(content(`policy-${what}`.replaceAll(' ', '-')), files)).toMatchObject({
      status: 400,
      text: expect.stringContaining('access control list'),
    });
    const period = { start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
    const id = await schedule(bench.app, { agent_id: newAgent(), ...period });
    expect(packageId(ok(await unpacked(content(id), files)))).toBe(id);
    expect(
      await bench.app.database.selectFrom('attachments').select('id').where('event_id', '=', id).execute(),
    ).toEqual([]);
    expect(await rows('staging')).toEqual([]);
  },
);

test('hundreds of pictures before the manifest and its documents keep none of them from being read', async () => {
  const files = { 'CAMERA.mp4': FILES['CAMERA.mp4'], 'episode.xml': FILES['episode.xml'] };
  const zip = zipOf([
    ...smallFiles('png'),
    { name: 'CAMERA.mp4', content: CAMERA },
    { name: 'manifest.xml', content: manifest(files as typeof FILES, 'pictures-first') },
    { name: 'episode.xml', content: episode({ title: 'Last' }) },
  ]);
  ok(await send(zip));
  expect(await bench.read('/api/events/pictures-first')).toMatchObject({ title: 'Last' });
});

test('a track without a flavor is 400', async () => {
  const zip = archive({}, manifest({ ...FILES, 'SCREEN.mp4': ['track', ''] }));
  const answer = await send(zip);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.text).toContain('"SCREEN.mp4"');
});

test('a name that is written from right to left, or breaks lines, is kept as that of any file is', async () => {
  const name = 'clips/CAM\u202eERA\u2028.mp4';
  const zip = zipOf([
    { name: 'manifest.xml', content: manifest({ [name]: ['track', 'presenter/source'] }, 'odd-name') },
    { name, content: CAMERA },
  ]);
  const id = packageId(ok(await send(zip)));
  expect(await tracks(id)).toMatchObject([{ filename: 'CAMERA.mp4' }]);
});

test('the archive as the whole body, and an event of its own', async () => {
  const answer = ok(
    await recorder().send('POST', '/ingest/addZippedMediaPackage/fast/', {
      headers: { 'Content-Type': 'application/zip' },
      body: new Uint8Array(archive()),
    }),
  );
  expect(packageId(answer)).toBe('galicaster-1');
  expect(await bench.read('/api/events/galicaster-1')).toMatchObject({ title: 'From the calendar' });
});

test.each([
  ['no archive', Buffer.from('nothing of the kind'), 'zip archive'],
  ['an archive that was cut short', archive().subarray(0, 1_000_000), 'cut short'],
  ['an entry that leaves its folder', zipOf([{ name: '../manifest.xml', content: manifest(FILES) }]), '../'],
  ['no manifest', zipOf([{ name: 'CAMERA.mp4', content: CAMERA }]), 'manifest.xml'],
  [
    'a manifest that names what is not there',
    zipOf([{ name: 'manifest.xml', content: manifest(FILES) }]),
    'CAMERA.mp4',
  ],
  ['a manifest that is no XML', zipOf([{ name: 'manifest.xml', content: 'x' }]), 'manifest.xml'],
  [
    'an entity bomb',
    zipOf([{ name: 'manifest.xml', content: '<!DOCTYPE a [<!ENTITY b "c">]><mediapackage id="&b;"/>' }]),
    'entities',
  ],
  [
    'a bomb',
    zipOf([
      { name: 'manifest.xml', content: manifest({ 'a.mp4': ['track', 'presenter/source'] }) },
      { name: 'a.mp4', content: Buffer.alloc(64 * 2 ** 20), deflated: true },
    ]),
    'zip archive',
  ],
])('%s is 400, and nothing is stored', async (_, zip, sentence) => {
  const before = [await rows('events'), await rows('drafts')];
  const answer = await send(zip);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.text).toContain(sentence);
  expect([await rows('events'), await rows('drafts')]).toEqual(before);
  expect(await rows('staging')).toEqual([]);
});

test('a form without an archive is 400', async () => {
  const answer = await recorder().post('/ingest/addZippedMediaPackage', [field('workflowInstanceId', 'x')]);
  expect(answer).toMatchObject({ status: 400 });
});
