import fc from 'fast-check';
import { expect } from 'vitest';
import type { Database } from '#platform/database/kysely.ts';
import { claims, deleteScheduled, knownAgent, misclaimed, move, REFUSED, type Slot, storeBare } from './schedules.ts';

type Entry = Required<Omit<Slot, 'title'>>;

/** The claims that the database must make, minute by minute: each minute of an agent has at most one owner. */
class Timetable {
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new Map<string, string>();

  get events(): string[] {
    return [...this.#entries.keys()];
  }

  /** Tells whether the slot may be stored, for a new event or in place of the one that an event has. */
  permits(eventId: string | undefined, slot: Entry): boolean {
    if (slot.allowConflict || this.#isUnmoved(eventId, slot)) return true;
    return minutes(slot).every((minute) => [undefined, eventId].includes(this.#owners.get(minute)));
  }

  put(eventId: string, slot: Entry): void {
    if (this.#isUnmoved(eventId, slot)) return;
    const before = this.#owned(eventId);
    const wanted = minutes(slot);
    this.#entries.set(eventId, slot);
    for (const minute of wanted) if (!this.#owners.has(minute)) this.#owners.set(minute, eventId);
    this.#release(before.filter((minute) => !wanted.includes(minute)));
  }

  delete(eventId: string): void {
    this.#entries.delete(eventId);
    this.#release(this.#owned(eventId));
  }

  /** The time that each event owns of an agent, in the form of `claims()` of the database. */
  claims(agentId: string): Record<string, string> {
    const entries = [...this.#entries].filter(([, entry]) => entry.agentId === agentId);
    return Object.fromEntries(
      entries.map(([eventId, { from, to, gap }]) => {
        const owns = (minute: number) => this.#owners.get(`${agentId} ${minute}`) === eventId;
        const all = Array.from({ length: to + gap - from }, (_, i) => from + i).filter(owns);
        const starts = all.filter((minute) => !owns(minute - 1));
        const ends = all.filter((minute) => !owns(minute + 1));
        return [eventId, starts.map((start, i) => `${start}-${(ends[i] ?? 0) + 1}`).join(' ')];
      }),
    );
  }

  /** A schedule that stays where it is keeps its gap and what it may overlap. */
  #isUnmoved(eventId: string | undefined, { agentId, from, to }: Entry): boolean {
    const entry = this.#entries.get(eventId ?? '');
    return entry?.agentId === agentId && entry.from === from && entry.to === to;
  }

  #owned(eventId: string): string[] {
    return [...this.#owners].filter(([, owner]) => owner === eventId).map(([minute]) => minute);
  }

  /** Gives minutes to those that want them, the earliest first. */
  #release(freed: readonly string[]): void {
    const waiting = [...this.#entries].sort(([idA, a], [idB, b]) => a.from - b.from || (idA < idB ? -1 : 1));
    for (const minute of freed) {
      const [next] = waiting.find(([, slot]) => minutes(slot).includes(minute)) ?? [];
      if (next === undefined) this.#owners.delete(minute);
      else this.#owners.set(minute, next);
    }
  }
}

const minutes = ({ agentId, from, to, gap }: Entry) =>
  Array.from({ length: to + gap - from }, (_, index) => `${agentId} ${from + index}`);

const step = fc.record({
  kind: fc.constantFrom('store', 'move', 'delete'),
  which: fc.nat(),
  room: fc.nat({ max: 1 }),
  from: fc.nat({ max: 24 }),
  length: fc.integer({ min: 1, max: 12 }),
  gap: fc.nat({ max: 3 }),
  allowConflict: fc.boolean(),
});

/** Stores, moves and deletes schedules at random, and compares each result with a timetable. */
export async function compareWithTimetable(database: Database, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const rooms = [await knownAgent(database), await knownAgent(database)] as const;
      const timetable = new Timetable();
      for (const one of steps) {
        const eventId = timetable.events[one.which % Math.max(timetable.events.length, 1)];
        if (one.kind === 'delete') {
          if (eventId === undefined) continue;
          await database.transaction().execute((trx) => deleteScheduled(trx, eventId));
          timetable.delete(eventId);
        } else {
          const { room, from, length, gap, allowConflict } = one;
          const slot = { agentId: rooms[room] ?? '', from, to: from + length, gap, allowConflict };
          const moved = one.kind === 'move' ? eventId : undefined;
          const stored = await (moved === undefined
            ? storeBare(database, slot)
            : database.transaction().execute(async (trx) => {
                await move(trx, moved, slot);
                return moved;
              })
          ).catch(requireOverlap);
          expect(stored !== undefined).toBe(timetable.permits(moved, slot));
          if (stored !== undefined) timetable.put(stored, slot);
        }
        for (const room of rooms) expect(await claims(database, room)).toEqual(timetable.claims(room));
      }
      expect(await misclaimed(database, ...rooms)).toEqual([]);
    }),
    { numRuns },
  );
}

/** @throws {Error} every error but the refusal of a time that is taken */
function requireOverlap(error: unknown): undefined {
  const overlaps =
    error instanceof Error && (error.name === 'ScheduleOverlap' || ('code' in error && error.code === REFUSED.code));
  if (!overlaps) throw error;
}
