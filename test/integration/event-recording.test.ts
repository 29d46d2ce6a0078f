import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { counts, created, post } from '../support/app-uploads.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { eventFields, field, file, form, type Part } from '../support/form.ts';
import { newAgent, type SchedulingJson, scheduledFields, update } from '../support/scheduling.ts';
import { catalogOf, send } from '../support/series.ts';
import { updateAround } from '../support/update-around.ts';

const bench = EventBench.forThisFile();

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const CAMERA = bytes(300_000);
const SLIDES = bytes(2_000);

const scheduled = bench.scheduled.bind(bench);

const upload = async (id: string, parts: readonly Part[], headers: Record<string, string> = {}) => {
  const answer = await update(bench.app, id, parts, headers);
  return { status: answer.status, text: await answer.text(), connection: answer.headers.get('Connection') };
};
const metadata = (values: Record<string, unknown>) =>
  field('metadata', catalogOf(values, 'dublincore/episode'));
const camera = (content = CAMERA) => file('presenter', 'camera.mp4', content);
const event = (id: string) => bench.read(`/api/events/${id}`);
const tracks = (id: string) => bench.tracks(id);
const workflows = (id: string) => bench.workflows(id);

describe('file parts of POST /api/events/{id} for an event that awaits its recording', () => {
  test('become its tracks, and the workflow stored with the schedule starts', async () => {
    const schedule = { agent_id: newAgent(), start: START, end: END };
    const fields = eventFields({ configuration: { speed: 'high' } });
    const id = await created(
      await post(bench.app, [...fields, field('scheduling', JSON.stringify(schedule))]),
    );
    expect(await workflows(id)).toEqual([]);
    const parts = [
      camera(),
      file('presentation', 'slides.mkv', SLIDES),
      file('audio', 'voice.mp3', SLIDES),
      file('presenter', 'second.mp4', SLIDES),
    ];
    expect(await upload(id, parts, { 'X-Request-Id': 'late-upload-1' })).toMatchObject({
      status: 204,
      text: '',
    });
    expect(await tracks(id)).toMatchObject([
      {
        position: 0,
        flavor: 'presenter/source',
        filename: 'camera.mp4',
        size: 300_000,
        sha256: sha256(CAMERA),
      },
      { position: 1, flavor: 'presentation/source', filename: 'slides.mkv', sha256: sha256(SLIDES) },
      { position: 2, flavor: 'presenter-audio/source', filename: 'voice.mp3' },
      { position: 3, flavor: 'presenter/source', filename: 'second.mp4' },
    ]);
    expect(await event(id)).toMatchObject({
      processing_state: 'INSTANTIATED',
      status: 'EVENTS.EVENTS.STATUS.PENDING',
      archive_version: 1,
      start: START,
    });
    const [workflow] = await workflows(id);
    expect(workflow).toMatchObject({
      definition: 'schedule-and-upload',
      configuration: { straightToPublishing: 'true', speed: 'high' },
      state: 'INSTANTIATED',
      creator: 'admin',
    });
    expect(workflow?.request_id).toMatch(/./);
    expect((await counts(bench.app)).staged).toBe(0);
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
    expect(await event(id)).toMatchObject({
      title: 'After',
      start: '2030-02-01T09:00:00Z',
      processing_state: 'INSTANTIATED',
      archive_version: 1,
    });
    expect(await workflows(id)).toMatchObject([{ definition: 'publish', configuration: { speed: 'high' } }]);
  });

  test.each([
    ['a part that nobody filled in', [file('presenter', '', Buffer.alloc(0))]],
    ['a part of another name', [file('attachment', 'a.pdf', SLIDES), file('track', 'a.mp4', SLIDES)]],
    ['a recording without a file name', [field('presenter', 'bytes')]],
  ])('%s is none: the recording is awaited as before', async (_, parts) => {
    const id = await scheduled();
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    expect((await upload(id, parts)).status).toBe(204);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
    expect((await upload(id, [camera()])).status).toBe(204);
  });

  test('an empty file is refused, and the recording is awaited as before', async () => {
    const id = await scheduled();
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    expect((await upload(id, [camera(), file('presentation', 'b.mp4', Buffer.alloc(0))])).status).toBe(400);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
  });

  test.each<[string, Part[], number]>([
    ['metadata that are no JSON', [field('metadata', '{')], 400],
    ['an unknown metadata field', [metadata({ colour: 'red' })], 404],
    ['an impossible start', [field('scheduling', '{"start":"x","duration":1}')], 400],
    ['processing without a workflow', [field('processing', '{}')], 400],
  ])('with %s nothing is applied and no object stays', async (_, bad, status) => {
    const id = await scheduled();
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    expect((await upload(id, [camera(), ...bad])).status).toBe(status);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
    expect((await upload(id, [camera()])).status).toBe(204);
  });

  test('with a conflict beside them nothing is applied and no object stays', async () => {
    const agent_id = newAgent();
    await scheduled({ agent_id, start: END, end: '2030-01-07T11:00:00Z' }, { title: 'Next' });
    const id = await scheduled({ agent_id });
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    const { status, text } = await upload(id, [camera(), field('scheduling', '{"duration":7200000}')]);
    expect([status, JSON.parse(text)]).toEqual([
      409,
      [{ start: END, end: '2030-01-07T11:00:00Z', title: 'Next' }],
    ]);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
  });

  test('a form that breaks off leaves nothing, and the recording is awaited as before', async () => {
    const id = await scheduled();
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    const { type, body } = form([camera()]);
    const answer = await bench.app.request(`/api/events/${id}`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: body.subarray(0, body.length - 10_000),
    });
    expect(answer.status).toBe(400);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
  });

  test('an event that is deleted while they come in is 404, and leaves nothing', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answer = await updateAround(bench.app, id, [camera()], () =>
      send(bench.app, 'DELETE', `/api/events/${id}`),
    );
    expect([answer.status, await answer.text()]).toEqual([404, `Cannot find an event with id '${id}'.`]);
    expect(await counts(bench.app)).toEqual({ ...before, events: before.events - 1 });
  });

  test('an empty 401 for somebody who may only read, 404 for somebody who may not', async () => {
    const id = await scheduled();
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    expect(await upload(id, [camera()], bench.reader)).toMatchObject({ status: 401, text: '' });
    expect((await upload(id, [camera()], bench.stranger)).status).toBe(404);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
  });

  test('the workflow runs in the name of whoever sent them', async () => {
    const id = await scheduled();
    expect((await upload(id, [camera()], bench.writer)).status).toBe(204);
    expect(await workflows(id)).toMatchObject([{ creator: 'writer' }]);
  });

  test.each(['capture_error', 'upload_error'])('are taken also after %s', async (recording_state) => {
    const id = await scheduled({ recording_state });
    expect((await upload(id, [camera()])).status).toBe(204);
    expect(await event(id)).toMatchObject({ status: 'EVENTS.EVENTS.STATUS.PENDING' });
  });
});

