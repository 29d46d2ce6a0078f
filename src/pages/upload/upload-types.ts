/** The part of an event that a file becomes. */
export type TrackField = 'presenter' | 'presentation';

/** The people who may see a recording; `series` is everyone who may see its series. */
export type Audience = 'series' | 'account' | 'users' | 'everybody';

export interface Series {
  id: string;
  title: string;
}

/** The metadata of a recording, as the form takes it. */
export interface Details {
  title: string;
  series: Series | undefined;
  presenters: string[];
  /** An instant in ISO 8601, in UTC. */
  start: string;
  audience: Audience;
}

/** A file of a recording, and how much of it is uploaded. */
export interface FileState {
  field: TrackField;
  name: string;
  /** In bytes. */
  size: number;
  type: string;
  /** In milliseconds since 1970. */
  lastModified: number;
  /** The URL of its upload, once one exists. */
  url: string | undefined;
  /** Bytes sent, as far as is known. */
  sent: number;
  done: boolean;
  /** Its upload was not found when last asked for. */
  lost: boolean;
}

/** A recording that is being uploaded, as the browser saves it between visits. */
export interface SavedRecording {
  /** Made by the browser; the key under which the event is created once. */
  id: string;
  details: Details;
  files: FileState[];
  /** Files are uploaded, the event is created, then processed, and then the recording is over. */
  stage: 'files' | 'event' | 'processing' | 'over';
  eventId: string | undefined;
  /** The result of the processing, where nothing can be watched. */
  outcome: string | undefined;
}

/** The present state of a recording in this window. */
export type Condition =
  | 'queued'
  | 'uploading'
  /** The server does not answer, or takes no more at the moment. */
  | 'waiting'
  | 'paused'
  /** The browser needs its files again. */
  | 'needs files'
  | 'signed out'
  | 'failed'
  | 'creating'
  | 'processing'
  | 'over';

/** A recording in this window. */
export interface QueueItem {
  recording: SavedRecording;
  condition: Condition;
  /** Why it waits or has failed, or what is being processed: a sentence, or nothing. */
  note: string;
  /** Bytes per second over the last seconds, once known. */
  rate: number | undefined;
  /** Where it is watched. Not saved: the link may be signed and expire. */
  watch: string | undefined;
  /** The requests under way for it; replaced by those that supersede them. */
  attempt: symbol | undefined;
}
