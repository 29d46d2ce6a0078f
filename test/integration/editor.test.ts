import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { workerApp } from '../support/app.ts';
import { askEditor, editorData, middleThird, recordedEvent } from '../support/editor.ts';
import { processEvent } from '../support/process-event.ts';

const app = await workerApp();
const CAPTIONS = 'WEBVTT\n\n00:02.500 --> 00:03.500\nWrogn word\n';
const PAUSED = { flagForCutting: 'true' };
const WRITERS = {
  acl: [
    { role: 'ROLE_USER_WRITER_OF_CUTS', action: 'write' },
    { role: 'ROLE_USER', action: 'read' },
  ],
};

interface EventJson {
  processing_state: string;
  duration: number;
  has_previews: boolean;
  publications: { id: string; media: { flavor: string; duration: number; url: string; has_audio: boolean }[] }[];
}

async function eventOf(id: string): Promise<EventJson> {
  return (await app.request(`/api/events/${id}?withpublications=true`)).json();
}

test('a paused recording is cut to its middle third, with corrected captions, and keeps its publication', async () => {
  const id = await recordedEvent(app, PAUSED);
  expect((await eventOf(id)).processing_state).toBe('PAUSED');
  const opened = await editorData(app, id);
  expect(opened).toMatchObject({ segments: [], workflow_active: false, customizedTrackSelection: false });
  expect(opened.workflows.map((workflow) => workflow.id)).toEqual(['schedule-and-upload', 'publish']);
  const added = { id: randomUUID(), subtitle: CAPTIONS, tags: ['lang: en'] };
  const { segments, tracks } = { segments: middleThird(opened.duration), tracks: opened.tracks };
  expect((await askEditor(app, id, 'edit.json', { segments, tracks, subtitles: [added] })).status).toBe(200);
  const saved = await editorData(app, id);
  expect(saved.segments).toEqual(segments);
  const flavor = { type: 'captions', subtype: 'source' };
  expect(saved.subtitles).toEqual([{ id: expect.any(String), flavor, subtitle: CAPTIONS, tags: ['lang:en'] }]);
  const corrected = { ...saved.subtitles[0], subtitle: CAPTIONS.replace('Wrogn', 'Right') };
  const workflows = [{ id: 'schedule-and-upload' }];
  const processed = await askEditor(app, id, 'edit.json', {
    segments,
    tracks,
    subtitles: [corrected],
    workflows,
    quiz: 1,
  });
  expect([processed.status, await processed.text()]).toEqual([200, '']);
  await processEvent(app, id);
  const first = await eventOf(id);
  expect(first).toMatchObject({ processing_state: 'SUCCEEDED', duration: Math.round(opened.duration / 3) });
  const media = first.publications.flatMap((publication) => publication.media);
  const captions = media.find(({ flavor }) => flavor === 'captions/delivery');
  const path = new URL(captions?.url ?? '').pathname;
  expect(await (await app.request(path)).text()).toContain('00:00:00.500 --> 00:00:01.500\nRight word');

  // Again, from the published cut.
  const again = await editorData(app, id);
  expect(again).toMatchObject({ segments, duration: opened.duration });
  expect(again.workflows.map((workflow) => workflow.id)).toEqual(['publish', 'schedule-and-upload']);
  const whole = [{ start: 0, end: opened.duration, deleted: false }];
  await askEditor(app, id, 'edit.json', { segments: whole, tracks, workflows: [{ id: 'publish' }] });
  await processEvent(app, id);
  const second = await eventOf(id);
  expect(second).toMatchObject({ processing_state: 'SUCCEEDED', duration: opened.duration });
  expect(second.publications.map((each) => each.id)).toEqual(first.publications.map((each) => each.id));
});

test('a recording that waits for review after encoding is cut by another workflow', async () => {
  const id = await recordedEvent(app, { flagForReview: 'true' });
  const { duration, tracks, workflows } = await editorData(app, id);
  expect(workflows.map((workflow) => workflow.id)).toEqual(['publish', 'schedule-and-upload']);
  const body = { segments: middleThird(duration), tracks, workflows: [{ id: 'publish' }] };
  expect((await askEditor(app, id, 'edit.json', body)).status).toBe(200);
  await processEvent(app, id);
  expect(await eventOf(id)).toMatchObject({ processing_state: 'SUCCEEDED', duration: duration / 3 });
  const states = app.database.selectFrom('workflows').select('state').where('event_id', '=', id).orderBy('id');
  expect((await states.execute()).map(({ state }) => state)).toEqual(['STOPPED', 'SUCCEEDED']);
});

