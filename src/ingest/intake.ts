import type { Principal } from '#access/principal.ts';
import type { NewEvents } from '#catalogue/events/create-events.ts';
import type { NewDocument, NewTrack } from '#catalogue/events/event-files.ts';
import type { Sender } from '#catalogue/events/event-state.ts';
import type { EventEdits, TrackPurpose, UpdateRefusals } from '#catalogue/events/update/event-edits.ts';
import type { Processing } from '#processing/processing-request.ts';
import type { DraftRef } from './drafts.ts';

/** A finished upload that becomes a track. */
export interface UploadOf {
  id: string;
  /** The flavor of the track; by default that of the upload. */
  flavor: string | undefined;
}

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
