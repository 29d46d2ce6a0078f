import { describe, expect, test } from 'vitest';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { sendForm } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent, update } from '../support/scheduling.ts';

const bench = EventBench.forThisFile();

const SRT = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nHello\n');
const VTT = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');

const scheduled = (recording_state = '') =>
  insertScheduled(bench.app.database, {
    agent_id: newAgent(),
    start: '2030-01-07T09:00:00Z',
    end: '2030-01-07T10:00:00Z',
    recording_state,
  });
const track = (
  id: string,
  flavor: string,
  content: Uint8Array = bytes(1000),
  more: [string, string][] = [],
) =>
  sendForm(bench.app, `/api/events/${id}/track`, [
    field('flavor', flavor),
    ...more.map(([name, value]) => field(name, value)),
    file('track', 'file', content),
  ]);
const event = (id: string) => bench.read(`/api/events/${id}`);
const flavors = async (id: string) => {
  const rows = bench.app.database
    .selectFrom('tracks')
    .select(['position', 'flavor'])
    .where('event_id', '=', id);
  return (await rows.orderBy('position').execute()).map(({ position, flavor }) => [position, flavor]);
};
/** Ends the workflow of an event. */
const finish = (id: string) =>
  bench.app.database
    .updateTable('events')
    .set({ processing_state: 'SUCCEEDED' })
    .where('id', '=', id)
    .execute();
const workflows = (id: string) =>
  bench.app.database.selectFrom('workflows').select('definition').where('event_id', '=', id).execute();

describe('POST /api/events/{id}/track for an event that awaits its recording', () => {
  test.each(['', 'capture_error'])(
    'attaches it and starts the workflow of the schedule (%j before)',
    async (state) => {
      const id = await scheduled(state);
      expect(await track(id, 'presentation/source')).toMatchObject({ status: 200, text: '' });
      expect(await flavors(id)).toEqual([[0, 'presentation/source']]);
      expect(await event(id)).toMatchObject({
        processing_state: 'INSTANTIATED',
        status: 'EVENTS.EVENTS.STATUS.PENDING',
        archive_version: 1,
      });
      expect(await workflows(id)).toEqual([{ definition: 'schedule-and-upload' }]);
      expect((await counts(bench.app)).staged).toBe(0);
    },
  );

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
    expect(await event(id)).toMatchObject({ processing_state: '', status: 'EVENTS.EVENTS.STATUS.SCHEDULED' });
    expect(await workflows(id)).toEqual([]);
    expect((await update(bench.app, id, [file('presenter', 'a.mp4', bytes(1000))])).status).toBe(204);
    expect(await flavors(id)).toEqual([
      [0, flavor],
      [1, 'presenter/source'],
    ]);
    expect(await workflows(id)).toHaveLength(1);
  });

  test('removing tracks starts nothing', async () => {
    const id = await scheduled();
    await track(id, 'captions/source', VTT);
    const parts = [
      field('flavor', 'captions/source'),
      field('overwriteExisting', 'true'),
      field('track', ''),
    ];
    expect((await sendForm(bench.app, `/api/events/${id}/track`, parts)).status).toBe(200);
    expect(await flavors(id)).toEqual([]);
    expect(await workflows(id)).toEqual([]);
    expect((await event(id)).status).toBe('EVENTS.EVENTS.STATUS.SCHEDULED');
  });

  test('of ten recordings at once one is taken, and nothing of the others stays', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        track(id, 'presenter/source', bytes(1000), [['overwriteExisting', 'true']]),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(await flavors(id)).toEqual([[0, 'presenter/source']]);
    expect(await workflows(id)).toHaveLength(1);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });

  test('one by /track and one by an update at once: one is taken', async () => {
    const id = await scheduled();
    const answers = await Promise.all([
      track(id, 'presenter/source'),
      update(bench.app, id, [file('presenter', 'a.mp4', bytes(1000))]),
    ]);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
    expect(await flavors(id)).toEqual([[0, 'presenter/source']]);
    expect(await workflows(id)).toHaveLength(1);
  });
});

describe('POST /api/events/{id}/track for a scheduled event whose recording has come', () => {
  test('409 while it is processed', async () => {
    const id = await scheduled();
    await track(id, 'presenter/source');
    expect(await track(id, 'presentation/source')).toMatchObject({
      status: 409,
      text: `Cannot update while a workflow is running on event '${id}'`,
    });
  });

  test('then another track beside the first, and no workflow', async () => {
    const id = await scheduled();
    await track(id, 'presenter/source');
    await finish(id);
    expect((await track(id, 'presenter/source')).status).toBe(200);
    expect(await flavors(id)).toEqual([
      [0, 'presenter/source'],
      [1, 'presenter/source'],
    ]);
    expect(await workflows(id)).toHaveLength(1);
    expect((await event(id)).processing_state).toBe('SUCCEEDED');
  });

  test('409 for one that is to replace it, which stays; captions are replaced', async () => {
    const id = await scheduled();
    await track(id, 'captions/source', VTT);
    await track(id, 'presenter/source');
    await finish(id);
    const { database } = bench.app;
    const [first] = await database
      .selectFrom('tracks')
      .selectAll()
      .where('flavor', '=', 'presenter/source')
      .where('event_id', '=', id)
      .execute();
    const overwrite: [string, string][] = [['overwriteExisting', 'true']];
    expect(await track(id, 'presenter/source', bytes(500), overwrite)).toMatchObject({
      status: 409,
      text: `The recording of the event '${id}' has come already.`,
    });
    expect((await track(id, 'captions/source', VTT, overwrite)).status).toBe(200);
    const kept = await database
      .selectFrom('tracks')
      .selectAll()
      .where('event_id', '=', id)
      .where('flavor', '=', 'presenter/source')
      .execute();
    expect(kept).toEqual([first]);
    expect(await flavors(id)).toHaveLength(2);
  });

  test('an update with a recording is refused', async () => {
    const id = await scheduled();
    await track(id, 'presenter/source');
    expect((await update(bench.app, id, [file('presenter', 'a.mp4', bytes(1000))])).status).toBe(409);
    expect(await flavors(id)).toHaveLength(1);
  });
});
