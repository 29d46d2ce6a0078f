import { isUuid, uuidOf } from '#platform/database/uuid.ts';
import { safeFilename } from '#platform/http/form/filename.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import { flavorOf, INTERNAL_CHANNEL, PLAYLIST } from '#publications/publication.ts';
import type { SourceEvent, SourcePublication, SourceTrack } from './source.schemas.ts';

/** A file to copy. */
export interface PlannedFile {
  /** The identifier that it has here; the one of the source if that is a UUID. */
  id: string;
  /** The address at the source. */
  url: string;
  /** The path of the address, without host and query. */
  path: string;
  filename: string;
  flavor: string;
  mediatype: string;
  tags: string[];
  /** In bytes; undefined if the source does not tell. */
  size: number | undefined;
  checksum: { algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512'; hex: string } | undefined;
}

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

interface SourceFileJson extends Pick<SourceTrack, 'flavor' | 'tags' | 'size' | 'checksum'> {
  url: string;
  mediatype: string;
}

const CHECKSUM = /^([0-9a-f]{32,128}) \((md5|sha1|sha256|sha512)\)$/;
/** In hexadecimal digits. */
const CHECKSUM_LENGTHS: Record<string, number> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
const FLAVOR = /^[^/]+\/[^/]+$/;
/** As headers can carry it. */
const MEDIATYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(;[\x20-\x7e]{0,200})?$/;

/** Returns a media type of the source, or another one if that is none. */
const mediatypeOr = (mediatype: string, otherwise: string) => (MEDIATYPE.test(mediatype) ? mediatype : otherwise);

export function fileOf({ url, flavor, mediatype, tags, size, checksum }: SourceFileJson, id: string): PlannedFile {
  const path = pathOf(url);
  const [, hex = '', algorithm = ''] = CHECKSUM.exec(checksum.toLowerCase().replace('sha-', 'sha')) ?? [];
  return {
    id,
    url,
    path,
    filename: safeFilename(decodePath(path.split('/').at(-1) ?? ''), 'file'),
    flavor: FLAVOR.test(flavor) ? flavor : 'unknown/unknown',
    mediatype: mediatypeOr(mediatype, 'application/octet-stream'),
    tags,
    size: size !== null && size !== undefined && size >= 0 ? size : undefined,
    checksum: hex.length === CHECKSUM_LENGTHS[algorithm] ? { algorithm: algorithm as 'md5', hex } : undefined,
  };
}

/** Returns the path of an address of the source, which may be relative; the address itself if it is none. */
export function pathOf(url: string): string {
  return URL.parse(url, 'http://source.invalid/')?.pathname ?? url;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The fields of streams in the JSON of a track (compatibility 3.10); `null` for what it does not tell. */
function streamsOf(streams: SourceTrack['streams']): MediaStream[] {
  return Object.entries(streams).flatMap(([key, stream], index): MediaStream[] => {
    const number = (name: string) => (typeof stream[name] === 'number' ? stream[name] : null);
    const codec = typeof stream.format === 'string' ? stream.format : 'unknown';
    const shared = { index, codec, profile: null, frameCount: number('framecount'), bitRate: number('bitrate') };
    if (key.startsWith('audio')) {
      const [channels, samplingRate] = [number('channels') ?? 0, number('samplingrate')];
      return [{ type: 'audio', ...shared, channels, samplingRate, bitDepth: number('bitdepth'), preferred: false }];
    }
    if (!key.startsWith('video')) return [];
    const [width, height] = [number('framewidth') ?? 0, number('frameheight') ?? 0];
    const interlaced = stream.scantype === 'Interlaced';
    const picture = { width, height, pixelFormat: null, pixelAspect: 1, rotation: 0, interlaced, peakFrameRate: null };
    return [{ type: 'video', ...shared, ...picture, frameRate: number('framerate') }];
  });
}

const LIVE_CHANNEL = 'engage-live';

function plannedPublication(
  publication: SourcePublication,
  identify: Identify,
  notes: string[],
): PlannedPublication | undefined {
  const { channel, media, attachments, metadata, mediatype } = publication;
  const what = `The publication on the channel ${channel}`;
  if (channel === LIVE_CHANNEL || media.some(({ is_live }) => is_live)) {
    notes.push(`${what} is a live stream.`);
    return undefined;
  }
  if (media.length + attachments.length + metadata.length === 0 && channel !== INTERNAL_CHANNEL) {
    notes.push(`${what} has no files at the source: it refers to ${publication.url}.`);
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

const PLAYLISTS = [PLAYLIST.toLowerCase(), 'application/vnd.apple.mpegurl', 'audio/mpegurl'];

/** Returns true for the media types that servers give to playlists. */
export function isPlaylist(mediatype: string): boolean {
  return PLAYLISTS.includes(mediatype.toLowerCase());
}
