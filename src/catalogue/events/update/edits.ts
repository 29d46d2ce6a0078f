import type { AclEntry } from '#access/acl/acl.ts';
import type { SchedulingChange } from '#capture/schedules/parse.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { Processing } from '#processing/processing.ts';
import { chosenSeries } from '../columns.ts';
import type { Referred } from '../event-state.ts';
import type { NewTrack } from '../tracks.ts';

/** What is to become of an event; of what is not given nothing changes. */
export interface EventEdits {
  metadata?: MetadataEdit | undefined;
  acl?: AclEdit | undefined;
  scheduling?: SchedulingEdit | undefined;
  /** What is done with the recording of a scheduled event once it comes. */
  processing?: Processing | undefined;
  tracks?: TrackEdit | undefined;
}

/** What is to become of an event's metadata, and which catalogs there are. */
export type MetadataEdit = { catalogs: CatalogSet } & (
  | { kind: 'values'; given: GivenCatalogs }
  /** Catalogs as they are shown: an empty one that was never stored is still not filled in when it is written back. */
  | { kind: 'written back'; given: GivenCatalogs }
  /** The catalog goes with all its values. */
  | { kind: 'remove'; flavor: string }
);

/** Values of catalogs by flavor, as they are given; those not given stay. */
export type GivenCatalogs = ReadonlyMap<string, CatalogValues>;

/** What is to become of an event's own access control list, which begins as that of its series. */
export type AclEdit =
  | { kind: 'replace'; entries: readonly AclEntry[] }
  /** An entry for the same pair of action and role, whatever it says, gives way to this one. */
  | { kind: 'add'; entry: AclEntry }
  | { kind: 'remove'; action: string; role: string };

/** What is to become of an event's schedule; what is not given stays. */
export interface SchedulingEdit {
  change: SchedulingChange;
  /** What has to lie between two recordings of an agent, in milliseconds. */
  gapMs: number;
  /** Whether it may overlap what the agent is to record already. */
  allowConflict: boolean;
}

/** What tracks that come are to an event. */
export type TrackPurpose =
  /**
   * The recording that a scheduled event awaits, or another one in place of that which could not be processed; at least
   * one. An agent may bring it that has reported it before.
   */
  | { kind: 'recording'; from?: 'agent' }
  /** They stand beside those that there are, or in place of some; while a workflow is active, none may come or go. */
  | { kind: 'tracks'; replaced: ReplacedTracks | undefined };

/** What is to become of an event's tracks. */
export type TrackEdit = TrackPurpose & { tracks: readonly NewTrack[] };

/** Of one flavor several languages may stand side by side: a tag `lang:` says which of them is meant. */
export interface ReplacedTracks {
  flavor: string;
  tags: readonly string[];
}

/** What edits refer to beside the event. */
export function referredIn({ metadata, scheduling }: EventEdits): Referred {
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
