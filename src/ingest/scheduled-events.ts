import { randomUUID } from 'node:crypto';
import type { Occurrence } from '../scheduling/schedules.queries.ts';
import type { OwnColumns } from './insert-events.ts';
import type { RecordingPlan } from './plan-recordings.ts';

/**
 * The recordings of a plan with their events' identifiers and titles. Those that a rule gave are numbered from 1, with
 * as many digits as the last one has, and their identifiers are not for the client to choose.
 */
export function occurrencesIn(
  { periods, recurring }: RecordingPlan,
  { id, title }: { id: string | undefined; title: string },
): Occurrence[] {
  const digits = String(periods.length).length;
  return periods.map((period, i) => {
    if (!recurring) return { ...period, eventId: id ?? randomUUID(), title };
    const number = String(i + 1).padStart(digits, '0');
    return { ...period, eventId: randomUUID(), title: title === '' ? number : `${title} ${number}` };
  });
}

/** What a scheduled event has of its own: it is created when it starts, whatever its metadata say. */
export function scheduledColumns({ eventId, title, start, end }: Occurrence): OwnColumns {
  return {
    id: eventId,
    title,
    start_date: start,
    created: start,
    duration: end.getTime() - start.getTime(),
  };
}
