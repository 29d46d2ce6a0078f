import type { Queryable } from '#platform/database/kysely.ts';

/** More nobody reads at once; the latest ones are those that something happens to. */
const MOST = 1000;

/** A scheduled event whose agent has said something of it. */
export interface ReportedRecording {
  id: string;
  state: string;
  /** Since when it is in this state. */
  since: Date | null;
}

/** Recordings of which something is known, those that are the latest to start first. */
export function reportedRecordings(db: Queryable): Promise<ReportedRecording[]> {
  return selectRecordings(db)
    .where('recording_state', '<>', '')
    .orderBy('start_date', 'desc')
    .orderBy('event_id')
    .limit(MOST)
    .execute();
}

/** The recording of a scheduled event. */
export function findRecording(db: Queryable, eventId: string): Promise<ReportedRecording | undefined> {
  return selectRecordings(db).where('event_id', '=', eventId).executeTakeFirst();
}

function selectRecordings(db: Queryable) {
  return db
    .selectFrom('schedules')
    .select(['event_id as id', 'recording_state as state', 'recording_state_since as since']);
}