test('deleting a scheduled event frees its slot', async () => {
  const scheduling: SchedulingJson = { agent_id: newAgent(), start: START, end: END };
  const id = await created(await post(bench.app, scheduledFields(scheduling)));
  expect((await post(bench.app, scheduledFields(scheduling))).status).toBe(409);
  expect((await send(bench.app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
  expect((await post(bench.app, scheduledFields(scheduling))).status).toBe(201);
});

test('a recorded event keeps its slot until it is deleted', async () => {
  const scheduling: SchedulingJson = { agent_id: newAgent(), start: START, end: END };
  const id = await created(await post(bench.app, scheduledFields(scheduling)));
  await upload(id, [camera()]);
  expect((await post(bench.app, scheduledFields(scheduling))).status).toBe(409);
  expect((await send(bench.app, 'DELETE', `/api/events/${id}`)).status).toBe(204);
  expect((await post(bench.app, scheduledFields(scheduling))).status).toBe(201);
});

test('files for an event that was never scheduled are dropped, whatever state it is in', async () => {
  for (const processing_state of ['', 'RUNNING', 'SUCCEEDED']) {
    const id = await bench.event({ id: randomUUID(), processing_state });
    const before = [await traceOf(bench.app, id), await counts(bench.app)];
    expect((await upload(id, [camera()])).status).toBe(204);
    expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
  }
});
