import { beforeEach, describe, expect, test } from 'vitest';
import { anonymous } from '../../src/access/principal.ts';
import {
  conflictsWith,
  explainingConflicts,
  refusingOverlaps,
  type TimeClaim,
} from '../../src/recordings/conflicts.ts';
import { databaseForThisFile } from '../support/database.ts';
import {
  admin,
  deleteScheduled,
  knownAgent,
  makeKnown,
  minute,
  move,
  type Slot,
  scheduleTogether,
  storeBare,
} from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';

const db = databaseForThisFile();
let agentId: string;
beforeEach(async () => {
  agentId = await knownAgent(db.database);
});

const store = (from: number, to: number, title: string, slot: Partial<Slot> = {}) =>
  storeBare(db.database, { agentId, from, to, title, ...slot });
const shown = (from: number, to: number, title: string) => ({ start: minute(from), end: minute(to), title });

function claimOf(periods: readonly (readonly [number, number])[], gap = 0, eventId = 'new'): TimeClaim {
  const occurrences = periods.map(([from, to], index) => ({ ...shown(from, to, `New ${index}`), eventId }));
  return { agentId, gapMs: gap * 60_000, occurrences };
}
const conflicts = (periods: readonly (readonly [number, number])[], gap?: number) =>
  conflictsWith(db.database, admin, claimOf(periods, gap));

describe('conflicts are explained with start, end and title', () => {
  test('of every event in the way, once and in the order of time', async () => {
    await store(300, 360, 'Third');
    await store(60, 120, 'First');
    await store(130, 190, 'Second');
    await store(500, 560, 'Far away');
    expect(
      await conflicts([
        [0, 70],
        [100, 140],
        [150, 160],
        [340, 400],
      ]),
    ).toEqual([shown(60, 120, 'First'), shown(130, 190, 'Second'), shown(300, 360, 'Third')]);
  });

  test('but not of what only touches, is for another agent, or is the event itself', async () => {
    const id = await store(0, 60, 'Before');
    await store(120, 150, 'After');
    const other = newAgent();
    await makeKnown(db.database, other);
    await store(60, 120, 'Elsewhere', { agentId: other });
    expect(await conflicts([[60, 120]])).toEqual([]);
    expect(await conflictsWith(db.database, admin, claimOf([[10, 120]], 0, id))).toEqual([]);
  });

  test('also of what comes closer than the minimum gap, without that gap', async () => {
    await store(0, 57, 'Before', { gap: 5 });
    await store(123, 150, 'After', { gap: 5 });
    expect(await conflicts([[60, 120]], 5)).toEqual([shown(0, 57, 'Before'), shown(123, 150, 'After')]);
  });

  test('also of those that only share their time with others', async () => {
    await store(60, 120, 'First');
    await store(70, 80, 'Within', { allowConflict: true });
    await store(100, 150, 'Reaching out', { allowConflict: true });
    expect(await conflicts([[75, 110]])).toEqual([
      shown(60, 120, 'First'),
      shown(70, 80, 'Within'),
      shown(100, 150, 'Reaching out'),
    ]);
    expect(await conflicts([[120, 130]])).toEqual([shown(100, 150, 'Reaching out')]);
  });

  test('also of recordings asked for together, each once', async () => {
    expect(
      await conflicts([
        [0, 60],
        [50, 55],
        [58, 70],
        [70, 80],
      ]),
    ).toEqual([shown(0, 60, 'New 0'), shown(50, 55, 'New 1'), shown(58, 70, 'New 2')]);
    expect(
      await conflicts(
        [
          [0, 60],
          [64, 70],
          [75, 80],
        ],
        5,
      ),
    ).toEqual([shown(0, 60, 'New 0'), shown(64, 70, 'New 1')]);
  });

  test('of both kinds in the order of time', async () => {
    await store(55, 58, 'Stored');
    expect(
      await conflicts([
        [0, 60],
        [57, 70],
      ]),
    ).toEqual([shown(0, 60, 'New 0'), shown(55, 58, 'Stored'), shown(57, 70, 'New 1')]);
  });

  test('but without titles of events that are not for the reader', async () => {
    const readable = await store(0, 60, 'For readers');
    await store(60, 120, 'Secret');
    await db.database
      .insertInto('event_acl')
      .values({ event_id: readable, position: 0, role: 'ROLE_READER', action: 'read', allow: true })
      .execute();
    expect(
      await conflictsWith(db.database, anonymous.withRoles(['ROLE_READER']), claimOf([[30, 90]])),
    ).toEqual([shown(0, 60, 'For readers'), shown(60, 120, '')]);
  });
});

describe('a schedule that the database refuses', () => {
  const schedule = (from: number, to: number) =>
    explainingConflicts(db.database, admin, (trx) => scheduleTogether(trx, agentId, [{ from, to }]));

  test('is refused with what it conflicts with, and leaves nothing', async () => {
    await store(60, 120, 'First');
    const work = explainingConflicts(db.database, admin, (trx) =>
      scheduleTogether(trx, agentId, [
        { from: 0, to: 30 },
        { from: 100, to: 130 },
      ]),
    );
    await expect(work).rejects.toMatchObject({
      name: 'ScheduleConflict',
      conflicts: [shown(60, 120, 'First')],
    });
    await schedule(0, 30);
  });

  test('is refused with what it conflicts with when it is moved', async () => {
    await store(60, 120, 'First');
    const id = await store(200, 260, 'Moved');
    const work = explainingConflicts(db.database, admin, (trx) => move(trx, id, { from: 110, to: 250 }));
    await expect(work).rejects.toMatchObject({ conflicts: [shown(60, 120, 'First')] });
  });

  test('is stored after all when what it conflicted with has gone before it could be named', async () => {
    const id = await store(60, 120, 'First');
    let attempts = 0;
    const [stored] = await explainingConflicts(db.database, admin, async (trx) => {
      attempts += 1;
      try {
        return await scheduleTogether(trx, agentId, [{ from: 60, to: 120 }]);
      } catch (error) {
        await deleteScheduled(db.database, id);
        throw error;
      }
    });
    expect(attempts).toBe(2);
    expect(await conflicts([[60, 120]])).toHaveLength(1);
    await deleteScheduled(db.database, String(stored));
  });

  test('is not tried for ever when nothing is ever found in its way', async () => {
    let attempts = 0;
    const work = explainingConflicts(db.database, admin, () =>
      refusingOverlaps(claimOf([[60, 120]]), () => {
        attempts += 1;
        throw Object.assign(new Error('conflicting key value'), { code: '23P01' });
      }),
    );
    await expect(work).rejects.toMatchObject({ name: 'Outdated' });
    expect(attempts).toBe(10);
  });

  test('is given up at once when it fails for another reason', async () => {
    await expect(
      explainingConflicts(db.database, admin, () =>
        refusingOverlaps(claimOf([[60, 120]]), () => Promise.reject(new Error('other'))),
      ),
    ).rejects.toThrow('other');
  });
});
