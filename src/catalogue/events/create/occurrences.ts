import { randomUUID } from 'node:crypto';
import type { RecordingPlan } from '#capture/schedules/plan.ts';
import type { Occurrence } from '#capture/states/state.ts';
import { TEXT_BYTES } from '#metadata/values.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import type { OwnColumns } from '../write-events.ts';

/**
 * The recordings of a plan with their events' identifiers and titles. Those that a rule gave are numbered from 1, with
 * as many digits as the last one has, and their identifiers are not for the client to choose.
 *
 * @throws {HttpError} 400 for a title that has no room for a number
 */
export function occurrencesIn(
  { periods, recurring }: RecordingPlan,
  { id, title }: { id: string | undefined; title: string },
): Occurrence[] {
  const digits = String(periods.length).length;
  if (recurring) requireRoom(title, digits);
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

function requireRoom(title: string, digits: number): void {
  const allowed = TEXT_BYTES - digits - 1;
  const bytes = Buffer.byteLength(title);
  if (bytes <= allowed) return;
  throw badRequest(
    `The value of 'title' has ${bytes} bytes of UTF-8; allowed are ${allowed}, because numbers are added to it.`,
  );
}
