import type { Queryable } from '#platform/database/kysely.ts';
import { timeZoneOf } from '../agents/agents.queries.ts';
import { occurrencesOf } from '../recurrence/occurrences.ts';
import { PERIODS_OVERLAP } from '../states/refusals.ts';
import type { Period } from '../states/state.ts';
import { parseNewScheduling } from './parse.ts';

export interface RecordingPlan {
  agentId: string;
  inputs: string[];
  /** One period per event, in chronological order; at least one. */
  periods: Period[];
  /** True if a recurrence rule produced the periods. */
  recurring: boolean;
}

/** Parses the field `scheduling` and expands its recurrence rule. @throws {HttpError} 400 (compatibility 3.5) */
export async function planRecordings(
  text: string,
  { database, maxOccurrences }: { database: Queryable; maxOccurrences: number },
): Promise<RecordingPlan> {
  const { agentId, inputs, start, end, durationMs, rrule } = parseNewScheduling(text);
  if (rrule === undefined) return { agentId, inputs, periods: [{ start, end }], recurring: false };
  const timeZone = await timeZoneOf(database, agentId);
  const starts = occurrencesOf({ rule: rrule, start, end, timeZone, maxOccurrences });
  const periods = starts.map((start) => ({ start, end: new Date(start.getTime() + durationMs) }));
  if (starts.some((start, i) => start < (periods[i - 1]?.end ?? start))) throw PERIODS_OVERLAP();
  return { agentId, inputs, periods, recurring: true };
}
