import { describe, expect, test } from 'vitest';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { BENCH_PERIOD, EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { newAgent, scheduledFields, update } from '../support/scheduling.ts';
import { catalogOf, send } from '../support/series.ts';
import { updateAround } from '../support/update-around.ts';

const bench = EventBench.forThisFile();

const { start: START, end: END } = BENCH_PERIOD;
const CAMERA = bytes(100_000);
const SLIDES = bytes(2_000);

const scheduled = bench.scheduled.bind(bench);

const upload = async (id: string, parts: readonly Part[], headers: Record<string, string> = {}) => {
  const answer = await update(bench.app, id, parts, headers);
  return { status: answer.status, text: await answer.text(), connection: answer.headers.get('Connection') };
};
/** Uploads while something happens after half of the form. */
const uploadAround = async (id: string, parts: readonly Part[], happens: () => Promise<unknown>) => {
  const answer = await updateAround(bench.app, id, parts, happens);
  return { status: answer.status, text: await answer.text() };
};
const metadata = (values: Record<string, unknown>) => field('metadata', catalogOf(values, 'dublincore/episode'));
const camera = (content = CAMERA) => file('presenter', 'camera.mp4', content);
const event = (id: string) => bench.read(`/api/events/${id}`);
/** Runs work that must leave an event and all objects as they are. */
async function unchanged(id: string, work: () => Promise<void>): Promise<void> {
  const before = [await traceOf(bench.app, id), await counts(bench.app)];
  await work();
  expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
}

describe('file parts of POST /api/events/{id} for an event that awaits its recording', () => {
  test('become its tracks, and the workflow stored with the schedule starts', async () => {
    const schedule = { agent_id: newAgent(), start: START, end: END };
    const fields = eventFields({ configuration: { speed: 'high' } });
    const scheduling = field('scheduling', JSON.stringify(schedule));
    const id = await created(await post(bench.app, [...fields, scheduling]));
    expect(await bench.workflows(id)).toEqual([]);
    const before = await counts(bench.app);
    const [slides, voice] = [file('presentation', 'slides.mkv', SLIDES), file('audio', 'voice.mp3', SLIDES)];
    const parts = [camera(), slides, voice, file('presenter', 'second.mp4', SLIDES)];
    const answer = await upload(id, parts, { 'X-Request-Id': 'late-upload-1' });
    expect(answer).toMatchObject({ status: 204, text: '' });
    const facts = { size: 100_000, sha256: sha256(CAMERA) };
    expect(await bench.tracks(id)).toMatchObject([
      { position: 0, flavor: 'presenter/source', filename: 'camera.mp4', ...facts },
      { position: 1, flavor: 'presentation/source', filename: 'slides.mkv', sha256: sha256(SLIDES) },
      { position: 2, flavor: 'presenter-audio/source', filename: 'voice.mp3' },
      { position: 3, flavor: 'presenter/source', filename: 'second.mp4' },
    ]);
    expect(await event(id)).toMatchObject({
      ...{ processing_state: 'INSTANTIATED', status: 'EVENTS.EVENTS.STATUS.PENDING' },
      ...{ archive_version: 1, start: START },
    });
    const [workflow] = await bench.workflows(id);
    expect(workflow).toMatchObject({
      ...{ definition: 'schedule-and-upload', state: 'INSTANTIATED', creator: 'admin' },
      configuration: { straightToPublishing: 'true', speed: 'high' },
    });
    expect(workflow?.request_id).toMatch(/./);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 4 });
  });

  test('come after the other parts: the workflow is the one of the same request', async () => {
    const id = await scheduled();
    const parts = [
      camera(),
      field('processing', '{"workflow":"publish","configuration":{"speed":"high"}}'),
      metadata({ title: 'After' }),
      field('scheduling', '{"start":"2030-02-01T09:00:00Z","duration":1000}'),
    ];
    expect((await upload(id, parts)).status).toBe(204);
    const begun = { processing_state: 'INSTANTIATED', archive_version: 1 };
    expect(await event(id)).toMatchObject({ title: 'After', start: '2030-02-01T09:00:00Z', ...begun });
    const workflow = { definition: 'publish', configuration: { speed: 'high' } };
    expect(await bench.workflows(id)).toMatchObject([workflow]);
  });

  test.each<[string, Part[], number]>([
    ['a part without a file', [file('presenter', '', Buffer.alloc(0))], 204],
    ['parts of other names', [file('attachment', 'a.pdf', SLIDES), file('track', 'a.mp4', SLIDES)], 204],
    ['a recording without a file name', [field('presenter', 'bytes')], 204],
    ['an empty file', [camera(), file('presentation', 'b.mp4', Buffer.alloc(0))], 400],
    ['metadata that are no JSON', [camera(), field('metadata', '{')], 400],
    ['an unknown metadata field', [camera(), metadata({ colour: 'red' })], 404],
    ['an impossible start', [camera(), field('scheduling', '{"start":"x","duration":1}')], 400],
    ['processing without a workflow', [camera(), field('processing', '{}')], 400],
  ])('with %s nothing is applied, no object stays, and the recording is awaited', async (_, parts, status) => {
    const id = await scheduled();
    await unchanged(id, async () => expect((await upload(id, parts)).status).toBe(status));
    expect((await upload(id, [camera()])).status).toBe(204);
  });

  test('with a conflict beside them nothing is applied and no object stays', async () => {
    const agent_id = newAgent();
    await scheduled({ agent_id, start: END, end: '2030-01-07T11:00:00Z' }, { title: 'Next' });
    const id = await scheduled({ agent_id });
    const conflict = { start: END, end: '2030-01-07T11:00:00Z', title: 'Next' };
    await unchanged(id, async () => {
      const { status, text } = await upload(id, [camera(), field('scheduling', '{"duration":7200000}')]);
      expect([status, JSON.parse(text)]).toEqual([409, [conflict]]);
    });
  });

  test('a form that breaks off leaves nothing, and the recording is awaited as before', async () => {
    const id = await scheduled();
    const { type, body: whole } = form([camera()]);
    const body = whole.subarray(0, whole.length - 10_000);
    const init = { method: 'POST', headers: { 'Content-Type': type }, body };
    const send = () => bench.app.request(`/api/events/${id}`, init);
    await unchanged(id, async () => expect((await send()).status).toBe(400));
  });

  test('an event that is deleted while they come in is 404, and leaves nothing', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const remove = () => send(bench.app, 'DELETE', `/api/events/${id}`);
    const text = `Cannot find an event with id '${id}'.`;
    expect(await uploadAround(id, [camera()], remove)).toEqual({ status: 404, text });
    expect(await counts(bench.app)).toEqual({ ...before, events: before.events - 1 });
  });

  test('an empty 401 for accounts that may only read, 404 for those that may not; writers start the workflow', async () => {
    const id = await scheduled();
    await unchanged(id, async () => {
      expect(await upload(id, [camera()], bench.reader)).toMatchObject({ status: 401, text: '' });
      expect((await upload(id, [camera()], bench.stranger)).status).toBe(404);
    });
    expect((await upload(id, [camera()], bench.writer)).status).toBe(204);
    expect(await bench.workflows(id)).toMatchObject([{ creator: 'writer' }]);
  });

  test.each(['capture_error', 'upload_error'])('are taken also after %s', async (recording_state) => {
    const id = await scheduled({ recording_state });
    expect((await upload(id, [camera()])).status).toBe(204);
    expect(await event(id)).toMatchObject({ status: 'EVENTS.EVENTS.STATUS.PENDING' });
  });

  test('are dropped when it was never scheduled, whatever state it is in, and the other parts applied', async () => {
    for (const processing_state of ['', 'RUNNING', 'SUCCEEDED']) {
      const id = await bench.event({ processing_state });
      await unchanged(id, async () => expect((await upload(id, [camera()])).status).toBe(204));
      const { stored } = await counts(bench.app);
      const parts = [camera(), metadata({ title: 'After' }), file('attachment', 'b.pdf', SLIDES)];
      expect((await upload(id, parts)).status).toBe(204);
      expect(await event(id)).toMatchObject({ title: 'After', processing_state });
      expect((await counts(bench.app)).stored).toBe(stored);
    }
  });
});

