import { expect, test } from 'vitest';
import { workerApp } from '../support/app.ts';
import { sha256 } from '../support/bytes.ts';
import { field, file } from '../support/form.ts';
import { episode, movie, ok, packageId, packageRows, Recorder, refusal, unique } from '../support/packages.ts';
import { newAgent, schedule } from '../support/scheduling.ts';
import { type ZipPart, zipOf } from '../support/zip.ts';

/** Media packages in zip archives, as Galicaster sends them. */
const app = await workerApp();
const { count, read, tracks, storesNothing } = packageRows(app);
/** Longer than what is kept until the manifest says what it is. */
const CAMERA = movie(1_200_000);
const SLIDES = movie(20_000);
const POLICY = 'security/xacml+episode';

type Files = Record<string, [kind: 'track' | 'catalog', flavor: string]>;
const ONE_TRACK: Files = { 'CAMERA.mp4': ['track', 'presenter/source'] };
const ONE_TITLED: Files = { ...ONE_TRACK, 'episode.xml': ['catalog', 'dublincore/episode'] };
const FILES: Files = { ...ONE_TITLED, 'SCREEN.mp4': ['track', 'presentation/source'] };

const agent = new Recorder(app);
const manifest = (files: Files, id = unique('galicaster')) => {
  const elements = (wanted: string) =>
    Object.entries(files)
      .filter(([, [kind]]) => kind === wanted)
      .map(([name, [kind, flavor]]) => `<${kind} type="${flavor}"><tags/><url>${name}</url></${kind}>`)
      .join('');
  return `<?xml version="1.0" encoding="UTF-8"?><mediapackage xmlns="http://mediapackage.opencastproject.org" id="${id}"><media>${elements('track')}</media><metadata>${elements('catalog')}</metadata></mediapackage>`;
};
const archive = (content = manifest(FILES), more: Partial<ZipPart> = {}) =>
  zipOf(
    [
      { name: 'manifest.xml', content },
      { name: 'CAMERA.mp4', content: CAMERA },
      { name: 'SCREEN.mp4', content: SLIDES },
      { name: 'episode.xml', content: episode({ title: 'From the calendar' }) },
      { name: 'org.opencastproject.capture.agent.properties', content: 'a=b\n' },
    ].map((part) => ({ ...part, ...more })),
  );
const send = (zip: Buffer, fields: Record<string, string> = {}, by = agent, part = 'track') =>
  by.post('/ingest/addZippedMediaPackage', [
    ...Object.entries(fields).map(([name, value]) => field(name, value)),
    file(part, 'mediaPackage.zip', zip),
  ]);
/** Sends a manifest, a track and what else belongs to it. */
const unpacked = (content: string, files: ZipPart[]) =>
  send(zipOf([{ name: 'manifest.xml', content }, { name: 'CAMERA.mp4', content: CAMERA }, ...files]));
