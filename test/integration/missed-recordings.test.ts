import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { markMissedRecordings } from '../../src/recordings/state.ts';
import { startReconciler } from '../../workers/reconciler.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes } from '../support/bytes.ts';
import { recording } from '../support/clips.ts';
import { sendForm } from '../support/event-writes.ts';
import { eventually } from '../support/eventually.ts';
import { field, file } from '../support/form.ts';
import { processEvent } from '../support/process-event.ts';
import { insertScheduled, type ScheduleValues } from '../support/scheduled-event.ts';
import { newAgent, putScheduling, update } from '../support/scheduling.ts';

const HOUR_MS = 3_600_000;
const GRACE_MS = 24 * HOUR_MS;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  await app.database.deleteFrom('events').execute();
});

const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** An event that was to be recorded so many hours ago for an hour, and was scheduled a week ago. */
async function scheduled(hours: number, schedule: Partial<ScheduleValues> = {}): Promise<string> {
  const id = await insertScheduled(app.database, {
    agent_id: newAgent(),
    start: ago(hours),
    end: ago(hours - 1),
    ...schedule,
  });
  await lastChanged(id, 7 * 24);
  return id;
}

const lastChanged = (id: string, hours: number) =>
  app.database
    .updateTable('schedules')
    .set({ changed_at: new Date(ago(hours)) })
    .where('event_id', '=', id)
    .execute();
const mark = () => markMissedRecordings(app.database, GRACE_MS);
const event = async (id: string) =>
  (await (await app.request(`/api/events/${id}`)).json()) as Record<string, unknown> & { duration: number };
const SCHEDULED = 'EVENTS.EVENTS.STATUS.SCHEDULED';
const MISSED = 'EVENTS.EVENTS.STATUS.RECORDING_FAILURE';

test('an event whose recording has not come when the grace period is over is marked, once', async () => {
  const id = await scheduled(30);
  expect(await mark()).toBe(1);
  expect(await event(id)).toMatchObject({ status: MISSED, processing_state: '' });
  expect(await mark()).toBe(0);
});

test.each([
  ['within the grace period', () => scheduled(24)],
  ['still going on', () => scheduled(0.5)],
  ['in the future', () => scheduled(-30)],
  [
    'long ago, but scheduled only now',
    async () => {
      const id = await scheduled(30);
      await lastChanged(id, 1);
      return id;
    },
  ],
])('one that is %s is left alone', async (_, make) => {
  const id = await make();
  expect(await mark()).toBe(0);
  expect(await event(id)).toMatchObject({ status: SCHEDULED });
});

test('one whose recording has begun, come or failed is left alone', async () => {
  for (const recording_state of ['capturing', 'uploading', 'upload_finished', 'upload_error']) {
    await scheduled(30, { recording_state });
  }
  const recorded = await scheduled(30);
  expect((await update(app, recorded, [file('presenter', 'a.mp4', bytes(1000))])).status).toBe(204);
  expect(await mark()).toBe(0);
  expect(await event(recorded)).toMatchObject({ status: 'EVENTS.EVENTS.STATUS.PENDING' });
});

test('one that is processed or has media is left alone, whatever is known of its recording', async () => {
  const processed = await scheduled(30);
  const { database } = app;
  await database
    .updateTable('events')
    .set({ processing_state: 'PAUSED' })
    .where('id', '=', processed)
    .execute();
  const recorded = await scheduled(30);
  await update(app, recorded, [file('presenter', 'a.mp4', bytes(1000))]);
  await database.updateTable('events').set({ processing_state: '' }).where('id', '=', recorded).execute();
  await database
    .updateTable('schedules')
    .set({ recording_state: '' })
    .where('event_id', '=', recorded)
    .execute();
  expect(await mark()).toBe(0);
});

test('workers look for them by themselves', async () => {
  const id = await scheduled(30);
  const { database, context } = app;
  const workDir = join(context.config.dataDir, 'work');
  const reconciler = startReconciler({
    database,
    watch: context.watch,
    staging: context.staging,
    storage: context.storage,
    workDir,
    changesDays: 14,
    recordingGraceMs: GRACE_MS,
    direct: context,
    log: context.log,
  });
  await eventually(async () => expect(await event(id)).toMatchObject({ status: MISSED }));
  await reconciler.close();
});

test('captions are no recording', async () => {
  const id = await scheduled(30);
  const captions = [field('flavor', 'captions/source'), file('track', 'a.vtt', Buffer.from('WEBVTT\n'))];
  expect((await sendForm(app, `/api/events/${id}/track`, captions)).status).toBe(200);
  expect(await mark()).toBe(1);
  expect(await event(id)).toMatchObject({ status: MISSED });
});

test('one that was marked can be moved, and is awaited anew', async () => {
  const id = await scheduled(30);
  await mark();
  expect((await putScheduling(app, id, { start: ago(-30), duration: HOUR_MS })).status).toBe(204);
  expect(await event(id)).toMatchObject({ status: SCHEDULED });
  expect(await mark()).toBe(0);
});

test('a recording that comes after all is taken and ends SUCCEEDED', async () => {
  const id = await scheduled(30);
  await mark();
  const late = file('presenter', 'late.mp4', await recording({ seconds: 2 }));
  expect((await update(app, id, [late])).status).toBe(204);
  await processEvent(app, id);
  const processed = await event(id);
  expect(processed).toMatchObject({
    processing_state: 'SUCCEEDED',
    status: 'EVENTS.EVENTS.STATUS.PROCESSED',
  });
  expect(processed.duration).toBeLessThan(2_300);
  expect(await mark()).toBe(0);
});

test('several reconcilers at once mark each of many events once', async () => {
  await sql`
    INSERT INTO capture_agents (id) VALUES ('busy') ON CONFLICT DO NOTHING`.execute(app.database);
  await app.database.transaction().execute(async (trx) => {
    await sql`
      INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow, changed_at)
      SELECT 'missed-' || n, 'busy', now() - (n + 100) * interval '1 hour', now() - (n + 99) * interval '1 hour',
        'publish', now() - interval '90 days' FROM generate_series(1, 1200) n`.execute(trx);
    await sql`
      INSERT INTO events (id, title, creator, start_date, created)
      SELECT 'missed-' || n, 'Missed', 'x', now(), now() FROM generate_series(1, 1200) n`.execute(trx);
  });
  const marked = await Promise.all(Array.from({ length: 4 }, mark));
  const rest = await mark();
  expect(marked.reduce((sum, each) => sum + each, rest)).toBe(1200);
  const failed = app.database.selectFrom('events').select('id').where('status', '=', 'RECORDING_FAILURE');
  expect(await failed.execute()).toHaveLength(1200);
});

test('an event that somebody is changing is left for the next time', async () => {
  const id = await scheduled(30);
  await app.database.transaction().execute(async (trx) => {
    await sql`SELECT FROM events WHERE id = ${id} FOR UPDATE`.execute(trx);
    expect(await mark()).toBe(0);
  });
  expect(await mark()).toBe(1);
});
