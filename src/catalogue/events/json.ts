import { fieldsShown } from '#metadata/core-json.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode.ts';
import { formatInstant } from '#metadata/time.ts';
import { type ApiVersion, atLeast, fieldsIn } from '#platform/http/answer/version.ts';
import type { ProcessingState } from '#processing/workflow.schemas.ts';
import type { publicationsJson } from '#publications/index.ts';
import type { EventJson } from './event.schemas.ts';
import type { EventRow } from './queries.ts';
import { shownStatus } from './status.ts';
import { EVENT_CHANGES, EVENT_FIELDS } from './versions.ts';

/** What a request wants beside the event itself. */
export interface EventExtras extends Pick<EventJson, 'acl' | 'metadata' | 'scheduling'> {
  publications?: ReturnType<typeof publicationsJson>;
}

/** An event in the contract's JSON (compatibility 3.1). */
export function eventJson(event: EventRow, version: ApiVersion, extras: EventExtras = {}) {
  return fieldsIn(version, EVENT_FIELDS, { ...fields(event), ...times(event, version), ...extras });
}

const fieldsOfEvent = fieldsShown(EVENT_CORE_FIELDS);

function fields(event: EventRow) {
  return {
    ...fieldsOfEvent(event),
    archive_version: event.archive_version,
    created: formatInstant(event.created),
    creator: event.creator,
    has_previews: event.has_previews,
    identifier: event.id,
    is_part_of: event.series_id ?? '',
    series: event.series_title,
    status: shownStatus(event.status),
    publication_status: event.channels,
    processing_state: event.processing_state as ProcessingState,
  } satisfies Omit<EventJson, 'start'>;
}

/** When the event takes place or, in versions of old, when it is recorded. */
function times(event: EventRow, version: ApiVersion): Pick<EventJson, 'start' | 'duration'> {
  if (atLeast(version, EVENT_CHANGES.bibliographicTimes)) {
    return { start: formatInstant(event.start_date), duration: event.duration };
  }
  const { agent_id, technical_start: start, technical_end: end } = event;
  return {
    start: formatInstant(start),
    ...(agent_id !== '' && { duration: end.getTime() - start.getTime() }),
  };
}
