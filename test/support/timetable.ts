import type { Slot } from './schedules.ts';

type Entry = Required<Pick<Slot, 'agentId' | 'from' | 'to' | 'gap' | 'allowConflict'>>;

/** What the database is to do with schedules, said minute by minute: each minute of an agent has at most one owner. */
export class Timetable {
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new Map<string, string>();

  get events(): string[] {
    return [...this.#entries.keys()];
  }

  /** Whether the slot is stored, for a new event or in place of what one has. */
  permits(eventId: string | undefined, slot: Entry): boolean {
    if (slot.allowConflict || (eventId !== undefined && this.#isWhereItWas(eventId, slot))) return true;
    return minutes(slot).every((minute) => [undefined, eventId].includes(this.#owners.get(minute)));
  }

  put(eventId: string, slot: Entry): void {
    if (this.#isWhereItWas(eventId, slot)) return;
    const before = this.#owned(eventId);
    this.#entries.set(eventId, slot);
    const wanted = minutes(slot);
    for (const minute of wanted) if (!this.#owners.has(minute)) this.#owners.set(minute, eventId);
    this.#handOn(before.filter((minute) => !wanted.includes(minute)));
  }

  delete(eventId: string): void {
    this.#entries.delete(eventId);
    this.#handOn(this.#owned(eventId));
  }

  /** What each event owns of an agent, as the database is asked for it. */
  claims(agentId: string): Record<string, string> {
    const entries = [...this.#entries].filter(([, entry]) => entry.agentId === agentId);
    return Object.fromEntries(
      entries.map(([eventId, slot]) => {
        const owned = new Set(this.#owned(eventId));
        const parts: [number, number][] = [];
        for (let minute = slot.from; minute < slot.to + slot.gap; minute += 1) {
          if (!owned.has(`${slot.agentId} ${minute}`)) continue;
          const last = parts.at(-1);
          if (last?.[1] === minute) last[1] += 1;
          else parts.push([minute, minute + 1]);
        }
        return [eventId, parts.map(([from, to]) => `${from}-${to}`).join(' ')];
      }),
    );
  }

  /** A schedule that stays where it is keeps its gap and what it may overlap. */
  #isWhereItWas(eventId: string, { agentId, from, to }: Entry): boolean {
    const entry = this.#entries.get(eventId);
    return entry?.agentId === agentId && entry.from === from && entry.to === to;
  }

  #owned(eventId: string): string[] {
    return [...this.#owners].filter(([, owner]) => owner === eventId).map(([minute]) => minute);
  }

  /** To those that want it, the earliest first. */
  #handOn(freed: readonly string[]): void {
    for (const minute of freed) this.#owners.delete(minute);
    const waiting = [...this.#entries].sort(([idA, a], [idB, b]) => a.from - b.from || (idA < idB ? -1 : 1));
    for (const [eventId, slot] of waiting) {
      for (const minute of minutes(slot)) {
        if (freed.includes(minute)) {
          if (!this.#owners.has(minute)) this.#owners.set(minute, eventId);
        }
      }
    }
  }
}

function minutes({ agentId, from, to, gap }: Entry): string[] {
  return Array.from({ length: to + gap - from }, (_, index) => `${agentId} ${from + index}`);
}
