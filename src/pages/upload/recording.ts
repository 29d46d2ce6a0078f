/** As which part of an event a file comes. */
export type Field = 'presenter' | 'presentation';

/** Whom the page can let see a recording; `series` is whoever may see the series. */
export type Audience = 'series' | 'account' | 'users' | 'everybody';

/** What somebody tells of a recording. */
export interface Details {
  title: string;
  series: { id: string; title: string } | undefined;
  presenters: string[];
  /** An instant in ISO 8601, in UTC. */
  start: string;
  audience: Audience;
}

/** A file of a recording, and how far its upload is. */
export interface RecordedFile {
  field: Field;
  name: string;
  /** In bytes. */
  size: number;
  type: string;
  /** In milliseconds since 1970. */
  lastModified: number;
  /** Where its upload is, as soon as there is one. */
  url: string | undefined;
  /** Bytes that have been sent, as far as is known. */
  sent: number;
  done: boolean;
  /** Its upload was not there when it was last asked for. */
  lost: boolean;
}

/** How far a recording is: its files go up, its event is made of them, that is processed, and that is over. */
export type Stage = 'files' | 'event' | 'processing' | 'over';

/** A recording that somebody uploads, as the browser keeps it from one visit to the next. */
export interface Recording {
  /** Of the browser's making; the event is made under it, once. */
  id: string;
  details: Details;
  files: RecordedFile[];
  stage: Stage;
  eventId: string | undefined;
  /** What came of the processing, where nothing can be watched. */
  outcome: string | undefined;
}

/** What a recording is doing in this window, or waits for. */
export type Condition =
  | 'queued'
  | 'uploading'
  /** The server does not answer, or cannot take more at the moment. */
  | 'waiting'
  | 'paused'
  /** The browser has to be given its files again. */
  | 'needs files'
  | 'signed out'
  | 'failed'
  | 'creating'
  | 'processing'
  | 'over';

/** A recording in this window. */
export interface Item {
  recording: Recording;
  condition: Condition;
  /** Why it waits or has failed, or what is being processed: a sentence, or nothing. */
  note: string;
  /** Bytes in a second over the last few; undefined as long as nobody knows. */
  rate: number | undefined;
  /** Where it is watched. Not kept: such a link may be good for a while only. */
  watch: string | undefined;
}
