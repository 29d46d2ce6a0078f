import { sinceOf } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import type { Since } from '#platform/http/answer/version.ts';

/** The API version that introduced each field of an event (compatibility 2.4). */
export const EVENT_FIELDS: Since = {
  ...sinceOf(EVENT_CORE_FIELDS),
  is_part_of: '1.1.0',
  series: '1.1.0',
  status: '1.1.0',
  scheduling: '1.1.0',
};
export const TRACK_FIELDS = {
  has_video: '1.7.0',
  has_audio: '1.7.0',
  is_master_playlist: '1.7.0',
  is_live: '1.7.0',
} as const satisfies Since;
/** The API version that introduced each parameter and behaviour. */
export const EVENT_CHANGES = {
  /** Before, `start` and `duration` were those of the recording; only scheduled events had a duration. */
  bibliographicTimes: '1.4.0',
  withscheduling: '1.1.0',
  scheduling: '1.1.0',
  allowConflict: '1.2.0',
  repeatedFilter: '1.5.0',
  /** Before, the value of a filter stopped at its first colon. */
  colonsInFilters: '1.1.0',
} as const satisfies Since;
