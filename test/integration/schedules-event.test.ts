import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { advanceRecording, type RecordingState } from '../../src/recordings/state.ts';
import { databaseForThisFile } from '../support/database.ts';
import { insertEvent } from '../support/publication.ts';
import { knownAgent, minute, move, storeBare } from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';

const db = databaseForThisFile();
let agentId: string;
beforeEach(async () => {
  agentId = await knownAgent(db.database);
});

const scheduled = () => storeBare(db.database, { agentId, from: 60, to: 120 });
const shown = (eventId: string) =>
  db.database
    .selectFrom('events')
    .select(['agent_id', 'technical_start', 'technical_end', 'recording_state', 'status'])
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow();
const AWAITED = () => ({
  agent_id: agentId,
  technical_start: minute(60),
  technical_end: minute(120),
  recording_state: '',
  status: 'SCHEDULED',
});
const START = new Date('2026-04-13T08:15:00Z');
const UNSCHEDULED = {
  agent_id: '',
  technical_start: START,
  technical_end: START,
  recording_state: '',
  status: 'PROCESSED',
};

test('an event shows from its insertion what is scheduled for it', async () => {
  expect(await shown(await scheduled())).toEqual(AWAITED());
});

test('an event that exists already shows what is scheduled for it then', async () => {
  const id = await insertEvent(db.database);
  await sql`INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
    VALUES (${id}, ${agentId}, ${minute(60)}, ${minute(120)}, 'publish')`.execute(db.database);
  expect(await shown(id)).toEqual(AWAITED());
});

test('an event shows the agent and the times that its schedule is moved to', async () => {
  const id = await scheduled();
  const next = newAgent();
  await db.database.transaction().execute((trx) => move(trx, id, { agentId: next, from: 70, to: 90 }));
  expect(await shown(id)).toEqual({
    ...AWAITED(),
    agent_id: next,
    technical_start: minute(70),
    technical_end: minute(90),
  });
});

test('an event whose schedule is taken from another event shows it instead of that one', async () => {
  const id = await scheduled();
  const next = await insertEvent(db.database);
  await sql`UPDATE schedules SET event_id = ${next} WHERE event_id = ${id}`.execute(db.database);
  expect(await shown(id)).toEqual(UNSCHEDULED);
  expect(await shown(next)).toEqual(AWAITED());
});

test('an event whose schedule is removed shows its bibliographic times', async () => {
  const id = await scheduled();
  await sql`DELETE FROM schedules WHERE event_id = ${id}`.execute(db.database);
  expect(await shown(id)).toEqual(UNSCHEDULED);
});

test('an event that was never scheduled shows its bibliographic times, whatever they become', async () => {
  const id = await insertEvent(db.database, { duration: 60_000 });
  expect(await shown(id)).toEqual({ ...UNSCHEDULED, technical_end: new Date(START.getTime() + 60_000) });
  await db.database
    .updateTable('events')
    .set({ start_date: minute(0), duration: 120_000 })
    .where('id', '=', id)
    .execute();
  expect(await shown(id)).toEqual({ ...UNSCHEDULED, technical_start: minute(0), technical_end: minute(2) });
});

test('bibliographic times of a scheduled event do not change when it is recorded', async () => {
  const id = await scheduled();
  await db.database
    .updateTable('events')
    .set({ start_date: minute(0), duration: 120_000 })
    .where('id', '=', id)
    .execute();
  expect(await shown(id)).toEqual(AWAITED());
});

test('what an event shows of its schedule cannot be written by hand', async () => {
  const id = await scheduled();
  await db.database
    .updateTable('events')
    .set({
      agent_id: 'other',
      technical_start: minute(0),
      technical_end: minute(1),
      recording_state: 'capturing',
    })
    .where('id', '=', id)
    .execute();
  expect(await shown(id)).toEqual(AWAITED());
});

test.each<[Exclude<RecordingState, ''>, string]>([
  ['capturing', 'RECORDING'],
  ['capture_finished', 'RECORDING'],
  ['capture_error', 'RECORDING_FAILURE'],
  ['manifest', 'INGESTING'],
  ['manifest_error', 'RECORDING_FAILURE'],
  ['compressing', 'INGESTING'],
  ['uploading', 'INGESTING'],
  ['upload_finished', 'INGESTING'],
  ['upload_error', 'RECORDING_FAILURE'],
])('an event whose recording is known as %s has the status %s', async (state, status) => {
  const id = await scheduled();
  await db.database.transaction().execute((trx) => advanceRecording(trx, id, { kind: 'reported', state }));
  expect(await shown(id)).toEqual({ ...AWAITED(), recording_state: state, status });
});

test('what was known of a recording is forgotten when its schedule is moved, and only then', async () => {
  const id = await scheduled();
  await db.database
    .transaction()
    .execute((trx) => advanceRecording(trx, id, { kind: 'reported', state: 'capture_error' }));
  await db.database.transaction().execute((trx) => move(trx, id, {}));
  expect(await shown(id)).toMatchObject({ recording_state: 'capture_error' });
  await db.database.transaction().execute((trx) => move(trx, id, { to: 130 }));
  expect(await shown(id)).toMatchObject({ recording_state: '', status: 'SCHEDULED' });
});

test.each([
  ['INSTANTIATED', 'PENDING'],
  ['RUNNING', 'PROCESSING'],
  ['FAILING', 'PROCESSING'],
  ['PAUSED', 'PAUSED'],
  ['STOPPED', 'PROCESSING_CANCELLED'],
  ['FAILED', 'PROCESSING_FAILURE'],
  ['SUCCEEDED', 'PROCESSED'],
])('a scheduled event that is processed has the status of its processing: %s, %s', async (state, status) => {
  const id = await scheduled();
  await db.database.updateTable('events').set({ processing_state: state }).where('id', '=', id).execute();
  expect(await shown(id)).toEqual({ ...AWAITED(), status });
});
