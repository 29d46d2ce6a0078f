import { UNAUTHORIZED } from '#access/access-errors.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import type { SchedulingChange } from '#capture/schedules/parse-scheduling.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { HttpError } from '#platform/http/errors/errors.ts';
import type { Processing } from '#processing/processing-request.ts';
import { chosenSeries } from '../event-columns.ts';
import type { NewTrack } from '../event-files.ts';
import { ACL_LOCKED, EVENT_MISSING, NOT_SCHEDULED } from '../event-refusals.ts';
import type { ReferredIds } from '../event-state.ts';
import type { CutEdit } from '../write-events.ts';

/** The refusals of edits that the state of the event does not allow. Endpoints have different sentences. */
export interface UpdateRefusals {
  /** The event does not exist, or the principal may not read it. */
  missing(id: string): HttpError;
  /** The principal may read but not write the event. */
  denied(): HttpError;
  /** The ACL or the tracks would change under an active workflow. */
  processing(id: string): HttpError;
  /** The schedule would change, but the event was never scheduled. */
  unscheduled(id: string): HttpError;
}

/** The default refusals. */
export const REFUSALS: UpdateRefusals = {
  missing: EVENT_MISSING,
  denied: UNAUTHORIZED,
  processing: () => ACL_LOCKED(),
  unscheduled: () => NOT_SCHEDULED(),
};

/** The edits of an event. Missing properties change nothing. */
export interface EventEdits {
  metadata?: MetadataEdit | undefined;
  acl?: AclEdit | undefined;
  scheduling?: SchedulingEdit | undefined;
  /** The processing that starts when the recording of a scheduled event arrives. */
  processing?: Processing | undefined;
  tracks?: TrackEdit | undefined;
  cut?: CutEdit | undefined;
}

/** A change of metadata, and the configured catalogs. */
export type MetadataEdit = { catalogs: CatalogSet } & (
  | { kind: 'values'; given: GivenCatalogs }
  /** Catalogs as the API shows them. An empty one that was never stored is ignored. */
  | { kind: 'written back'; given: GivenCatalogs }
  | { kind: 'remove'; flavor: string }
);

/** Values by flavor and field. Missing ones keep their values. */
type GivenCatalogs = ReadonlyMap<string, CatalogValues>;

/** A change of the event's own access control list, which starts as a copy of the one of its series. */
export type AclEdit =
  | { kind: 'replace'; entries: readonly AclEntry[] }
  /** Replaces an entry with the same action and role. */
  | { kind: 'add'; entry: AclEntry }
  | { kind: 'remove'; action: string; role: string };

/** A change of the schedule. */
export interface SchedulingEdit {
  change: SchedulingChange;
  /** The minimum gap between two recordings of an agent. */
  gapMs: number;
  /** True if the recording may overlap others of the agent. */
  allowConflict: boolean;
}

/** The purpose of new tracks. */
export type TrackPurpose =
  /** The recording of a scheduled event: at least one track. It replaces a recording whose processing failed. */
  | { kind: 'recording'; from?: 'agent' }
  /** Additional tracks, or replacements of present ones. Refused while a workflow is active. */
  | { kind: 'tracks'; replaced: ReplacedTracks | undefined }
  /** Captions that a person has edited. Allowed while a workflow waits for that person. */
  | { kind: 'captions'; removed: readonly string[] };

/** A change of the tracks. */
export type TrackEdit = TrackPurpose & { tracks: readonly NewTrack[] };

/** The tracks of a flavor. With a tag `lang:...`, only those of that language. */
interface ReplacedTracks {
  flavor: string;
  tags: readonly string[];
}

/** Returns the resources that edits refer to. */
export function referredIn({ metadata, scheduling }: EventEdits): ReferredIds {
  const agentId = scheduling?.change.agentId;
  if (!metadata || metadata.kind === 'remove') return { agentId };
  const values: CatalogValues = metadata.given.get(metadata.catalogs.common.flavor) ?? new Map();
  const presenters = values.get('creator');
  return {
    agentId,
    seriesId: chosenSeries(values) ?? undefined,
    presenters: Array.isArray(presenters) ? presenters : undefined,
  };
}
