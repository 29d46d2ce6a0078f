import type { Principal } from '#access/principal.ts';
import type { NewEvents } from '#catalogue/events/create-events.ts';
import type { NewDocument } from '#catalogue/events/documents.ts';
import type { Sender } from '#catalogue/events/event-state.ts';
import type { NewTrack } from '#catalogue/events/tracks.ts';
import type { EventEdits, TrackPurpose } from '#catalogue/events/update/edits.ts';
import type { Refusals } from '#catalogue/events/update/refusals.ts';
import type { Processing } from '#processing/processing.ts';
import type { DraftOf } from './drafts.ts';
import type { UploadOf } from './tus/finished-uploads.ts';

/** What has come in at a door and is to be part of an event: everything that `accept` needs to know of it. */
export interface Intake {
  principal: Principal;
  /** What lets it do so; the access control list of the event unless given. */
  rights?: Sender['rights'];
  /** Of the request that completes it. */
  requestId: string;
  target: NewTarget | ExistingTarget;
  /** Stored and staged by this process. */
  tracks: readonly NewTrack[];
  /** Finished uploads, whose tracks come after them. */
  uploads?: readonly UploadOf[];
  /** Whose tracks come before them, and whose attachments the event gets; what it has become is written down then. */
  draft?: DraftOf;
  documents?: readonly NewDocument[];
  /** What is done with what has come, where that is not for the event to say. */
  processing?: Processing;
}

/** Events that are to be made of it. */
export interface NewTarget {
  kind: 'new';
  events: NewEvents;
  /** What has to lie between two recordings of an agent, in milliseconds. */
  gapMs: number;
}

/** An event that it completes, or changes. */
export interface ExistingTarget {
  kind: 'existing';
  id: string;
  edits: Omit<EventEdits, 'tracks'>;
  /** What the tracks are to the event; as its recording there may be none. */
  takes: TrackPurpose;
  /** What the door says in other words than usual. */
  refusals?: Partial<Refusals>;
}
