import type { Context } from 'hono';
import type { Answer } from '../http/endpoint/endpoint.ts';
import { versionedJson } from '../http/version.ts';
import { ScheduleConflict } from './conflicts.ts';
import { CONFLICTS } from './schedules/examples.ts';
import { conflictJson } from './schedules/json.ts';
import { Conflicts } from './schedules/scheduling.schemas.ts';

/** What is in the way of a recording. */
export const CONFLICT: Answer = {
  description: 'The agent records something else then.',
  body: Conflicts,
  example: CONFLICTS,
};

/**
 * Answers a request whose recordings conflict with others: the one refusal that is not a sentence (contract 2.11).
 *
 * @throws every other error
 */
export function answerConflicts(c: Context, error: unknown): Response {
  if (!(error instanceof ScheduleConflict)) throw error;
  return versionedJson(c, error.conflicts.map(conflictJson), 409);
}
