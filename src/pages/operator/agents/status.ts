import { SILENT_SECONDS } from '#capture/reports/at-work.queries.ts';
import type { PlannedRecording } from '#capture/schedules/timetable.queries.ts';

/** What people want to know of a recording at a glance, and the words for it. */
export const LOOKS = {
  scheduled: 'scheduled',
  silent: 'nothing heard of it',
  recording: 'recording',
  ingesting: 'coming in',
  processing: 'being processed',
  published: 'published',
  done: 'processed, not published',
  failed: 'failed',
} as const;
export type Look = keyof typeof LOOKS;

const BY_STATUS: Readonly<Record<string, Look>> = {
  RECORDING: 'recording',
  INGESTING: 'ingesting',
  PENDING: 'processing',
  PROCESSING: 'processing',
  PAUSED: 'processing',
  PROCESSING_FAILURE: 'failed',
  PROCESSING_CANCELLED: 'failed',
  RECORDING_FAILURE: 'failed',
};

export function lookOf(
  { status, start, publicationId }: Pick<PlannedRecording, 'status' | 'start' | 'publicationId'>,
  now: Date,
): Look {
  if (status === 'SCHEDULED') {
    return now.getTime() - start.getTime() > SILENT_SECONDS * 1000 ? 'silent' : 'scheduled';
  }
  return BY_STATUS[status] ?? (publicationId === null ? 'done' : 'published');
}
