import { afterEach, describe, expect, test } from 'vitest';
import { type ObjectStorage, storageRefused } from '#platform/storage/object-storage.ts';
import { ownApp } from '../support/app.ts';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { BENCH_PERIOD, EventBench } from '../support/event-bench.ts';
import { sendForm, traceOf } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, update } from '../support/scheduling.ts';
import { catalogOf } from '../support/series.ts';
import { storageWith } from '../support/storage-with.ts';

const bench = EventBench.forThisFile();

const SRT = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nHello\n');
const VTT = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
const STATUS = 'EVENTS.EVENTS.STATUS.';

const scheduled = (recording_state = '') => bench.scheduled({ recording_state });
const recorded = (id: string, name = 'a.mp4', size = 1000) =>
  update(bench.app, id, [file('presenter', name, bytes(size))]);
const track = (id: string, flavor: string, content: Uint8Array = bytes(1000), overwriteExisting = false) =>
  sendForm(bench.app, `/api/events/${id}/track`, [
    field('flavor', flavor),
    ...(overwriteExisting ? [field('overwriteExisting', 'true')] : []),
    file('track', 'file', content),
  ]);
const event = (id: string) => bench.read(`/api/events/${id}`);
const flavors = async (id: string) => (await bench.tracks(id)).map(({ position, flavor }) => [position, flavor]);
const definitions = async (id: string) => (await bench.workflows(id)).map(({ definition }) => definition);
const setState = (id: string, processing_state: string) =>
  bench.app.database.updateTable('events').set({ processing_state }).where('id', '=', id).execute();

describe('POST /api/events/{id}/track for an event that awaits its recording', () => {
  test.each(['', 'capture_error'])('attaches it and starts the workflow of the schedule (%j before)', async (state) => {
    const id = await scheduled(state);
    const before = await counts(bench.app);
    expect(await track(id, 'presentation/source')).toMatchObject({ status: 200, text: '' });
    expect(await flavors(id)).toEqual([[0, 'presentation/source']]);
    const begun = { processing_state: 'INSTANTIATED', status: `${STATUS}PENDING`, archive_version: 1 };
    expect(await event(id)).toMatchObject(begun);
    expect(await definitions(id)).toEqual(['schedule-and-upload']);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });

  test.each([
    ['WebVTT', 'captions/source', VTT],
    ['WebVTT under another flavor', 'presenter/source', VTT],
    ['captions of another kind', 'captions/delivery', SRT],
    ['captions that are not recognised', 'subtitles/source', SRT],
    ['slides as a document', 'presentation/pdf', Buffer.from('%PDF-1.7\n')],
    ['a picture', 'presenter/thumbnail', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ])('%s starts nothing: the recording is awaited as before, and taken then', async (_, flavor, content) => {
    const id = await scheduled();
    expect((await track(id, flavor, content)).status).toBe(200);
    expect(await event(id)).toMatchObject({ processing_state: '', status: `${STATUS}SCHEDULED` });
    expect(await definitions(id)).toEqual([]);
    expect((await recorded(id)).status).toBe(204);
    expect(await flavors(id)).toEqual([
      [0, flavor],
      [1, 'presenter/source'],
    ]);
    expect(await definitions(id)).toHaveLength(1);
  });

  test('removing tracks starts nothing', async () => {
    const id = await scheduled();
    await track(id, 'captions/source', VTT);
    const parts = [field('flavor', 'captions/source'), field('overwriteExisting', 'true'), field('track', '')];
    expect((await sendForm(bench.app, `/api/events/${id}/track`, parts)).status).toBe(200);
    expect(await flavors(id)).toEqual([]);
    expect(await definitions(id)).toEqual([]);
    expect((await event(id)).status).toBe(`${STATUS}SCHEDULED`);
  });

  test('of ten concurrent recordings, by this request and by updates, one is taken, and nothing of the others stays', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? recorded(id) : track(id, 'presenter/source', bytes(1000), true))),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toHaveLength(1);
    expect(await flavors(id)).toEqual([[0, 'presenter/source']]);
    expect(await definitions(id)).toHaveLength(1);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });
});

