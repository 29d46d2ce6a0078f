import { beforeEach, expect, test } from 'vitest';
import { advanceRecording, RECORDING_MOVES, type RecordingState } from '../../src/recordings/state.ts';
import { IllegalMove } from '../../src/workflows/states.ts';
import { databaseForThisFile } from '../support/database.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent } from '../support/scheduling.ts';

type Reported = Exclude<RecordingState, ''>;

const db = databaseForThisFile();
const STATES = Object.keys(RECORDING_MOVES) as RecordingState[];
const REPORTS = STATES.filter((state): state is Reported => state !== '');
let id: string;
beforeEach(async () => {
  id = await insertScheduled(db.database, {
    agent_id: newAgent(),
    start: '2030-01-07T08:00:00Z',
    end: '2030-01-07T09:00:00Z',
  });
});

const put = (recording_state: RecordingState) =>
  db.database.updateTable('schedules').set({ recording_state }).where('event_id', '=', id).execute();
const stored = async () => {
  const table = await db.database
    .selectFrom('schedules')
    .innerJoin('events', 'events.id', 'event_id')
    .select(['schedules.recording_state as scheduled', 'events.recording_state as shown'])
    .where('event_id', '=', id)
    .executeTakeFirstOrThrow();
  expect(table.shown).toBe(table.scheduled);
  return table.shown;
};
const advance = (change: Parameters<typeof advanceRecording>[2]) =>
  db.database.transaction().execute((trx) => advanceRecording(trx, id, change));

test.each(STATES)('a recording that is "%s" goes where the table lets it, and nowhere else', async (from) => {
  for (const to of REPORTS) {
    await put(from);
    const move = advance({ kind: 'reported', state: to });
    if (to === from || RECORDING_MOVES[from].includes(to)) {
      expect(await move).toBe(to);
      expect(await stored()).toBe(to);
    } else {
      await expect(move).rejects.toThrow(IllegalMove);
      expect(await stored()).toBe(from);
    }
  }
});

test.each(STATES)('the recording of an event that is "%s" may come', async (from) => {
  await put(from);
  expect(await advance({ kind: 'recorded' })).toBe('upload_finished');
  expect(await stored()).toBe('upload_finished');
});

test.each(['capturing', 'upload_finished'] as const)('what is %s is not put off', async (from) => {
  await put(from);
  await expect(advance({ kind: 'moved' })).rejects.toThrow(IllegalMove);
  expect(await stored()).toBe(from);
});

test('of two reports at once the later stage stays', async () => {
  for (let round = 0; round < 10; round += 1) {
    await put('');
    await Promise.allSettled([
      advance({ kind: 'reported', state: 'capturing' }),
      advance({ kind: 'reported', state: 'uploading' }),
    ]);
    expect(await stored()).toBe('uploading');
  }
});
