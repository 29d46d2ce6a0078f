import { isUuid, uuidOf } from '#platform/database/uuid.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import { flavorOf, INTERNAL_CHANNEL, PLAYLIST } from '#publications/publication.ts';
import { fileOf, mediatypeOr, type PlannedFile, pathOf, streamsOf } from './planned-file.ts';
import type { SourceEvent, SourcePublication, SourceTrack } from './source.schemas.ts';

/** A track to copy. */
export interface PlannedTrack extends PlannedFile {
  duration: number | null;
  hasAudio: boolean | null;
  hasVideo: boolean | null;
  streams: MediaStream[] | null;
  warnings: string[];
  /** The maker of a generated track, such as captions by a transcription service; null for files from clients. */
  madeBy: string | null;
  /** The kinds of streams that renditions leave out. */
  hiddenStreams: string[];
  /** The parts that a cut keeps; null for all of it. */
  keptParts: object[] | null;
}

/** A file of an event that is neither a track nor published. */
export interface PlannedAttachment extends PlannedFile {
  /** The track from which it was made; null for files from clients. */
  trackId: string | null;
}

/** A file of a publication to copy. */
export interface PlannedElement extends PlannedFile {
  kind: 'media' | 'attachment' | 'metadata';
  /** In lists, among the elements of its kind. */
  position: number;
  /** The position of the track that it was made from, if known. */
  track: number | null;
  /** The identifier of the media that it was made from, if known. */
  madeFrom?: string | undefined;
  duration: number | null;
  hasAudio: boolean | null;
  hasVideo: boolean | null;
  width: number | null;
  height: number | null;
  frameRate: number | null;
  frameCount: number | null;
  bitRate: number | null;
  /** For players; undefined if they are unknown. */
  properties?: Record<string, unknown> | undefined;
}

export interface PlannedPublication {
  id: string;
  channel: string;
  mediatype: string;
  publishedAt?: Date | undefined;
  elements: PlannedElement[];
}

/** The files of an event. */
export interface PlannedFiles {
  tracks: PlannedTrack[];
  publications: PlannedPublication[];
  attachments: PlannedAttachment[];
  /** Sentences about files that cannot come along. */
  notes: string[];
}

/**
 * Plans the files of an event: its tracks, and its publications with their elements in the same order. Without tracks, the
 * best published file of each flavor becomes a track. Files keep their identifiers if these are UUIDs.
 *
 * @param source the name of the source, from which other identifiers are derived
 * @param others identifiers that other events have here
 */
export function planFiles(
  event: SourceEvent,
  tracks: readonly SourceTrack[],
  source: string,
  others: ReadonlySet<string> = new Set(),
): PlannedFiles {
  const taken = new Set(others);
  const identify = (id: string, ...place: string[]) => {
    let own = isUuid(id) ? id.toLowerCase() : uuidOf(source, event.identifier, ...place, id);
    while (taken.has(own)) own = uuidOf(source, event.identifier, ...place, own);
    taken.add(own);
    return own;
  };
  const notes: string[] = [];
  const planned = tracks.map((track) => plannedTrack(track, identify(track.identifier, 'track', pathOf(track.uri))));
  const publications = event.publications.flatMap((publication) => {
    const plan = plannedPublication(publication, identify, notes);
    return plan ? [plan] : [];
  });
  const all = planned.length > 0 ? planned : bestFiles(publications, identify);
  for (const { elements } of publications) relateToTracks(elements, all);
  return { tracks: all, publications, attachments: [], notes };
}

/** Returns the identifiers of an event's files and publications that are UUIDs. */
export function uuidsIn({ publications }: SourceEvent, tracks: readonly SourceTrack[]): string[] {
  const elements = publications.flatMap(({ media, attachments, metadata }) => [...media, ...attachments, ...metadata]);
  const all = [...tracks.map(({ identifier }) => identifier), ...[...publications, ...elements].map(({ id }) => id)];
  return all.filter(isUuid).map((id) => id.toLowerCase());
}

type Identify = (id: string, ...place: string[]) => string;

function plannedTrack(track: SourceTrack, id: string): PlannedTrack {
  return {
    ...fileOf({ ...track, url: track.uri, mediatype: track.mimetype }, id),
    duration: track.duration ?? null,
    hasAudio: track.has_audio ?? null,
    hasVideo: track.has_video ?? null,
    streams: track.duration === null || track.duration === undefined ? null : streamsOf(track.streams),
    warnings: track.warnings,
    ...AS_SENT,
  };
}

/** Facts of tracks that the External API does not have. */
const AS_SENT = { madeBy: null, hiddenStreams: [], keptParts: null };

const LIVE_CHANNEL = 'engage-live';