test('deleting a scheduled event frees its slot, before its recording has come and after', async () => {
  const fields = scheduledFields({ agent_id: newAgent(), start: START, end: END });
  for (const isRecorded of [false, true]) {
    const id = await created(await post(bench.app, fields));
    if (isRecorded) expect((await upload(id, [camera()])).status).toBe(204);
    expect((await post(bench.app, fields)).status).toBe(409);
    expect((await send(bench.app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
  }
  expect((await post(bench.app, fields)).status).toBe(201);
});

describe('a second recording of a scheduled event', () => {
  const already = (id: string) => `The recording of the event '${id}' has already arrived.`;

  test.each(['INSTANTIATED', 'PAUSED', 'SUCCEEDED', 'STOPPED'])(
    'is refused with 409 when the workflow of the first is %s, and nothing of the request is applied',
    async (processing_state) => {
      const id = await scheduled();
      expect((await upload(id, [camera()])).status).toBe(204);
      await bench.app.database.updateTable('events').set({ processing_state }).where('id', '=', id).execute();
      const parts = [metadata({ title: 'After' }), file('presentation', 'b.mp4', SLIDES)];
      await unchanged(id, async () => {
        for (const each of [parts, parts.toReversed()]) {
          expect(await upload(id, each)).toEqual({ status: 409, text: already(id), connection: 'close' });
        }
      });
      // Without a recording, the request is applied.
      expect((await upload(id, [file('presenter', '', Buffer.alloc(0)), parts[0] as Part])).status).toBe(204);
      expect((await event(id)).title).toBe('After');
    },
  );

  test('is not even read', async () => {
    const id = await scheduled();
    await upload(id, [camera()]);
    const { type, body } = form([camera(bytes(1_000))]);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        if (sent > 1000) throw new Error('The whole recording was read.');
        controller.enqueue(sent === 1 ? body.subarray(0, 800) : bytes(100_000));
      },
    });
    const init = { method: 'POST', headers: { 'Content-Type': type }, body: stream, duplex: 'half' };
    const answer = await bench.app.request(`/api/events/${id}`, init as RequestInit);
    expect([answer.status, await answer.text()]).toEqual([409, already(id)]);
    expect(sent).toBeLessThan(100);
  });

  test('that comes in while the first is committed is refused, and its objects go', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const first = async () => expect((await upload(id, [file('presentation', 'first.mp4', SLIDES)])).status).toBe(204);
    const refused = await uploadAround(id, [metadata({ title: 'Loser' }), camera()], first);
    expect(refused).toEqual({ status: 409, text: already(id) });
    expect(await bench.tracks(id)).toMatchObject([{ filename: 'first.mp4' }]);
    expect((await event(id)).title).toBe('Lecture');
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });

  test('is refused as well when its event has given way to one that is not scheduled', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const replace = async () => {
      // The event was found to await its recording, which is being stored.
      await eventually(async () => expect((await counts(bench.app)).staged).toBe(before.staged + 1));
      await bench.app.database.deleteFrom('events').where('id', '=', id).execute();
      await bench.event({ id });
    };
    const text = `The event '${id}' is not scheduled any more.`;
    const refused = await uploadAround(id, [metadata({ title: 'Loser' }), camera()], replace);
    expect(refused).toEqual({ status: 409, text });
    expect([await bench.tracks(id), (await event(id)).title]).toEqual([[], 'Lecture']);
    expect(await counts(bench.app)).toEqual(before);
  });

  test('of ten concurrent ones one is taken whole, and nothing of the others stays', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        upload(id, [metadata({ title: `Take ${i}` }), file('presenter', `${i}.mp4`, CAMERA)]),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await bench.tracks(id)).toMatchObject([{ filename: `${winner}.mp4` }]);
    expect(await event(id)).toMatchObject({ title: `Take ${winner}`, archive_version: 1 });
    expect(await bench.workflows(id)).toHaveLength(1);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });
});
