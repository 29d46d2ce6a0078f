import type { Queryable } from '#platform/database/kysely.ts';

/** The list holds the recordings that start last. */
const MOST = 1000;

export interface ReportedRecording {
  id: string;
  state: string;
  since: Date | null;
}

/** Returns the reported recordings, the latest start first. */
export function reportedRecordings(db: Queryable): Promise<ReportedRecording[]> {
  return selectRecordings(db)
    .where('recording_state', '<>', '')
    .orderBy('start_date', 'desc')
    .orderBy('event_id')
    .limit(MOST)
    .execute();
}

export function findRecording(db: Queryable, eventId: string): Promise<ReportedRecording | undefined> {
  return selectRecordings(db).where('event_id', '=', eventId).executeTakeFirst();
}

function selectRecordings(db: Queryable) {
  return db
    .selectFrom('schedules')
    .select(['event_id as id', 'recording_state as state', 'recording_state_since as since']);
}
