import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ownApp, workerApp } from '../support/app.ts';
import { askEditor, editorData, recordedEvent } from '../support/editor.ts';
import { insertEvent } from '../support/publication.ts';

const app = await workerApp();
const id = await recordedEvent(app, { flagForCutting: 'true' });
const CAPTIONS = 'WEBVTT\n\n00:02.500 --> 00:03.500\nWord\n';
const captions = (more: object) => ({ id: randomUUID(), subtitle: CAPTIONS, tags: [], ...more });

async function save(part: object) {
  const { tracks } = await editorData(app, id);
  const answer = await askEditor(app, id, 'edit.json', { segments: [], tracks, ...part });
  return { status: answer.status, text: await answer.text() };
}

test('an editor changes the captions that it has added by the name that it gave to them', async () => {
  const given = captions({ tags: ['lang:en'] });
  expect((await save({ subtitles: [given] })).status).toBe(200);
  const again = { ...given, id: given.id.toUpperCase(), subtitle: CAPTIONS.replace('Word', 'Other') };
  expect((await save({ subtitles: [again] })).status).toBe(200);
  const [stored, ...others] = (await editorData(app, id)).subtitles;
  expect([stored?.subtitle, others]).toEqual([again.subtitle, []]);
  const last = CAPTIONS.replace('Word', 'Last');
  expect((await save({ subtitles: [{ ...stored, subtitle: last }] })).status).toBe(200);
  expect((await editorData(app, id)).subtitles).toEqual([{ ...stored, subtitle: last }]);
});

test('a browser in which the editor is signed out shows the refusal, and does not ask for a password', async () => {
  const init = { method: 'POST', body: '{}', headers: { 'Sec-Fetch-Site': 'same-origin' } };
  const answer = await app.anonymous(`/editor/${id}/edit.json`, init);
  expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, null]);
});

test('captions and chapters with one name are different', async () => {
  const fresh = captions({ subtitle: CAPTIONS.replace('Word', 'Chapter') });
  expect((await save({ subtitles: [fresh], chapters: [fresh] })).status).toBe(200);
  const { subtitles, chapters } = await editorData(app, id);
  const texts = [subtitles, chapters].map((all) => all.map(({ subtitle }) => subtitle));
  expect(texts).toEqual([expect.arrayContaining([fresh.subtitle]), [fresh.subtitle]]);
});

