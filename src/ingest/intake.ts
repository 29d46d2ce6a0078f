import type { Principal } from '#access/principal.ts';
import type { NewEvents } from '#catalogue/events/create-events.ts';
import type { NewDocument } from '#catalogue/events/documents.ts';
import type { Sender } from '#catalogue/events/event-state.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { EventEdits, TrackPurpose } from '#catalogue/events/update/edits.ts';
import type { UpdateRefusals } from '#catalogue/events/update/refusals.ts';
import type { Processing } from '#processing/processing.ts';
import type { DraftRef } from './drafts.ts';
import type { UploadOf } from './tus/finished-uploads.ts';

/** Received files and metadata for an event: the input of `accept`. */
export interface Intake {
  principal: Principal;
  /** The source of its rights; by default the access control list of the event. */
  rights?: Sender['rights'];
  requestId: string;
  target: NewTarget | ExistingTarget;
  /** Stored and staged by this process. */
  tracks: readonly NewTrack[];
  /** Finished uploads, whose tracks come last. */
  uploads?: readonly UploadOf[];
  /** A draft, whose tracks come first and whose attachments the event gets. It is recorded as accepted. */
  draft?: DraftRef;
  documents?: readonly NewDocument[];
  /** The processing, if not that of the event. */
  processing?: Processing;
}

export interface NewTarget {
  kind: 'new';
  events: NewEvents;
  /** The minimum time between two recordings of an agent, in milliseconds. */
  gapMs: number;
}

export interface ExistingTarget {
  kind: 'existing';
  id: string;
  edits: Omit<EventEdits, 'tracks'>;
  /** The purpose of the tracks. If it is `recording`, there may be none. */
  takes: TrackPurpose;
  /** Refusals in the words of the endpoint's protocol. */
  refusals?: Partial<UpdateRefusals>;
}