describe('POST /api/events/{id}/track for a scheduled event whose recording has come', () => {
  test('409 while it is processed, as for an update', async () => {
    const id = await scheduled();
    await track(id, 'presenter/source');
    expect(await track(id, 'presentation/source')).toMatchObject({
      status: 409,
      text: `Cannot update while a workflow is running on event '${id}'`,
    });
    expect((await recorded(id)).status).toBe(409);
    expect(await flavors(id)).toHaveLength(1);
  });

  test('then another track beside the first, and no workflow', async () => {
    const id = await scheduled();
    await track(id, 'presenter/source');
    await setState(id, 'SUCCEEDED');
    expect((await track(id, 'presenter/source')).status).toBe(200);
    expect(await flavors(id)).toEqual([
      [0, 'presenter/source'],
      [1, 'presenter/source'],
    ]);
    expect(await definitions(id)).toHaveLength(1);
    expect((await event(id)).processing_state).toBe('SUCCEEDED');
  });

  test('409 for one that is to replace it, which stays; captions are replaced', async () => {
    const id = await scheduled();
    await track(id, 'captions/source', VTT);
    await track(id, 'presenter/source');
    await setState(id, 'SUCCEEDED');
    const presenter = async () => (await bench.tracks(id)).filter(({ flavor }) => flavor === 'presenter/source');
    const first = await presenter();
    expect(await track(id, 'presenter/source', bytes(500), true)).toMatchObject({
      status: 409,
      text: `The recording of the event '${id}' has already arrived.`,
    });
    expect((await track(id, 'captions/source', VTT, true)).status).toBe(200);
    expect(await presenter()).toEqual(first);
    expect(await flavors(id)).toHaveLength(2);
  });
});

describe('a scheduled recording that could not be processed', () => {
  async function failed(): Promise<string> {
    const id = await scheduled();
    expect((await recorded(id, 'broken.mp4', 3000)).status).toBe(204);
    const workflows = bench.app.database.updateTable('workflows').set({ state: 'FAILED' });
    await workflows.where('event_id', '=', id).execute();
    await setState(id, 'FAILED');
    return id;
  }

  test('can be followed by another one, which takes its place', async () => {
    const id = await failed();
    const [broken] = await bench.tracks(id);
    expect((await recorded(id, 'again.mp4', 2000)).status).toBe(204);
    expect(await bench.tracks(id)).toMatchObject([{ filename: 'again.mp4' }]);
    expect(await definitions(id)).toHaveLength(2);
    expect((await event(id)).processing_state).toBe('INSTANTIATED');
    const released = bench.app.database.selectFrom('staging').select('owner');
    const former = await released.where('object_key', '=', broken?.object_key ?? '').executeTakeFirst();
    expect(former).toEqual({ owner: null });
    expect((await recorded(id, 'third.mp4')).status).toBe(409);
  });

  test('is processed as a track in place of the failed one, not as one beside it', async () => {
    const id = await failed();
    expect((await track(id, 'presenter/source', bytes(1500))).status).toBe(200);
    expect(await definitions(id)).toHaveLength(1);
    expect((await track(id, 'presenter/source', bytes(1500), true)).status).toBe(200);
    expect(await bench.tracks(id)).toMatchObject([{ filename: 'file', size: 1500 }]);
    expect(await definitions(id)).toHaveLength(2);
  });
});

describe('a recording that cannot be stored', async () => {
  let put: ObjectStorage['put'] | undefined;
  afterEach(() => {
    put = undefined;
  });
  const app = await ownApp((storage) =>
    storageWith(storage, { put: (...args) => (put ?? storage.put.bind(storage))(...args) }),
  );
  const PARTS = [
    field('metadata', catalogOf({ title: 'After' }, 'dublincore/episode')),
    // More than fits into the buffers between the form and the storage.
    file('presenter', 'a.mp4', bytes(2 ** 20)),
  ];
  test.each([
    ['takes nothing', new Error('AccessDenied'), 503],
    ['has no room left', Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), 507],
  ])(
    'while object storage %s, nothing of an update is applied, and the recording can be sent again',
    async (_, error, status) => {
      const id = await insertScheduled(app.database, { agent_id: newAgent(), ...BENCH_PERIOD });
      const before = [await traceOf(app, id), await counts(app)];
      put = () => Promise.reject(storageRefused(error));
      expect((await update(app, id, PARTS)).status).toBe(status);
      put = undefined;
      expect([await traceOf(app, id), await counts(app)]).toEqual(before);
      expect((await update(app, id, PARTS)).status).toBe(204);
    },
  );
});
