import { describe, expect, test } from 'vitest';
import { EventBench } from '../support/event-bench.ts';
import { traceOf } from '../support/event-writes.ts';
import { putScheduling, type SchedulingJson } from '../support/scheduling.ts';

const bench = EventBench.forThisFile();

const END = '2030-01-07T10:00:00Z';
const HOUR_MS = 3_600_000;

const scheduled = bench.scheduled.bind(bench);

const path = (id: string) => `/api/events/${id}/scheduling`;
const read = (id: string) => bench.read<SchedulingJson>(path(id));
const put = async (...args: Parameters<typeof putScheduling> extends [unknown, ...infer R] ? R : never) => {
  const answer = await putScheduling(bench.app, ...args);
  return { status: answer.status, text: await answer.text() };
};
const everything = async (id: string) => [await traceOf(bench.app, id), await read(id)];

describe('a recording that has begun', () => {
  const BEGUN = "Scheduling can't be changed for events whose recording has begun.";

  test.each(['capturing', 'capture_finished', 'uploading', 'upload_finished', 'manifest'])(
    'is not moved: 400 when it is %s; 204 for what changes nothing',
    async (recording_state) => {
      const id = await scheduled({ recording_state });
      const before = await everything(id);
      expect(await put(id, { duration: 1000 })).toEqual({ status: 400, text: BEGUN });
      expect(await put(id, { inputs: ['x'], end: END })).toEqual({ status: 400, text: BEGUN });
      expect((await put(id, await read(id))).status).toBe(204);
      expect(await everything(id)).toEqual(before);
    },
  );

  test.each(['INSTANTIATED', 'RUNNING', 'SUCCEEDED', 'FAILED'])(
    'is not moved when its workflow is %s',
    async (processing_state) => {
      const id = await scheduled({}, { processing_state });
      expect(await put(id, { duration: 1000 })).toEqual({ status: 400, text: BEGUN });
    },
  );

  test.each(['capture_error', 'manifest_error', 'upload_error'])(
    'is moved all the same when it ended in %s, and is awaited anew',
    async (recording_state) => {
      const id = await scheduled({ recording_state });
      const status = async () => (await bench.read(`/api/events/${id}`)).status;
      expect(await status()).toBe('EVENTS.EVENTS.STATUS.RECORDING_FAILURE');
      expect((await put(id, { start: '2030-03-01T08:00:00Z', duration: HOUR_MS })).status).toBe(204);
      expect(await status()).toBe('EVENTS.EVENTS.STATUS.SCHEDULED');
    },
  );
});
