import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random.ts';

/** Something that goes wrong for a while. */
export interface Fault {
  name: string;
  /** What it is, whatever it happens to; reports count by it. */
  kind: string;
  /** What it happens to; one thing at a time happens to each. */
  target: string;
  begin(): unknown;
  /** Mends it. Absent for what is over as soon as it has happened. */
  end?(): unknown;
  /** Makes it last longer, or less long, than others: at least and at most so many seconds. */
  seconds?: readonly [number, number];
}

/** A fault at its time, in seconds from the start. */
export interface PlannedFault {
  fault: Fault;
  at: number;
  seconds: number;
}

const PAUSE_SECONDS = [2, 12] as const;
const FAULT_SECONDS = [5, 90] as const;
/** The share of a run that one fault may last. */
const SHARE = 0.3;
/** Between one kill and the next. */
const KILL_SECONDS = [12, 42] as const;

/** What goes wrong when: two things at once at most, and not both to the same part. */
export function planFaults(faults: readonly Fault[], random: Random, seconds: number): PlannedFault[] {
  const longest = Math.min(FAULT_SECONDS[1], Math.max(FAULT_SECONDS[0], seconds * SHARE));
  const plan: PlannedFault[] = [];
  for (const first of [random.between(...PAUSE_SECONDS), random.between(...PAUSE_SECONDS) + longest / 2]) {
    for (let at = first; at < seconds && faults.length > 0; ) {
      const fault = random.of(faults);
      const [least, most] = fault.seconds ?? [FAULT_SECONDS[0], longest];
      const length = random.between(Math.min(least, longest), Math.min(most, longest));
      const lasts = fault.end ? Math.min(length, seconds - at) : 0;
      const busy = plan.some(
        (other) => other.fault.target === fault.target && other.at <= at + lasts && at <= other.at + other.seconds,
      );
      if (!busy) plan.push({ fault, at, seconds: lasts });
      at += lasts + random.between(...PAUSE_SECONDS);
    }
  }
  return inOrder(plan);
}

/** Kills at random moments, whatever else is going on; more than a hundred in an hour. */
export function planKills(kills: readonly Fault[], random: Random, seconds: number): PlannedFault[] {
  const plan: PlannedFault[] = [];
  if (kills.length === 0) return plan;
  for (let at = random.between(...KILL_SECONDS); at < seconds; at += random.between(...KILL_SECONDS))
    plan.push({ fault: random.of(kills), at, seconds: 0 });
  return inOrder(plan);
}

function inOrder(plan: PlannedFault[]): PlannedFault[] {
  return plan.sort((a, b) => a.at - b.at);
}

/** Lets everything go wrong as planned; all is mended when it settles. */
export async function bringAbout(plan: readonly PlannedFault[], say: (text: string) => void): Promise<void> {
  await Promise.all(
    plan.map(async ({ fault, at, seconds }) => {
      await pause(at * 1000);
      say(fault.end ? `${fault.name} for ${Math.round(seconds)} s` : fault.name);
      await fault.begin();
      await pause(seconds * 1000);
      await fault.end?.();
    }),
  );
}

/** How often each kind of fault happened. */
export function countKinds(plan: readonly PlannedFault[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { fault } of plan) counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
