import type { Context } from 'hono';
import { versionedJson } from '#platform/http/answer/version.ts';
import type { Answer } from '#platform/http/endpoint/endpoint.ts';
import { ScheduleConflict } from './conflicts.ts';
import { CONFLICTS } from './examples.ts';
import { conflictJson } from './json.ts';
import { Conflicts } from './scheduling.schemas.ts';

/** The 409 response of a scheduling request. */
export const CONFLICT_ANSWER: Answer = {
  description: 'The agent has another recording at that time.',
  body: Conflicts,
  example: CONFLICTS,
};

/** Returns the 409 response for schedule conflicts (contract 2.11); throws every other error. */
export function conflictResponse(c: Context, error: unknown): Response {
  if (!(error instanceof ScheduleConflict)) throw error;
  return versionedJson(c, error.conflicts.map(conflictJson), 409);
}
