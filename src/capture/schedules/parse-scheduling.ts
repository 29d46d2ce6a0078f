import { parseJson } from '#metadata/parse-metadata.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { parseInput } from '#platform/http/endpoint/endpoint-schemas.ts';
import { badRequest, type Refusal } from '#platform/http/errors/errors.ts';
import { timeZoneOf } from '../agents/agents.queries.ts';
import { occurrencesOf } from '../recurrence/occurrences.ts';
import type { Period } from '../states/recording-state.ts';
import {
  MOMENT,
  NO_END,
  PERIODS_OVERLAP,
  RULE_INCOMPLETE,
  TWO_ENDS,
  UNPARSABLE_SCHEDULING,
} from '../states/scheduling-errors.ts';
import { LONGEST_MS, NewScheduling as NewFields, SchedulingUpdate } from './scheduling.schemas.ts';

interface NewScheduling {
  agentId: string;
  inputs: string[];
  /** With a rule, the period of the start times. */
  start: Date;
  end: Date;
  durationMs: number;
  /** The unparsed rule, for `occurrencesOf`. */
  rrule: string | undefined;
}

/** A change of a schedule, with either `end` or `durationMs`. */
export interface SchedulingChange {
  agentId?: string;
  start?: Date;
  end?: Date;
  durationMs?: number;
  inputs?: string[];
}

/**
 * Parses the field `scheduling` of a new event; ignores null and empty values except `start` and `end` (compatibility
 * 3.5).
 */
export function parseNewScheduling(text: string): NewScheduling {
  const sent = filledFields(text, UNPARSABLE_SCHEDULING);
  const { start, end, duration, inputs = [], rrule } = parseInput(NewTimes, sent);
  if (rrule !== undefined && !(start && end && duration)) throw RULE_INCOMPLETE();
  if (rrule === undefined) requireOneEnd(end, duration);
  if (!start) throw badRequest(`'start' must be specified as ${MOMENT}`);
  const period = { start, end: end ?? after(start, duration ?? 0) };
  requireOrder(period);
  const durationMs = duration ?? lengthOf(period);
  requireLength(durationMs);
  return { agentId: parseInput(NewFields.shape.agent_id, sent.agent_id), inputs, ...period, durationMs, rrule };
}

/** Parses a change of a schedule; ignores null and empty values except `start` and `end` (compatibility 3.12). */
export function parseSchedulingChange(text: string, unreadable: Refusal): SchedulingChange {
  const sent = filledFields(text, unreadable);
  const { start, end, duration, inputs } = parseInput(ChangedTimes, sent);
  if ('rrule' in sent) throw badRequest("'rrule' is allowed for new events only");
  requireOneEnd(end, duration);
  const agentId = parseInput(SchedulingUpdate.shape.agent_id, sent.agent_id);
  return {
    ...(agentId !== undefined && { agentId }),
    ...(start && { start }),
    ...(end ? { end } : { durationMs: duration }),
    ...(inputs && { inputs }),
  };
}

/** Returns the period of a changed recording. @throws {HttpError} 400 if it is empty or too long */
export function periodOf({ start: from, end, durationMs }: SchedulingChange, current: Period): Period {
  const start = from ?? current.start;
  const period = { start, end: end ?? after(start, durationMs ?? lengthOf(current)) };
  requireOrder(period);
  requireLength(lengthOf(period));
  return period;
}

/** The agent is validated last. */
const NewTimes = NewFields.omit({ agent_id: true }).partial({ start: true });
const ChangedTimes = SchedulingUpdate.omit({ agent_id: true });

/** An empty time is an error of the client; ignoring it would record at a wrong time. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['start', 'end']);

/** Returns the non-empty fields. @throws {HttpError} 400 */
function filledFields(text: string, unreadable: Refusal): Record<string, unknown> {
  const json = parseJson(text, () => unreadable());
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw unreadable();
  return Object.fromEntries(
    Object.entries(json).filter(([name, value]) => value !== null && (value !== '' || NEVER_EMPTY.has(name))),
  );
}

function requireOneEnd(end: Date | undefined, duration: number | undefined): void {
  if (!end && duration === undefined) throw NO_END();
  if (end && duration !== undefined) throw TWO_ENDS();
}

function requireOrder({ start, end }: Period): void {
  if (end > start) return;
  throw badRequest(
    `The value of 'end' is ${end.toISOString()}; it must be after 'start', which is ${start.toISOString()}`,
  );
}

function requireLength(durationMs: number): void {
  if (durationMs <= LONGEST_MS) return;
  throw badRequest(`The recording takes ${durationMs} milliseconds; the maximum is ${LONGEST_MS}`);
}

function after(start: Date, durationMs: number): Date {
  return new Date(start.getTime() + durationMs);
}

function lengthOf({ start, end }: Period): number {
  return end.getTime() - start.getTime();
}

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
  const periods = starts.map((start) => ({ start, end: after(start, durationMs) }));
  if (starts.some((start, i) => start < (periods[i - 1]?.end ?? start))) throw PERIODS_OVERLAP();
  return { agentId, inputs, periods, recurring: true };
}
