import type { Context } from 'hono';
import { versionedJson } from '../http/version.ts';
import { ScheduleConflict } from './conflicts.ts';
import { conflictJson } from './schedules/json.ts';

/**
 * Answers a request whose recordings conflict with others: the one refusal that is not a sentence (contract 2.11).
 *
 * @throws every other error
 */
export function answerConflicts(c: Context, error: unknown): Response {
  if (!(error instanceof ScheduleConflict)) throw error;
  return versionedJson(c, error.conflicts.map(conflictJson), 409);
}