test('previews and pictures are served in ranges, to those who may write the event only', async () => {
  const writer = { Authorization: await app.account('writer_of_cuts') };
  const reader = { Authorization: await app.account('reader_of_cuts') };
  const id = await recordedEvent(app, PAUSED, { ...WRITERS, tracks: ['presenter', 'presentation'] });
  const { tracks, waveformURIs } = await editorData(app, id);
  for (const uri of [...tracks.map(({ uri }) => uri), ...waveformURIs]) {
    const path = new URL(uri).pathname;
    const part = await app.request(path, { headers: { ...writer, Range: 'bytes=0-99' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100]);
    expect((await app.request(path, { headers: reader })).status).toBe(403);
    expect((await app.anonymous(path)).status).toBe(401);
  }
  const names = [...tracks.map(({ uri }) => uri), ...waveformURIs].map((uri) => uri.split('/').at(-1));
  expect(names).toEqual(
    ['preview.mp4', 'waveform.png'].flatMap((name) => [`presenter-${name}`, `presentation-${name}`]),
  );
});

test('has_previews is true exactly when the editor opens', async () => {
  const unprocessed = await recordedEvent(app, {}, { workflow: 'fast' });
  const shows = async (id: string) => [
    (await eventOf(id)).has_previews,
    (await askEditor(app, id, 'edit.json')).status,
  ];
  expect(await shows(unprocessed)).toEqual([true, 200]);
  await app.database.deleteFrom('publication_elements').where('event_id', '=', unprocessed).execute();
  expect(await shows(unprocessed)).toEqual([false, 400]);
  const paused = await recordedEvent(app, PAUSED);
  expect(await shows(paused)).toEqual([true, 200]);
});

test('left out streams are not published, and the choice is shown again', async () => {
  const id = await recordedEvent(app, PAUSED);
  const { tracks, duration } = await editorData(app, id);
  const silent = tracks.map((track) => ({ ...track, audio_stream: { ...track.audio_stream, enabled: false } }));
  const segments = [{ start: 0, end: duration, deleted: false }];
  const nothing = silent.map((track) => ({ ...track, video_stream: { enabled: false } }));
  const refused = await askEditor(app, id, 'edit.json', { segments, tracks: nothing, customizedTrackSelection: true });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(/every video and audio stream/)]);
  const body = { segments, tracks: silent, customizedTrackSelection: true, workflows: [{ id: 'schedule-and-upload' }] };
  expect((await askEditor(app, id, 'edit.json', body)).status).toBe(200);
  await processEvent(app, id);
  const { publications } = await eventOf(id);
  expect(publications[0]?.media.map(({ has_audio }) => has_audio)).toEqual(expect.not.arrayContaining([true]));
  const reopened = await editorData(app, id);
  expect(reopened).toMatchObject({ customizedTrackSelection: true });
  expect(reopened.tracks[0]).toMatchObject({ audio_stream: { available: true, enabled: false } });
});

