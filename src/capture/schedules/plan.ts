import type { Queryable } from '#platform/database/kysely.ts';
import { timeZoneOf } from '../agents/agents.queries.ts';
import { occurrencesOf } from '../recurrence/occurrences.ts';
import { PERIODS_OVERLAP } from '../states/refusals.ts';
import type { Period } from '../states/state.ts';
import { parseNewScheduling } from './parse.ts';

/** What an agent is to record for new events. */
export interface RecordingPlan {
  agentId: string;
  inputs: string[];
  /** One for each event; chronological, at least one. */
  periods: Period[];
  /** Whether a recurrence rule gave them. */
  recurring: boolean;
}

/**
 * Reads the part `scheduling` of new events.
 *
 * @param options.maxOccurrences how many events a recurrence rule may give
 * @throws {HttpError} 400 with the sentences clients know (compatibility 3.5)
 */
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