const scheduled = (agent_id = newAgent()) =>
  schedule(app, { agent_id, start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' }, 'Algebra');

test.each<[string, Partial<ZipPart>, string]>([
  ['stored, as zip -0 makes it', {}, 'track'],
  ['with sizes after the content', { descriptor: { signed: true, wide: false } }, 'mediaPackage.zip'],
])('as Galicaster delivers: the archive is the recording of the scheduled event: %s', async (_, more, part) => {
  const name = newAgent();
  const id = await scheduled(name);
  const staged = await count('staging');
  const galicaster = new Recorder(app, await app.account(name.replaceAll(' ', '-'), 'ROLE_CAPTURE_AGENT'));
  const fields = { workflowDefinitionId: 'fast', workflowInstanceId: id, straightToPublishing: 'true' };
  expect(packageId(ok(await send(archive(undefined, more), fields, galicaster, part)))).toBe(id);
  expect(await tracks(id)).toMatchObject([
    { flavor: 'presenter/source', sha256: sha256(CAMERA), filename: 'CAMERA.mp4', mediatype: 'video/mp4' },
    { flavor: 'presentation/source', sha256: sha256(SLIDES), filename: 'SCREEN.mp4' },
  ]);
  const shown = { title: 'Algebra', processing_state: 'INSTANTIATED' };
  expect(await read(`/api/events/${id}`)).toMatchObject(shown);
  expect(await count('staging')).toBe(staged);
});

/** As Galicaster writes them: what it was told of the schedule, which has no flavor, and files that it may not have packed. */
const besides = (attributes: string) =>
  manifest({ ...FILES, 'series.xml': ['catalog', 'dublincore/series'] }).replace(
    '</mediapackage>',
    `<attachments><attachment id="org.opencastproject.capture.agent.properties" ref="" ${attributes}><mimetype>None</mimetype><tags/><url>org.opencastproject.capture.agent.properties</url></attachment></attachments></mediapackage>`,
  );
test.each(['type=""', ''])('what Galicaster names beside the tracks costs no recording: %j', async (attributes) => {
  const id = await scheduled();
  const answer = ok(await send(archive(besides(attributes)), { workflowInstanceId: id }));
  expect(packageId(answer)).toBe(id);
  expect(await tracks(id)).toHaveLength(2);
});

test.each([
  ['empty', ''],
  ['no XML', 'title=Algebra'],
  ['of a wrong clock', episode({ temporal: 'start=1970-01-01T00:00Z; end=2030-01-01T00:00Z' })],
])('a catalog of the episode that is %s costs no recording', async (_, content) => {
  const id = unique('catalog');
  const answer = ok(await unpacked(manifest(ONE_TITLED, id), [{ name: 'episode.xml', content }]));
  expect(packageId(answer)).toBe(id);
  expect(await tracks(id)).toHaveLength(1);
});

test('an input that has recorded nothing does not cost the others; without any it is no recording', async () => {
  const id = unique('one-input');
  const empty = ['SCREEN.mp4', 'episode.xml', 'cutting.smil'].map((name) => ({ name, content: '' }));
  ok(await unpacked(manifest({ ...FILES, 'cutting.smil': ['catalog', 'smil/cutting'] }, id), empty));
  expect(await tracks(id)).toMatchObject([{ filename: 'CAMERA.mp4' }]);
  const nothing = manifest({ 'SCREEN.mp4': ['track', 'presentation/source'] });
  expect(await unpacked(nothing, empty)).toMatchObject({ status: 400 });
});

/** As many small files as are kept, packed to little. */
const smallFiles = (extension: string): ZipPart[] =>
  Array.from({ length: 17 }, (_, i) => {
    return { name: `${i}.${extension}`, content: Buffer.alloc(2 ** 20), deflated: true };
  });
test.each([
  ['no XACML', '<Policy>', []],
  ['empty', '', []],
  ['too long', `<Policy>${' '.repeat(2 ** 20)}</Policy>`, []],
  ['behind many documents', '<Policy>', smallFiles('xml')],
])(
  'an access control list that is %s is refused for a new event, and does not count for a scheduled one',
  async (_, content, before) => {
    const files = [...before, { name: 'p.xml', content }];
    const naming = (id: string) => manifest({ ...ONE_TRACK, 'p.xml': ['catalog', POLICY] }, id);
    await storesNothing(async () =>
      expect(await unpacked(naming(unique('policy')), files)).toMatchObject(refusal(400, 'access control list')),
    );
    const id = await scheduled();
    const staged = await count('staging');
    expect(packageId(ok(await unpacked(naming(id), files)))).toBe(id);
    const attachments = app.database.selectFrom('attachments').select('id').where('event_id', '=', id);
    expect(await attachments.execute()).toEqual([]);
    expect(await count('staging')).toBe(staged);
  },
);

test('hundreds of pictures before the manifest and its documents keep none of them from being read', async () => {
  const id = unique('pictures-first');
  const zip = zipOf([
    ...smallFiles('png'),
    { name: 'CAMERA.mp4', content: CAMERA },
    { name: 'manifest.xml', content: manifest(ONE_TITLED, id) },
    { name: 'episode.xml', content: episode({ title: 'Last' }) },
  ]);
  ok(await send(zip));
  expect(await read(`/api/events/${id}`)).toMatchObject({ title: 'Last' });
});

test('a name that is written from right to left, or breaks lines, is kept as that of any file is', async () => {
  const name = 'clips/CAM\u202eERA\u2028.mp4';
  const content = manifest({ [name]: ['track', 'presenter/source'] });
  const zip = zipOf([
    { name: 'manifest.xml', content },
    { name, content: CAMERA },
  ]);
  expect(await tracks(packageId(ok(await send(zip))))).toMatchObject([{ filename: 'CAMERA.mp4' }]);
});

test('the archive as the whole body, and an event of its own', async () => {
  const id = unique('galicaster');
  const body = new Uint8Array(archive(manifest(FILES, id)));
  const init = { headers: { 'Content-Type': 'application/zip' }, body };
  const answer = ok(await agent.send('POST', '/ingest/addZippedMediaPackage/fast/', init));
  expect(packageId(answer)).toBe(id);
  expect(answer).toContain('<wf:template>fast</wf:template>');
  expect(await read(`/api/events/${id}`)).toMatchObject({ title: 'From the calendar' });
});

// The unit tests of zip archives and of XML have every fault of these; here is one of each kind.
const only = (name: string, content: string | Buffer) => zipOf([{ name, content }]);
test.each([
  ['an archive that was cut short', archive().subarray(0, 600_000), 'cut short'],
  ['no manifest', only('CAMERA.mp4', CAMERA), 'manifest.xml'],
  ['a manifest that names what is not there', only('manifest.xml', manifest(FILES)), 'CAMERA.mp4'],
  ['a manifest that is no XML', only('manifest.xml', 'x'), 'manifest.xml'],
  ['a track without a flavor', archive(manifest({ ...FILES, 'SCREEN.mp4': ['track', ''] })), '"SCREEN.mp4"'],
])('%s is 400, and nothing is stored', async (_, zip, sentence) => {
  await storesNothing(async () => expect(await send(zip)).toMatchObject(refusal(400, sentence)));
});

test('a form without an archive is 400', async () => {
  const answer = await agent.post('/ingest/addZippedMediaPackage', [field('workflowInstanceId', 'x')]);
  expect(answer).toMatchObject({ status: 400 });
});
