import type { Context } from 'hono';
import { versionedJson } from '../http/version.ts';
import { formatInstant } from '../metadata/time.ts';
import { ScheduleConflict } from './conflicts.ts';

/** Answers a request that schedules; conflicts are the one refusal that is not a sentence (contract 2.11). */
export async function answerConflicts(c: Context, schedule: () => Promise<Response>): Promise<Response> {
  try {
    return await schedule();
  } catch (error) {
    if (!(error instanceof ScheduleConflict)) throw error;
    const conflicts = error.conflicts.map(({ start, end, title }) => ({
      start: formatInstant(start),
      end: formatInstant(end),
      title,
    }));
    return versionedJson(c, conflicts, 409);
  }
}
