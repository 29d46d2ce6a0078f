import type { Context } from 'hono';
import { versionedJson } from '../http/version.ts';
import { ScheduleConflict } from './conflicts.ts';
import { conflictJson } from './schedules/json.ts';

/** Answers a request that schedules; conflicts are the one refusal that is not a sentence (contract 2.11). */
export async function answerConflicts(c: Context, schedule: () => Promise<Response>): Promise<Response> {
  try {
    return await schedule();
  } catch (error) {
    if (!(error instanceof ScheduleConflict)) throw error;
    return versionedJson(c, error.conflicts.map(conflictJson), 409);
  }
}