const PICTURES = [
  ['png', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'],
  ['webp', 'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoQABAAAgA0JaACdLoB+AADsAD+8Oj3/yC5YXXI1/8gP+QH/ID/+PIAAAA='],
] as const;

test.each(PICTURES)('a chosen %s picture becomes the poster of the publication', async (format, picture) => {
  const id = await recordedEvent(app, PAUSED);
  const { tracks } = await editorData(app, id);
  const withPicture = tracks.map((track) => ({ ...track, thumbnailUri: `data:image/${format};base64,${picture}` }));
  const body = { segments: [], tracks: withPicture, workflows: [{ id: 'schedule-and-upload' }] };
  expect((await askEditor(app, id, 'edit.json', body)).status).toBe(200);
  await processEvent(app, id);
  expect(await eventOf(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
  const { thumbnailUri } = (await editorData(app, id)).tracks[0] ?? {};
  const shown = await app.request(new URL(thumbnailUri ?? '').pathname);
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(Buffer.from(picture, 'base64'));
  const poster = await app.database
    .selectFrom('publication_elements')
    .select('size')
    .where('event_id', '=', id)
    .where('flavor', '=', 'presenter/player+preview')
    .executeTakeFirstOrThrow();
  expect(Number(poster.size)).toBeLessThan(1000);

  // A damaged one costs no recording.
  const damaged = tracks.map((track) => ({
    ...track,
    thumbnailUri: `data:image/${format};base64,${picture.slice(0, 40)}`,
  }));
  await askEditor(app, id, 'edit.json', { segments: [], tracks: damaged, workflows: [{ id: 'publish' }] });
  await processEvent(app, id);
  expect(await eventOf(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
});

test('editors that know captions by their flavor correct, add and delete them', async () => {
  const id = await recordedEvent(app, PAUSED);
  const { tracks } = await editorData(app, id);
  const german = { type: 'captions', subtype: 'source+de' };
  const save = async (...subtitles: object[]) => {
    const body = { segments: [], tracks, subtitles };
    expect((await askEditor(app, id, 'edit.json', body)).status).toBe(200);
    return (await editorData(app, id)).subtitles;
  };
  const [added] = await save({ flavor: german, subtitle: CAPTIONS });
  expect(added).toMatchObject({ flavor: german, subtitle: CAPTIONS });
  const right = CAPTIONS.replace('Wrogn', 'Right');
  expect(await save({ flavor: german, subtitle: right })).toEqual([{ ...added, subtitle: right }]);
  expect(await save({ flavor: german, deleted: true })).toEqual([]);
});

test('a lock keeps others out, is refreshed and released by its editor, and expires', async () => {
  const id = await recordedEvent(app, PAUSED, WRITERS);
  const { tracks, lock_uuid: uuid } = await editorData(app, id);
  const other = { Authorization: await app.account('ada_of_locks', 'ROLE_USER_WRITER_OF_CUTS') };
  const lock = (lockId: string, headers = {}) =>
    app.request(`/editor/${id}/lock`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ user: 'x', uuid: lockId }),
    });
  const taken = await lock(uuid);
  expect([taken.status, taken.headers.get('Location')]).toEqual([201, `http://inlet.test/editor/${id}/lock/${uuid}`]);
  expect((await lock(uuid)).status).toBe(201);
  const refused = await lock(randomUUID(), other);
  expect([refused.status, await refused.text()]).toEqual([409, `Event '${id}' is locked by admin`]);
  const save = () => askEditor(app, id, 'edit.json', { segments: [], tracks }, { headers: other });
  expect((await save()).status).toBe(409);
  const facts = await (await app.request(`/admin/recordings/${id}`)).text();
  expect(facts).toContain('Open in an editor');
  await app.database
    .updateTable('editor_locks')
    .set({ expires_at: new Date(0) })
    .where('event_id', '=', id)
    .execute();
  expect((await save()).status).toBe(200);
  expect((await lock(randomUUID(), other)).status).toBe(201);
  const release = (lockId: string) => app.request(`/editor/${id}/lock/${lockId}`, { method: 'DELETE' });
  expect((await release(uuid)).status).toBe(409);
  await app.database.deleteFrom('editor_locks').where('event_id', '=', id).execute();
  expect((await release(uuid)).status).toBe(200);
});

test('metadata are read and written by the rules of the External API', async () => {
  const metadata = { subjects: ['Maths', 'Logic, old'], creator: ['Emmy N.'], license: 'CC-BY' };
  const id = await recordedEvent(app, PAUSED, { metadata });
  const read = async () => (await (await askEditor(app, id, 'metadata.json')).json()) as MetadataJson;
  const catalogs = await read();
  const fieldOf = (all: MetadataJson, name: string) =>
    all.flatMap(({ fields }) => fields).find((each) => each.id === name);
  expect(fieldOf(catalogs, 'creator')).toMatchObject({ value: ['Emmy N.'], collection: { 'Emmy N.': 'Emmy N.' } });
  expect(fieldOf(catalogs, 'subject')).toMatchObject({
    value: ['Maths', 'Logic, old'],
    collection: { Maths: 'Maths' },
  });
  const license = Object.entries(fieldOf(catalogs, 'license')?.collection ?? {}).find(([, value]) => value === 'CC-BY');
  expect(JSON.parse(license?.[0] ?? '')).toMatchObject({ label: 'EVENTS.LICENSE.CCBY' });
  expect((await askEditor(app, id, 'metadata.json', catalogs)).status).toBe(200);
  expect(await read()).toEqual(catalogs);
  const renamed = catalogs.map((catalog) => ({
    ...catalog,
    fields: catalog.fields.map((each) => (each.id === 'title' ? { ...each, value: 'Renamed' } : each)),
  }));
  const { tracks } = await editorData(app, id);
  const body = { segments: [], tracks, metadataJSON: JSON.stringify(renamed) };
  expect((await askEditor(app, id, 'edit.json', body)).status).toBe(200);
  expect((await editorData(app, id)).title).toBe('Renamed');
  const bad = await askEditor(app, id, 'metadata.json', [
    { flavor: 'dublincore/episode', fields: [{ id: 'title', value: '' }] },
  ]);
  expect(bad.status).toBe(400);
});

type MetadataJson = { fields: { id: string; value: unknown; collection?: Record<string, string> }[] }[];

test('what cannot be saved is refused with the reason, and nothing of it is kept', async () => {
  const id = await recordedEvent(app, PAUSED);
  const { duration, tracks } = await editorData(app, id);
  const at = (start: number, end: number, deleted = false) => ({ start, end, deleted });
  const refusals = [
    [{ segments: [at(0, duration, true)] }, 'The cut is invalid: it deletes the whole recording.'],
    [
      { segments: [at(0, 4000), at(3000, duration)] },
      'The cut is invalid: the segments that start at 0 s and 3 s overlap.',
    ],
    [{ segments: [at(0, 60_000)] }, 'The cut is invalid: segment 1 ends at 60 s, but the recording ends at 6 s.'],
    [{ segments: [at(90_000, 99_000)] }, 'The cut is invalid: segment 1 ends at 99 s, but the recording ends at 6 s.'],
    [{ segments: [at(2000, 1000)] }, 'The cut is invalid: segment 1 ends at 1 s, not after its start at 2 s.'],
    [{ segments: [at(-5, 1000)] }, 'The cut is invalid: segment 1 starts at -0.005 s, before the recording.'],
    [{ segments: 'all' }, 'Unable to parse details'],
    [{ subtitles: [{ subtitle: CAPTIONS }] }, 'Unable to parse details'],
    [
      { subtitles: [{ flavor: { type: 'presenter', subtype: 'source' }, subtitle: CAPTIONS }] },
      'Unable to parse details',
    ],
    [
      { subtitles: [{ id: 'c', subtitle: 'Hello', tags: [] }] },
      "The captions 'c' are invalid: they must be WebVTT and begin with 'WEBVTT'.",
    ],
    [{ subtitles: [{ id: 'c', subtitle: 'WEBVTT\n\n1 --> 2\nx', tags: [] }] }, /line 3 must have times/],
    [{ tracks: [{ id: 'other' }] }, "The event has no track 'other'."],
    [
      { tracks: [{ ...tracks[0], thumbnailUri: 'data:image/png;base64,AAAA' }] },
      /must be a PNG, JPEG, GIF or WebP picture/,
    ],
    [
      { workflows: [{ id: 'retract' }] },
      "The workflow 'retract' is not for editors; allowed are schedule-and-upload, publish.",
    ],
  ] as const;
  for (const [part, sentence] of refusals) {
    const answer = await askEditor(app, id, 'edit.json', { segments: [], tracks, ...part });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([
      400,
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    ]);
  }
  for (const text of ['', 'null', '{"segments":[]}', '{'])
    expect((await askEditor(app, id, 'edit.json', undefined, { method: 'POST', body: text })).status).toBe(400);
  expect(await editorData(app, id)).toMatchObject({ segments: [], subtitles: [] });
});

test('nothing is saved while a workflow runs, without write access, or after the event was deleted', async () => {
  const id = await recordedEvent(app, PAUSED, WRITERS);
  const { tracks } = await editorData(app, id);
  const reader = { Authorization: await app.account('reader_of_edits') };
  const save = (headers = {}) => askEditor(app, id, 'edit.json', { segments: [], tracks }, { headers });
  const denied = await save(reader);
  expect([denied.status, await denied.text()]).toEqual([403, 'No write access to this event.']);
  expect((await save()).status).toBe(200);
  expect((await askEditor(app, id, 'edit.json', { segments: [], tracks, workflows: [{ id: 'publish' }] })).status).toBe(
    200,
  );
  expect(await editorData(app, id)).toMatchObject({ workflow_active: true, locking_active: false });
  expect((await save()).status).toBe(423);
  await app.request(`/api/events/${id}`, { method: 'DELETE' });
  const gone = await save();
  expect([gone.status, await gone.text()]).toEqual([404, `Event '${id}' not Found`]);
});
