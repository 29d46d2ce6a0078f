import { sql, type Updateable } from 'kysely';
import { describe, expect, test } from 'vitest';
import { markMissedRecordings } from '#capture/reports/missed-recordings.ts';
import type { Schedule } from '#platform/database/schema.ts';
import { workerApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { sendForm } from '../support/event-writes.ts';
import { field, file } from '../support/form.ts';
import { reconcileUntil } from '../support/reconciling.ts';
import { insertScheduled, type ScheduleValues } from '../support/scheduled-event.ts';
import { newAgent, putScheduling, update } from '../support/scheduling.ts';

const HOUR_MS = 3_600_000;
const GRACE_MS = 24 * HOUR_MS;

const app = await workerApp();
const { database } = app;

const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** An event that was to be recorded so many hours ago for an hour, and was last changed a week ago. */
async function scheduled(
  hours: number,
  { changedHoursAgo = 7 * 24, ...schedule }: Partial<ScheduleValues> & { changedHoursAgo?: number } = {},
): Promise<string> {
  const times = { start: ago(hours), end: ago(hours - 1) };
  const id = await insertScheduled(database, { agent_id: newAgent(), ...times, ...schedule });
  await setSchedule(id, { changed_at: new Date(ago(changedHoursAgo)) });
  return id;
}

const setSchedule = (id: string, values: Updateable<Schedule>) =>
  database.updateTable('schedules').set(values).where('event_id', '=', id).execute();
const setProcessing = (id: string, processing_state: string) =>
  database.updateTable('events').set({ processing_state }).where('id', '=', id).execute();
/** Marks all that is missed, also of other files. */
const mark = () => markMissedRecordings(database, GRACE_MS);
const event = async (id: string) => (await (await app.request(`/api/events/${id}`)).json()) as Record<string, unknown>;
const status = async (id: string) => String((await event(id)).status).replace('EVENTS.EVENTS.STATUS.', '');
const recorded = (id: string) => update(app, id, [file('presenter', 'a.mp4', bytes(1000))]);

describe('an event whose recording has not come when the grace period is over', () => {
  test('is marked, once', async () => {
    const id = await scheduled(30);
    await mark();
    expect(await status(id)).toBe('RECORDING_FAILURE');
    expect((await event(id)).processing_state).toBe('');
    await mark();
    const changes = database.selectFrom('changes').select('data').where('event_id', '=', id);
    const marks = (await changes.where('kind', '=', 'event.recording').execute()).map(({ data }) => data);
    expect(marks).toEqual([{ recording: 'capture_error', missed: true }]);
  });

  test('is found by the workers themselves', async () => {
    const id = await scheduled(30);
    const isMarked = async () => expect(await status(id)).toBe('RECORDING_FAILURE');
    await reconcileUntil(app, isMarked, { recordingGraceMs: GRACE_MS });
  });

  test('is marked when captions have come: they are no recording', async () => {
    const id = await scheduled(30);
    const captions = [field('flavor', 'captions/source'), file('track', 'a.vtt', Buffer.from('WEBVTT\n'))];
    expect((await sendForm(app, `/api/events/${id}/track`, captions)).status).toBe(200);
    await mark();
    expect(await status(id)).toBe('RECORDING_FAILURE');
  });

  test('is left for the next time while another transaction changes it', async () => {
    const id = await scheduled(30);
    await database.transaction().execute(async (trx) => {
      await sql`SELECT FROM events WHERE id = ${id} FOR UPDATE`.execute(trx);
      await mark();
    });
    expect(await status(id)).toBe('SCHEDULED');
    await mark();
    expect(await status(id)).toBe('RECORDING_FAILURE');
  });

  test('can be moved after it was marked, and is awaited again', async () => {
    const id = await scheduled(30);
    await mark();
    expect((await putScheduling(app, id, { start: ago(-30), duration: HOUR_MS })).status).toBe(204);
    await mark();
    expect(await status(id)).toBe('SCHEDULED');
  });
});

async function beingProcessed(id: string): Promise<string> {
  await setProcessing(id, 'PAUSED');
  return id;
}

async function asMedia(id: string): Promise<string> {
  expect((await recorded(id)).status).toBe(204);
  await setProcessing(id, '');
  await setSchedule(id, { recording_state: '' });
  return id;
}

test.each<[string, string, () => Promise<string>]>([
  ['within the grace period', 'SCHEDULED', () => scheduled(24.9)],
  ['still going on', 'SCHEDULED', () => scheduled(0.5)],
  ['in the future', 'SCHEDULED', () => scheduled(-30)],
  ['long ago, but scheduled only now', 'SCHEDULED', () => scheduled(30, { changedHoursAgo: 1 })],
  ['begun', 'RECORDING', () => scheduled(30, { recording_state: 'capturing' })],
  ['being uploaded', 'INGESTING', () => scheduled(30, { recording_state: 'uploading' })],
  ['uploaded', 'INGESTING', () => scheduled(30, { recording_state: 'upload_finished' })],
  ['processed, whatever is known of its recording', 'PAUSED', () => scheduled(30).then(beingProcessed)],
  ['there as media, whatever is known of its recording', 'SCHEDULED', () => scheduled(30).then(asMedia)],
])('a recording that is %s is not marked', async (_, expected, make) => {
  const id = await make();
  await mark();
  expect(await status(id)).toBe(expected);
});
