import fc from 'fast-check';
import { expect, test } from 'vitest';
import { databaseForThisFile } from '../support/database.ts';
import { claims, deleteScheduled, makeKnown, misclaimed, move, storeBare } from '../support/schedules.ts';
import { newAgent } from '../support/scheduling.ts';
import { Timetable } from '../support/timetable.ts';

const db = databaseForThisFile();

const place = {
  room: fc.nat({ max: 1 }),
  from: fc.nat({ max: 24 }),
  length: fc.integer({ min: 1, max: 12 }),
  gap: fc.nat({ max: 3 }),
  allowConflict: fc.boolean(),
};
const which = fc.nat();
const step = fc.oneof(
  fc.record({ kind: fc.constant('store' as const), which, ...place }),
  fc.record({ kind: fc.constant('move' as const), which, ...place }),
  fc.record({ kind: fc.constant('delete' as const), which }),
);

async function isStored(statement: Promise<unknown>): Promise<boolean> {
  try {
    await statement;
    return true;
  } catch (error) {
    const refused =
      error instanceof Error && (error.name === 'Overlap' || ('code' in error && error.code === '23P01'));
    if (!refused) throw error;
    return false;
  }
}

test('claims share out what is occupied, whatever is stored, moved and deleted in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const rooms = [newAgent(), newAgent()];
      for (const room of rooms) await makeKnown(db.database, room);
      const timetable = new Timetable();
      for (const one of steps) {
        const eventId = timetable.events[one.which % Math.max(timetable.events.length, 1)];
        if (one.kind === 'delete') {
          if (eventId === undefined) continue;
          await deleteScheduled(db.database, eventId);
          timetable.delete(eventId);
        } else {
          const { room, from, length, gap, allowConflict } = one;
          const slot = { agentId: rooms[room] ?? '', from, to: from + length, gap, allowConflict };
          const isNew = one.kind === 'store' || eventId === undefined;
          let id = eventId ?? '';
          const stored = await isStored(
            isNew
              ? storeBare(db.database, slot).then((added) => {
                  id = added;
                })
              : db.database.transaction().execute((trx) => move(trx, id, slot)),
          );
          const permitted = timetable.permits(isNew ? undefined : id, slot);
          expect(stored).toBe(permitted);
          if (stored) timetable.put(id, slot);
        }
        for (const room of rooms) expect(await claims(db.database, room)).toEqual(timetable.claims(room));
      }
    }),
    { numRuns: 60 },
  );
  expect(await misclaimed(db.database)).toEqual([]);
});
