import type { Context } from 'hono';
import { versionedJson } from '#platform/http/answer/version.ts';
import type { Answer } from '#platform/http/endpoint/endpoint.ts';
import { ScheduleConflict } from './conflicts.ts';
import { CONFLICTS } from './examples.ts';
import { conflictJson } from './json.ts';
import { Conflicts } from './scheduling.schemas.ts';

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
