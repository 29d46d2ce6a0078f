import { type RawBuilder, sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { anonymous } from '#access/principal.ts';
import { conflictsWith, withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import {
  advanceRecording as advanceFrom,
  type TimeClaim,
  translateOverlapError,
} from '#capture/schedules/write-schedules.ts';
import { RECORDING_MOVES, type RecordingChange, type RecordingState } from '#capture/states/recording-state.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { IllegalMove } from '#processing/workflow-states.ts';
import { workerApp } from '../support/app.ts';
import { giveAcl } from '../support/event-writes.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { insertEvent } from '../support/publication.ts';
import {
  admin,
  claims,
  deleteScheduled,
  knownAgent,
  minute,
  misclaimed,
  move,
  REFUSED,
  type Slot,
  scheduleTogether,
  storeBare,
} from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';
import { ace } from '../support/series.ts';
import { compareWithTimetable } from '../support/timetable.ts';

type Reported = Exclude<RecordingState, ''>;

const OVERLAP = 'The recording overlaps another recording';

const app = await workerApp();
const { database } = app;
let agentId: string;
beforeEach(async () => {
  agentId = await knownAgent(database);
});

/** Reads periods such as `60-120 150-160`, in minutes. */
const periods = (text: string) =>
  text.split(' ').map((period) => period.split('-').map(Number) as [from: number, to: number]);
const store = (from: number, to: number, slot: Partial<Slot> = {}) =>
  storeBare(database, { agentId, from, to, ...slot });
/** As agents report: with the event locked. */
async function advanceRecording(trx: Transaction, id: string, change: RecordingChange) {
  const event = trx.selectFrom('events').select('recording_state').where('id', '=', id).forUpdate();
  const { recording_state } = await event.executeTakeFirstOrThrow();
  return advanceFrom(trx, id, recording_state as RecordingState, change);
}
const transaction = <T>(work: (trx: Transaction) => Promise<T>) => database.transaction().execute(work);
const change = (eventId: string, to: Partial<Slot>) => transaction((trx) => move(trx, eventId, to));
/** Stores a schedule that an administrator lets overlap others, moved there from elsewhere. */
async function overlapping(from: number, to: number, gap = 0): Promise<string> {
  const id = await store(10_000 + from, 10_000 + to);
  await change(id, { from, to, gap, allowConflict: true });
  return id;
}
const remove = (eventId: string) => database.transaction().execute((trx) => deleteScheduled(trx, eventId));
const claimed = () => claims(database, agentId);
const stored = async () => Object.values(await claimed()).sort();
const refuses = (work: Promise<unknown>) => expect(work).rejects.toMatchObject(REFUSED);
const bare = (statement: RawBuilder<unknown>) => statement.execute(database);
const inserted = (eventId: string, agent = agentId) =>
  sql`INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
    VALUES (${eventId}, ${agent}, ${minute(60)}, ${minute(120)}, 'publish')`;

describe('a recording that overlaps another one of the agent cannot be stored', () => {
  test.each([
    ['is at the same time', 60, 120],
    ['lies within', 70, 80],
    ['lies around', 50, 130],
    ['reaches into its beginning', 30, 61],
    ['begins before its end', 119, 150],
  ])('when it %s', async (_, from, to) => {
    await store(60, 120);
    await refuses(store(from, to));
    const other = await store(200, 210);
    await refuses(
      bare(sql`UPDATE schedules SET start_date = ${minute(from)}, end_date = ${minute(to)}
        WHERE event_id = ${other}`),
    );
    expect(await stored()).toEqual(['200-210', '60-120']);
  });

  test('when one of several overlaps another of the same statement', () =>
    refuses(
      bare(sql`INSERT INTO schedules (event_id, agent_id, start_date, end_date, workflow)
        SELECT 'x' || i, ${agentId}, ${minute(0)}::timestamptz + i * interval '9 minutes',
          ${minute(10)}::timestamptz + i * interval '9 minutes', 'publish' FROM generate_series(1, 2) AS i`),
    ));

  test('when its claim is written by hand', async () => {
    const id = await store(60, 120);
    await bare(sql`UPDATE schedules SET claimed = '{}', occupied = 'empty' WHERE event_id = ${id}`);
    await refuses(store(60, 120));
  });

  test('when several come at the same time and nobody locks anything', async () => {
    const all = await Promise.allSettled(Array.from({ length: 4 }, () => store(60, 120)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stored()).toEqual(['60-120']);
  });
});

test('recordings may touch, and those of another agent never conflict', async () => {
  await store(60, 120);
  await store(120, 150);
  await store(30, 60);
  expect(await stored()).toEqual(['120-150', '30-60', '60-120']);
  const busy = agentId;
  agentId = await knownAgent(database);
  const id = await store(60, 120);
  expect(await stored()).toEqual(['60-120']);
  await expect(change(id, { agentId: busy })).rejects.toThrow(OVERLAP);
});

test('the minimum gap counts before and after a recording', async () => {
  await store(60, 120, { gap: 5 });
  await refuses(store(124, 150, { gap: 5 }));
  await refuses(store(30, 56, { gap: 5 }));
  await store(125, 150, { gap: 5 });
  await store(30, 55, { gap: 5 });
  expect(await stored()).toEqual(['125-155', '30-60', '60-125']);
});

test('a recording moved within its own time does not conflict with itself', async () => {
  const id = await store(60, 120, { gap: 5 });
  for (const [from, to] of periods('70-110 60-130 119-180 60-120')) await change(id, { from, to, gap: 5 });
  expect(await stored()).toEqual(['60-125']);
});

test('the deletion of an event frees its time, and so does moving it', async () => {
  await remove(await store(60, 120));
  await change(await store(90, 150), { from: 200, to: 260 });
  await store(90, 150);
  expect(await stored()).toEqual(['200-260', '90-150']);
});

test.each([
  ['zero', 60, '23514'],
  ['negative', 59, '22000'],
])('a %s duration cannot be stored', (_, to, code) => expect(store(60, to)).rejects.toMatchObject({ code }));

test('a schedule of an agent that nobody knows cannot be stored', () =>
  expect(store(60, 120, { agentId: newAgent() })).rejects.toMatchObject({ code: '23503' }));

test('a schedule may be written before its event, but not without one', async () => {
  const id = newAgent();
  let isWritten = false;
  const commit = transaction(async (trx) => {
    await inserted(id).execute(trx);
    isWritten = true;
  });
  await expect(commit).rejects.toMatchObject({ code: '23503' });
  expect(isWritten).toBe(true);
  await transaction(async (trx) => {
    await inserted(id).execute(trx);
    await insertEvent(trx, { id });
  });
  expect(await stored()).toEqual(['60-120']);
});

describe('once an administrator let two recordings overlap', () => {
  let first: string;
  let second: string;
  beforeEach(async () => {
    first = await store(60, 120);
    second = await overlapping(90, 150);
  });

  test('another one that conflicts with either of them, or with both, is refused; one that touches is not', async () => {
    const other = await store(200, 260);
    for (const [from, to] of periods('60-70 100-110 140-160')) {
      await refuses(store(from, to));
      await expect(change(other, { from, to })).rejects.toThrow(OVERLAP);
    }
    await store(150, 160);
    await store(50, 60);
    expect(await misclaimed(database, agentId)).toEqual([]);
  });

  test('deleting the first hands its time to the second', async () => {
    await remove(first);
    expect(await claimed()).toEqual({ [second]: '90-150' });
    await refuses(store(100, 110));
    await store(60, 90);
  });

  test('deleting the second leaves the first its time', async () => {
    await remove(second);
    expect(await claimed()).toEqual({ [first]: '60-120' });
    await store(120, 150);
  });

  test.each([
    ['to another time', () => ({ from: 300, to: 360 })],
    ['to another agent', () => ({ agentId: newAgent() })],
    ['to a shorter time', () => ({ to: 80 })],
  ])('moving the first %s hands its time to the second', async (_, to) => {
    await change(first, to());
    expect((await claimed())[second]).toBe('90-150');
    expect(await misclaimed(database, agentId)).toEqual([]);
  });

  test('neither can be moved to where they still conflict without permission; the inputs can be changed', async () => {
    await expect(change(second, { from: 100 })).rejects.toThrow(OVERLAP);
    await expect(change(first, { to: 130 })).rejects.toThrow(OVERLAP);
    await change(second, {});
    expect(await claimed()).toEqual({ [first]: '60-120', [second]: '120-150' });
    await change(second, { from: 120 });
    expect(await claimed()).toEqual({ [first]: '60-120', [second]: '120-150' });
  });
});

test('a recording that may overlap, but does not, claims its time like any other', async () => {
  const id = await overlapping(60, 120);
  expect(await claimed()).toEqual({ [id]: '60-120' });
  await refuses(store(90, 100));
});

test('a recording that lies within another claims nothing, and has it all when the other is gone', async () => {
  const around = await store(60, 120);
  const within = await overlapping(70, 80);
  expect(await claimed()).toEqual({ [around]: '60-120', [within]: '' });
  await remove(around);
  expect(await claimed()).toEqual({ [within]: '70-80' });
});

test('a recording around two others claims what lies between them, gaps left out', async () => {
  await store(60, 80, { gap: 5 });
  await store(100, 120, { gap: 5 });
  const around = await overlapping(50, 140, 5);
  expect((await claimed())[around]).toBe('50-60 85-100 125-145');
  await refuses(store(85, 90));
});

test('many that overlap share out the time of the one that goes, the earliest first', async () => {
  const first = await store(0, 100);
  const others: string[] = [];
  for (const [from, to] of periods('5-8 10-30 20-50 25-40 45-60')) {
    others.push(await overlapping(from, to));
  }
  expect(await stored()).toEqual(['', '', '', '', '', '0-100']);
  await remove(first);
  const shares = await claimed();
  expect(others.map((id) => shares[id])).toEqual(['5-8', '10-30', '30-50', '', '50-60']);
  for (const id of others) {
    expect(await misclaimed(database, agentId)).toEqual([]);
    await remove(id);
  }
  await store(0, 100);
});

test('claims share out what is occupied, whatever is stored, moved and deleted in whatever order', () =>
  compareWithTimetable(database, 3));

describe('while another transaction is open', () => {
  let first: string;
  /** Shares the second half of the first. */
  let second: string;
  beforeEach(async () => {
    first = await store(60, 120);
    second = await store(90, 150, { allowConflict: true });
  });

  /** Runs work while a transaction that did something else first waits to be committed, and holds the work up. */
  async function during(before: (trx: Transaction) => Promise<void>, work: () => Promise<unknown>) {
    let begun: Promise<unknown> = Promise.resolve();
    await transaction(async (trx) => {
      await before(trx);
      begun = work();
      // Awaited below.
      begun.catch(() => undefined);
      await untilOneWaits(database);
    });
    await begun;
  }

  test('a recording that comes to share a time while it is given up gets it', async () => {
    await remove(second);
    await during(
      (trx) => deleteScheduled(trx, first),
      async () => {
        second = await store(70, 100, { allowConflict: true });
      },
    );
    expect(await claimed()).toEqual({ [second]: '70-100' });
  });

  test.each([
    ['deleting its event', () => remove(first)],
    ['deleting it by bare SQL', () => bare(sql`DELETE FROM schedules WHERE event_id = ${first}`)],
    [
      'moving it by bare SQL',
      () => bare(sql`UPDATE schedules SET end_date = end_date - interval '50 minutes' WHERE event_id = ${first}`),
    ],
  ])('giving up a time by %s hands it on to a recording that comes to share it', async (_, giveUp) => {
    await change(second, { from: 300, to: 330 });
    await during((trx) => move(trx, second, { from: 70, to: 100, allowConflict: true }), giveUp);
    expect((await claimed())[second]).toBe('70-100');
  });

  test('time is handed to a recording whose event is being changed, without waiting for that', async () => {
    await transaction(async (changing) => {
      await sql`SELECT FROM events WHERE id = ${second} FOR UPDATE`.execute(changing);
      await transaction(async (trx) => {
        await sql`SET LOCAL lock_timeout = '10s'`.execute(trx);
        await deleteScheduled(trx, first);
      });
    });
    expect(await claimed()).toEqual({ [second]: '90-150' });
  });

  test('two that overlap can be deleted at the same time', async () => {
    await during(
      (trx) => deleteScheduled(trx, first),
      () => remove(second),
    );
    expect(await claimed()).toEqual({});
  });

  test('a recording that wants a time that is being given up waits for it', async () => {
    await remove(second);
    await during(
      (trx) => deleteScheduled(trx, first),
      () => store(60, 120),
    );
    await refuses(store(60, 120));
    expect(await misclaimed(database, agentId)).toEqual([]);
  });
});

describe('conflicts are explained with start, end and title', () => {
  const shown = (from: number, to: number, title: string) => {
    return { start: minute(from), end: minute(to), title };
  };
  const named = (from: number, to: number, title: string, slot: Partial<Slot> = {}) =>
    store(from, to, { title, ...slot });

  function claimOf(wanted: string, gap = 0, eventId = 'new'): TimeClaim {
    const occurrences = periods(wanted).map(([from, to], i) => ({ ...shown(from, to, `New ${i}`), eventId }));
    return { agentId, gapMs: gap * 60_000, occurrences };
  }
  const explained = async (principal: typeof admin, claim: TimeClaim) =>
    (await conflictsWith(database, principal, claim)).map(({ eventId: _, ...rest }) => rest);
  const conflicts = (wanted: string, gap?: number) => explained(admin, claimOf(wanted, gap));

  test('of every event in the way, once and in the order of time', async () => {
    await named(300, 360, 'Third');
    await named(60, 120, 'First');
    await named(130, 190, 'Second');
    await named(500, 560, 'Far away');
    expect(await conflicts('0-70 100-140 150-160 340-400')).toEqual([
      shown(60, 120, 'First'),
      shown(130, 190, 'Second'),
      shown(300, 360, 'Third'),
    ]);
  });

  test('of the first thousand at most', async () => {
    const slots = Array.from({ length: 1001 }, (_, i) => ({ from: 2 * i, to: 2 * i + 1 }));
    await transaction((trx) => scheduleTogether(trx, agentId, slots.toReversed()));
    const found = await conflicts('0-5000');
    expect([found.length, found[0]?.start, found.at(-1)?.start]).toEqual([1000, minute(0), minute(1998)]);
  });

  test('but not of what only touches, is for another agent, or is the event itself', async () => {
    const id = await named(0, 60, 'Before');
    await named(120, 150, 'After');
    await named(60, 120, 'Elsewhere', { agentId: await knownAgent(database) });
    expect(await conflicts('60-120')).toEqual([]);
    expect(await conflictsWith(database, admin, claimOf('10-120', 0, id))).toEqual([]);
  });

  test('also of what comes closer than the minimum gap, without that gap', async () => {
    await named(0, 57, 'Before', { gap: 5 });
    await named(123, 150, 'After', { gap: 5 });
    expect(await conflicts('60-120', 5)).toEqual([shown(0, 57, 'Before'), shown(123, 150, 'After')]);
  });

  test('also of those that only share their time with others', async () => {
    await named(60, 120, 'First');
    await named(70, 80, 'Within', { allowConflict: true });
    await named(100, 150, 'Reaching out', { allowConflict: true });
    expect(await conflicts('75-110')).toEqual([
      shown(60, 120, 'First'),
      shown(70, 80, 'Within'),
      shown(100, 150, 'Reaching out'),
    ]);
    expect(await conflicts('120-130')).toEqual([shown(100, 150, 'Reaching out')]);
  });

  test('also of recordings asked for together, each once, and of both kinds in the order of time', async () => {
    const together = '0-60 50-55 58-70 70-80';
    const found = [shown(0, 60, 'New 0'), shown(50, 55, 'New 1'), shown(58, 70, 'New 2')];
    expect(await conflicts(together)).toEqual(found);
    expect(await conflicts('0-60 64-70 75-80', 5)).toEqual([shown(0, 60, 'New 0'), shown(64, 70, 'New 1')]);
    await named(55, 57, 'Stored');
    expect(await conflicts(together)).toEqual([...found.slice(0, 2), shown(55, 57, 'Stored'), found[2]]);
  });

  test('but without titles of events that are not for the reader', async () => {
    const event_id = await named(0, 60, 'For readers');
    await named(60, 120, 'Secret');
    await giveAcl(app, event_id, [ace('ROLE_READER')]);
    const reader = anonymous.withRoles(['ROLE_READER']);
    expect(await explained(reader, claimOf('30-90'))).toEqual([shown(0, 60, 'For readers'), shown(60, 120, '')]);
  });

  const explaining = <T>(work: (trx: Transaction) => Promise<T>) => withScheduleConflicts(database, admin, work);

  test('when the database refuses them, and nothing stays', async () => {
    await named(60, 120, 'First');
    const together = periods('0-30 100-130').map(([from, to]) => ({ from, to }));
    await expect(explaining((trx) => scheduleTogether(trx, agentId, together))).rejects.toMatchObject({
      name: 'ScheduleConflict',
      conflicts: [shown(60, 120, 'First')],
    });
    const id = await named(0, 30, 'Moved');
    await expect(explaining((trx) => move(trx, id, { from: 110, to: 250 }))).rejects.toMatchObject({
      conflicts: [shown(60, 120, 'First')],
    });
    expect(await stored()).toEqual(['0-30', '60-120']);
  });

  test('unless they have gone before they could be named: then the recording is stored', async () => {
    const id = await named(60, 120, 'First');
    let attempts = 0;
    await explaining(async (trx) => {
      attempts += 1;
      try {
        return await scheduleTogether(trx, agentId, [{ from: 60, to: 120 }]);
      } catch (error) {
        await remove(id);
        throw error;
      }
    });
    expect(attempts).toBe(2);
    expect(await stored()).toEqual(['60-120']);
  });

  test('for ten attempts when nothing is ever found in the way, and not after other errors', async () => {
    let attempts = 0;
    const failing = (error: Error) =>
      explaining(() =>
        translateOverlapError(claimOf('60-120'), () => {
          attempts += 1;
          throw error;
        }),
      );
    const conflict = Object.assign(new Error('conflicting key value'), { code: '23P01' });
    await expect(failing(conflict)).rejects.toMatchObject({ name: 'TransactionConflict' });
    expect(attempts).toBe(10);
    await expect(failing(new Error('other'))).rejects.toThrow('other');
    expect(attempts).toBe(11);
  });
});

describe('an event shows what is scheduled for it', () => {
  const shown = (eventId: string) =>
    database
      .selectFrom('events')
      .select(['agent_id', 'technical_start', 'technical_end', 'recording_state', 'status'])
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow();
  const NOTHING = { recording_state: '', agent_id: '' };
  const planned = { technical_start: minute(60), technical_end: minute(120), status: 'SCHEDULED' };
  const awaited = () => ({ ...NOTHING, ...planned, agent_id: agentId });
  const START = new Date('2026-04-13T08:15:00Z');
  const UNSCHEDULED = { ...NOTHING, technical_start: START, technical_end: START, status: 'PROCESSED' };
  const write = (id: string, values: NonNullable<Parameters<typeof insertEvent>[1]>) =>
    database.updateTable('events').set(values).where('id', '=', id).execute();

  test('from its insertion, or from when it is scheduled', async () => {
    expect(await shown(await store(60, 120))).toEqual(awaited());
    agentId = await knownAgent(database);
    const id = await insertEvent(database);
    await bare(inserted(id));
    expect(await shown(id)).toEqual(awaited());
  });

  test('and the agent and the times that its schedule is moved to', async () => {
    const id = await store(60, 120);
    const next = newAgent();
    await change(id, { agentId: next, from: 70, to: 90 });
    const times = { technical_start: minute(70), technical_end: minute(90) };
    expect(await shown(id)).toEqual({ ...awaited(), agent_id: next, ...times });
  });

  test('until that is given to another event or removed', async () => {
    const id = await store(60, 120);
    const next = await insertEvent(database);
    await bare(sql`UPDATE schedules SET event_id = ${next} WHERE event_id = ${id}`);
    expect(await shown(id)).toEqual(UNSCHEDULED);
    expect(await shown(next)).toEqual(awaited());
    await bare(sql`DELETE FROM schedules WHERE event_id = ${next}`);
    expect(await shown(next)).toEqual(UNSCHEDULED);
  });

  test('and otherwise its bibliographic times, whatever they become', async () => {
    const id = await insertEvent(database, { duration: 60_000 });
    expect(await shown(id)).toEqual({ ...UNSCHEDULED, technical_end: new Date(START.getTime() + 60_000) });
    await write(id, { start_date: minute(0), duration: 120_000 });
    expect(await shown(id)).toEqual({ ...UNSCHEDULED, technical_start: minute(0), technical_end: minute(2) });
  });

  test('neither its bibliographic times nor a write by hand change that', async () => {
    const id = await store(60, 120);
    await write(id, { start_date: minute(0), duration: 120_000 });
    expect(await shown(id)).toEqual(awaited());
    const times = { technical_start: minute(0), technical_end: minute(1) };
    await write(id, { agent_id: 'other', ...times, recording_state: 'capturing' });
    expect(await shown(id)).toEqual(awaited());
  });

  test('what was known of a recording is forgotten when its schedule is moved, and only then', async () => {
    const id = await store(60, 120);
    await transaction((trx) => advanceRecording(trx, id, { kind: 'reported', state: 'capture_error' }));
    await change(id, {});
    const failed = { recording_state: 'capture_error', status: 'RECORDING_FAILURE' };
    expect(await shown(id)).toMatchObject(failed);
    await change(id, { to: 130 });
    expect(await shown(id)).toMatchObject({ recording_state: '', status: 'SCHEDULED' });
  });
});

describe('the state of a recording', () => {
  const STATES = Object.keys(RECORDING_MOVES) as RecordingState[];
  const REPORTS = STATES.filter((state): state is Reported => state !== '');
  let id: string;
  beforeEach(async () => {
    id = await store(60, 120);
  });

  const put = (recording_state: RecordingState) =>
    database.updateTable('schedules').set({ recording_state }).where('event_id', '=', id).execute();
  /** The state in the schedule, which the event shows as well. */
  const state = async () => {
    const row = await database
      .selectFrom('schedules')
      .innerJoin('events', 'events.id', 'event_id')
      .select(['schedules.recording_state as scheduled', 'events.recording_state as shown'])
      .where('event_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.shown).toBe(row.scheduled);
    return row.shown;
  };
  const advance = (event: RecordingChange) => transaction((trx) => advanceRecording(trx, id, event));

  // The unit test of the table has all moves; here are the first and the last of each kind.
  test.each(STATES)('"%s" moves where the table lets it, and nowhere else; the recording may come', async (from) => {
    const isLegal = (to: Reported) => to === from || RECORDING_MOVES[from].includes(to);
    const legal = REPORTS.filter(isLegal);
    const illegal = REPORTS.filter((to) => !isLegal(to));
    for (const to of [...legal.slice(0, 1), ...legal.slice(-1)]) {
      await put(from);
      expect(await advance({ kind: 'reported', state: to })).toBe(to);
      expect(await state()).toBe(to);
    }
    await put(from);
    for (const to of [...illegal.slice(0, 1), ...illegal.slice(-1)]) {
      await expect(advance({ kind: 'reported', state: to })).rejects.toThrow(IllegalMove);
    }
    expect(await state()).toBe(from);
    expect(await advance({ kind: 'recorded' })).toBe('upload_finished');
    expect(await state()).toBe('upload_finished');
  });

  test.each(['capturing', 'upload_finished'] as const)('"%s" does not let it be moved', async (from) => {
    await put(from);
    await expect(advance({ kind: 'moved' })).rejects.toThrow(IllegalMove);
    expect(await state()).toBe(from);
  });

  test('of two concurrent reports is the later stage', async () => {
    for (let round = 0; round < 3; round += 1) {
      await put('');
      await Promise.allSettled([
        advance({ kind: 'reported', state: 'capturing' }),
        advance({ kind: 'reported', state: 'uploading' }),
      ]);
      expect(await state()).toBe('uploading');
    }
  });
});
