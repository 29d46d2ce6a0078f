import type { Readable } from 'node:stream';
import type { SourceEvent, SourceGroup, SourcePlaylist, SourceSeries, SourceTrack } from './source.schemas.ts';

/** The place from which an item and its files are copied. */
export interface ItemSource {
  /**
   * Names the source in the database: a URL without credentials and without a final slash; `folder:`, a path and the
   * identifier of the installation; or `inlet:` and the identifier of an installation that sends its items.
   */
  readonly name: string;
  /** Returns an event; undefined if it does not exist, or may not be read. */
  findEvent(id: string): Promise<SourceEvent | undefined>;
  /** Returns the source tracks of an event; none if the source does not tell. */
  tracks(eventId: string): Promise<SourceTrack[]>;
  /** Called before files of an event are opened, with the addresses of all of them. May throw to copy nothing. */
  prepare?(urls: readonly string[]): void;
  /**
   * Opens a file. Read the stream to its end or destroy it. It fails if the file is incomplete.
   *
   * @param url the address in the JSON of the source
   * @throws {SourceError} if the source does not have it or does not let it be read
   */
  open(url: string, signal: AbortSignal): Promise<SourceFile>;
}

/** A catalogue that is read for an import: a server with the External API, or an exported folder. */
export interface CatalogueSource extends ItemSource {
  /** True for a part of a catalogue: what it does not have may still exist. */
  readonly isPartial?: boolean;
  /** Returns all series with their details, the oldest first. */
  series(choice: SourceChoice): AsyncIterable<SourceSeries>;
  /** Returns all events as they are listed, the earliest first; each event once. */
  events(choice: SourceChoice): AsyncIterable<SourceEvent>;
  /** Returns all playlists, whatever the choice of series and times. @throws {ListUnavailable} */
  playlists(choice: SourceChoice): AsyncIterable<SourcePlaylist>;
  /** Returns all groups, whatever the choice of series and times. @throws {ListUnavailable} */
  groups(choice: SourceChoice): AsyncIterable<SourceGroup>;
  findSeries(id: string): Promise<SourceSeries | undefined>;
  findPlaylist(id: string): Promise<SourcePlaylist | undefined>;
  findGroup(id: string): Promise<SourceGroup | undefined>;
}

/** The series and events to read; everything by default. */
export interface SourceChoice {
  signal: AbortSignal;
  /** Only this series and its events. */
  seriesId?: string | undefined;
  /** Only events that start at this time or later, and no series older than it. */
  since?: Date | undefined;
  /** Called for each item that the source lists but that cannot be read. Reading continues. */
  onUnreadable?: ((id: string, reason: string) => void) | undefined;
}

/** Returns true for a part of a catalogue, which is without playlists and groups. */
export function isPartial({ seriesId, since }: Pick<SourceChoice, 'seriesId' | 'since'>): boolean {
  return seriesId !== undefined || since !== undefined;
}

export interface SourceFile {
  stream: Readable;
  /** In bytes; undefined if the source does not tell. */
  size: number | undefined;
}

/** The source answered wrongly about one item. Others can still be read. */
export class SourceError extends Error {
  override name = 'SourceError';
  /** The HTTP status of the answer, if it was one: 403 or 410 may mean that a signed address has expired. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** The source does not list one kind of items. Others can still be read. The message says why. */
export class ListUnavailable extends Error {
  override name = 'ListUnavailable';
}

/** The source cannot be used at all. The message says what to do. */
export class SourceUnusable extends Error {
  override name = 'SourceUnusable';
}