function plannedPublication(
  publication: SourcePublication,
  identify: Identify,
  notes: string[],
): PlannedPublication | undefined {
  const { channel, attachments, metadata, mediatype } = publication;
  const media = publication.media.filter((file) => !isStream(file));
  const what = `The publication on the channel ${channel}`;
  if (channel === LIVE_CHANNEL || publication.media.some(({ is_live }) => is_live)) {
    notes.push(`${what} is a live stream.`);
    return undefined;
  }
  const hasStreams = media.length < publication.media.length;
  if (hasStreams) notes.push(`${what} has streams of a streaming server.`);
  if (media.length + attachments.length + metadata.length === 0 && channel !== INTERNAL_CHANNEL) {
    if (!hasStreams) notes.push(`${what} has no files at the source: it refers to ${publication.url}.`);
    return undefined;
  }
  const id = identify(publication.id, 'publication', channel);
  const isCaptions = (file: PlannedElementJson) =>
    file.mediatype === CAPTIONS_TYPE || file.flavor.startsWith('captions/');
  const positioned = (kind: PlannedElement['kind'], files: readonly PlannedElementJson[]) =>
    files.map((file, position) => {
      const planned = plannedElement(file, { id: identify(file.id, channel, pathOf(file.url)), kind, position });
      return { planned, sourceId: file.id, ref: file.ref };
    });
  const all = [
    ...positioned(
      'media',
      media.filter((file) => !isCaptions(file)),
    ),
    ...positioned('attachment', [...media.filter(isCaptions), ...attachments]),
    ...positioned('metadata', metadata),
  ];
  const elements = all.map(({ planned, ref }) => ({
    ...planned,
    madeFrom: ref ? all.find(({ sourceId }) => ref === `track:${sourceId}`)?.planned.id : undefined,
  }));
  return { id, channel, mediatype: mediatypeOr(mediatype, 'text/html'), elements };
}

type PlannedElementJson = SourcePublication['metadata'][number] &
  Partial<SourcePublication['media'][number] & SourcePublication['attachments'][number]>;

function plannedElement(
  file: PlannedElementJson,
  place: Pick<PlannedElement, 'id' | 'kind' | 'position'>,
): PlannedElement {
  const { id, kind, position } = place;
  const planned = fileOf(file, id);
  const isMedia = kind === 'media';
  const type = file.mediatype.split('/')[0];
  return {
    ...planned,
    filename: planned.filename.replaceAll(/[^A-Za-z0-9._-]/g, '_'),
    kind,
    position,
    track: null,
    duration: isMedia ? (file.duration ?? null) : null,
    hasAudio: isMedia ? (file.has_audio ?? type !== 'image') : null,
    hasVideo: isMedia ? (file.has_video ?? type !== 'audio') : null,
    width: file.width ?? null,
    height: file.height ?? null,
    frameRate: file.framerate ?? null,
    frameCount: file.framecount ?? null,
    bitRate: typeof file.bitrate === 'number' ? Math.round(file.bitrate) : null,
  };
}

/** Finds the track that each element was made from: by reference, or by the type of its flavor and its duration. */
function relateToTracks(elements: readonly PlannedElement[], tracks: readonly PlannedTrack[]): void {
  const ofType = Map.groupBy(tracks.entries(), ([, track]) => flavorOf(track).type);
  const candidates = (element: PlannedElement) => ofType.get(flavorOf(element).type) ?? [];
  for (const element of elements.filter(({ kind }) => kind === 'media')) {
    const distance = ([, track]: [number, PlannedTrack]) => Math.abs((track.duration ?? 0) - (element.duration ?? 0));
    const [nearest] = candidates(element).toSorted((a, b) => distance(a) - distance(b));
    element.track = nearest?.[0] ?? null;
  }
  for (const element of elements.filter(({ kind }) => kind === 'attachment')) {
    const media = elements.find(({ id }) => id === element.madeFrom);
    const [only, ...others] = candidates(element);
    element.track = media ? media.track : others.length === 0 ? (only?.[0] ?? null) : null;
  }
}

/** Makes tracks of the best published file of each type of flavor. */
function bestFiles(publications: readonly PlannedPublication[], identify: Identify): PlannedTrack[] {
  const [publication] = publications.toSorted((a, b) => mediaIn(b).length - mediaIn(a).length);
  const ofType = Map.groupBy(publication ? mediaIn(publication) : [], (element) => flavorOf(element).type);
  return [...ofType].flatMap(([type, elements]) => {
    const quality = ({ width, height, bitRate }: PlannedElement) => (width ?? 0) * (height ?? 0) || (bitRate ?? 0);
    const [best] = elements.toSorted((a, b) => quality(b) - quality(a));
    if (!best) return [];
    const { id, url, path, filename, mediatype, size, checksum, duration, hasAudio, hasVideo } = best;
    const file = { url, path, filename, mediatype, size, checksum, duration, hasAudio, hasVideo };
    return [
      {
        ...file,
        id: identify('', 'track', id),
        flavor: `${type}/source`,
        tags: [],
        streams: null,
        warnings: [],
        ...AS_SENT,
      },
    ];
  });
}

function mediaIn({ elements }: PlannedPublication): PlannedElement[] {
  return elements.filter(({ kind, mediatype }) => kind === 'media' && !isPlaylist(mediatype));
}

/** Manifests of streams, whose parts no list has. */
const MANIFESTS = ['application/dash+xml', 'application/f4m+xml', 'application/vnd.ms-sstr+xml'];
/** Schemes of streams, and the names that streaming servers give them. */
const STREAM = /^(rtmp[a-z]*|rtsp|mms):|\/smil:/i;

/** Returns true for media that a streaming server sends: no request is answered with the whole recording. */
function isStream({ url, mediatype }: SourcePublication['media'][number]): boolean {
  return STREAM.test(url) || MANIFESTS.includes(mediatype.toLowerCase());
}

const PLAYLISTS = [PLAYLIST.toLowerCase(), 'application/vnd.apple.mpegurl', 'audio/mpegurl'];

/** Returns true for the media types that servers give to playlists. */
export function isPlaylist(mediatype: string): boolean {
  return PLAYLISTS.includes(mediatype.toLowerCase());
}