test('a request that is sent twice concurrently is saved once', async () => {
  const given = captions({ subtitle: CAPTIONS.replace('Word', 'Twice') });
  const answers = await Promise.all([save({ subtitles: [given] }), save({ subtitles: [given] })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const shown = (await editorData(app, id)).subtitles.filter(({ subtitle }) => subtitle === given.subtitle);
  expect(shown).toHaveLength(1);
});

test('two recordings take new captions of the same name concurrently', async () => {
  const other = await recordedEvent(app, { flagForCutting: 'true' });
  const body = { segments: [], tracks: [], subtitles: [captions({})] };
  const answers = await Promise.all([id, other].map((each) => askEditor(app, each, 'edit.json', body)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test('of two pictures of a recording, the last one is kept', async () => {
  const { tracks } = await editorData(app, id);
  const both = ['gif;base64,R0lGODlhAQABAAAAACw=', 'png;base64,iVBORw0KGgo='].flatMap((data) =>
    tracks.map((track) => ({ ...track, thumbnailUri: `data:image/${data}` })),
  );
  expect((await save({ tracks: both })).status).toBe(200);
  expect((await editorData(app, id)).tracks[0]?.thumbnailUri).toMatch(/\/thumbnail\.png$/);
});

test('whatever captions an editor sends, other files of the event stay', async () => {
  const slides = { id: randomUUID(), event_id: id, position: 20, flavor: 'presentation/slides', size: 1 };
  const stored = { filename: 'slides.pdf', mediatype: 'application/pdf', object_key: `track/${slides.id}` };
  await app.database
    .insertInto('tracks')
    .values({ ...slides, ...stored, tags: [] })
    .execute();
  const present = () => app.database.selectFrom('tracks').select('id').where('id', '=', slides.id).execute();
  for (const deleted of [true, false]) {
    expect((await save({ subtitles: [captions({ id: slides.id, deleted })] })).status).toBe(200);
    expect(await present()).toHaveLength(1);
  }
});

test('a segment without a whole millisecond keeps nothing, and the rest of the cut stays readable', async () => {
  const rest = { start: 1000, end: 3000, deleted: false };
  expect((await save({ segments: [{ start: 0.1, end: 0.4, deleted: false }, rest] })).status).toBe(200);
  expect((await editorData(app, id)).segments).toContainEqual({ ...rest, selected: false });
});

test('captions that the editor would not show are refused', async () => {
  const subtitle = `${CAPTIONS}\nNOTE ${'x'.repeat(2 ** 21)}\n`;
  const { id: name, ...rest } = captions({ subtitle });
  const text = `The captions '${name}' are invalid: they have more than 2097152 bytes.`;
  expect(await save({ subtitles: [{ id: name, ...rest }] })).toEqual({ status: 400, text });
});

test.each(['tags', 'workflows', 'subtitles', 'chapters', 'segments', 'tracks'])(
  'a million %s are refused as too many',
  async (name) => {
    const million = Array(1_000_000).fill(0);
    const part = name === 'tags' ? { subtitles: [captions({ tags: million })] } : { [name]: million };
    expect(await save(part)).toEqual({ status: 400, text: 'Unable to parse details' });
  },
);

test.each([
  ['nested lists', `${'['.repeat(2 ** 22)}${']'.repeat(2 ** 22)}`],
  ['members', `{${Array.from({ length: 2 ** 20 }, (_, i) => `"${i}" : 0`)}}`],
])('millions of %s are refused before they are parsed', async (_, other) => {
  const body = `{"segments":[],"tracks":[],"other":${other}}`;
  const answer = await askEditor(app, id, 'edit.json', undefined, { method: 'POST', body });
  expect([answer.status, await answer.text()]).toEqual([400, 'Unable to parse details']);
});

test('the last page of an editor keeps nobody out after processing, although it refreshes its lock', async () => {
  const event = await recordedEvent(app, { flagForCutting: 'true' });
  const lock = async (uuid: string) => {
    const body = new URLSearchParams({ uuid });
    return (await app.request(`/editor/${event}/lock`, { method: 'POST', body })).status;
  };
  const uuid = randomUUID();
  expect(await lock(uuid)).toBe(201);
  const { tracks } = await editorData(app, event);
  const body = { segments: [], tracks, workflows: [{ id: 'schedule-and-upload' }] };
  expect((await askEditor(app, event, 'edit.json', body)).status).toBe(200);
  expect(await lock(uuid)).toBe(201);
  expect((await app.request(`/editor/${event}/lock/${uuid}`, { method: 'DELETE' })).status).toBe(200);
  expect(await lock(uuid)).toBe(201);
  expect(await lock(randomUUID())).toBe(201);
  expect(await lock(uuid)).toBe(409);
});

test('captions that the parser of the editor refuses are shown as it accepts them', async () => {
  const subtitle = CAPTIONS.replace('WEBVTT', 'WEBVTT\nKind: captions').replace('Word', 'Kind');
  expect((await save({ subtitles: [captions({ subtitle })] })).status).toBe(200);
  const texts = (await editorData(app, id)).subtitles.map((each) => each.subtitle);
  expect(texts).toContain('WEBVTT\n\n00:00:02.500 --> 00:00:03.500\nKind\n');
});

test('a refused form shows what was entered, with the reason', async () => {
  const fields: [string, string][] = [
    ['id', id],
    ['uuid', randomUUID()],
    ['action', 'save'],
    ...[
      ['from', '0:01'],
      ['to', '0:02'],
      ['from', '3 "s"'],
      ['to', ''],
    ].map(([name = '', value = '']): [string, string] => [name, value]),
  ];
  const answer = await app.request('/editor-ui', { method: 'POST', body: new URLSearchParams(fields) });
  const page = await answer.text();
  const entered = [...page.matchAll(/name="(?:from|to)" value="([^"]+)"/g)].map(([, value]) => value);
  expect([answer.status, entered]).toEqual([400, ['0:01', '0:02', '3 &quot;s&quot;']]);
  expect(page).toMatch(/role="alert">.*is not a time/);
});

describe('metadata of the site', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
  await writeFile(join(folder, 'list.yaml'), 'list: LICENSES\nvalues: { own: Our license }\n');
  const fields = '[{ id: room, label: Room, type: text, collection: { a1: Great hall } }]';
  const catalog = `resource: event\nflavor: site/episode\ntitle: Site\nfields: ${fields}\n`;
  await writeFile(join(folder, 'catalog.yaml'), catalog);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const site = await ownApp(undefined, { METADATA_DIR: folder });

  test('suggests values by labels that the editor can show, and series by their titles', async () => {
    const series = ['s1', 's2'].map((key) => ({ id: `${key}-${randomUUID()}`, title: 'Analysis I' }));
    for (const each of series) await site.database.insertInto('series').values(each).execute();
    const event = await insertEvent(site.database, { series_id: series[1]?.id });
    const catalogs = (await (await askEditor(site, event, 'metadata.json')).json()) as {
      fields: { id: string; collection?: Record<string, string> }[];
    }[];
    const collections = catalogs.flatMap((each) => each.fields.map(({ id, collection }) => [id, collection] as const));
    expect(Object.fromEntries(collections)).toMatchObject({
      room: { 'Great hall': 'a1' },
      license: { '{"label":"Our license"}': 'own' },
      isPartOf: { 'Analysis I': series[1]?.id, [`Analysis I (${series[0]?.id})`]: series[0]?.id },
    });
  });
});
