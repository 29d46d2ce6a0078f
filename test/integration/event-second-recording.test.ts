import { describe, expect, test } from 'vitest';
import { counts } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { field, file, form, type Part } from '../support/form.ts';
import { update } from '../support/scheduling.ts';
import { catalogOf } from '../support/series.ts';
import { updateAround } from '../support/update-around.ts';

const bench = EventBench.forThisFile();

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
const already = (id: string) => `The recording of the event '${id}' has come already.`;

describe('a second recording of a scheduled event', () => {
  test.each(['INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING', 'SUCCEEDED', 'STOPPED'])(
    'is refused with 409 when the workflow of the first is %s, and nothing of the request is applied',
    async (processing_state) => {
      const id = await scheduled();
      expect((await upload(id, [camera()])).status).toBe(204);
      await bench.app.database.updateTable('events').set({ processing_state }).where('id', '=', id).execute();
      const before = [await traceOf(bench.app, id), await counts(bench.app)];
      const parts = [metadata({ title: 'After' }), file('presentation', 'b.mp4', SLIDES)];
      for (const each of [parts, parts.toReversed()]) {
        expect(await upload(id, each)).toEqual({ status: 409, text: already(id), connection: 'close' });
      }
      expect([await traceOf(bench.app, id), await counts(bench.app)]).toEqual(before);
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
    const answer = await updateAround(bench.app, id, [metadata({ title: 'Loser' }), camera()], async () => {
      expect((await upload(id, [file('presentation', 'first.mp4', SLIDES)])).status).toBe(204);
    });
    expect([answer.status, await answer.text()]).toEqual([409, already(id)]);
    expect(await tracks(id)).toMatchObject([{ filename: 'first.mp4' }]);
    expect((await event(id)).title).toBe('Lecture');
    const stored = await counts(bench.app);
    const named = await bench.app.database.selectFrom('tracks').select('object_key').execute();
    expect(stored).toMatchObject({ staged: 0, stored: named.length });
  });

  test('is refused as well when its event has given way to one that is not scheduled', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answer = await updateAround(bench.app, id, [metadata({ title: 'Loser' }), camera()], async () => {
      // The event was found to await its recording, which is being stored.
      await eventually(async () => expect((await counts(bench.app)).staged).toBe(before.staged + 1));
      await bench.app.database.deleteFrom('events').where('id', '=', id).execute();
      await bench.event({ id });
    });
    expect([answer.status, await answer.text()]).toEqual([
      409,
      `The event '${id}' is not scheduled any more.`,
    ]);
    expect([await tracks(id), (await event(id)).title]).toEqual([[], 'Lecture']);
    expect(await counts(bench.app)).toEqual(before);
  });

  test('of ten at once one is taken whole, and nothing of the others stays', async () => {
    const id = await scheduled();
    const before = await counts(bench.app);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        upload(id, [metadata({ title: `Take ${i}` }), file('presenter', `${i}.mp4`, CAMERA)]),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await tracks(id)).toMatchObject([{ filename: `${winner}.mp4` }]);
    expect(await event(id)).toMatchObject({ title: `Take ${winner}`, archive_version: 1 });
    expect(await workflows(id)).toHaveLength(1);
    expect(await counts(bench.app)).toEqual({ ...before, stored: before.stored + 1 });
  });

  test('parts that nobody filled in are none: the rest of the request is applied', async () => {
    const id = await scheduled();
    await upload(id, [camera()]);
    const parts = [file('presenter', '', Buffer.alloc(0)), metadata({ title: 'After' })];
    expect((await upload(id, parts)).status).toBe(204);
    expect((await event(id)).title).toBe('After');
  });
});
