import type { Selectable } from 'kysely';
import { z } from 'zod';
import type {
  PublicationElement as PublicationElementRow,
  Publication as PublicationRow,
} from '#platform/database/schema.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';

/** The channel of publications if a workflow names none. Clients look for this name. */
export const DEFAULT_CHANNEL = 'engage-player';

/** The channel of publications that are not public yet. Lists show it only on request. */
export const INTERNAL_CHANNEL = 'internal';

/**
 * The flavor of captions. They are stored as attachments, because they change while media stay, but lists show them
 * among the media, where clients look for them.
 */
export const CAPTIONS = 'captions/delivery';

/** The flavor of a list of chapters: an attachment in WebVTT, with a cue for each chapter. */
export const CHAPTERS = 'chapters/delivery';

/** The media type of playlists. The one of a publication lists all renditions of a track. */
export const PLAYLIST = 'application/x-mpegURL';

/** A file of a publication: media, an attachment (an image or captions) or metadata (a catalog). */
export type PublicationElement = Selectable<PublicationElementRow>;

/** The publication of an event on one channel. */
export interface Publication extends Selectable<PublicationRow> {
  /** All elements, in the order of lists. */
  elements: PublicationElement[];
}

export function elementsOf(
  { elements }: Pick<Publication, 'elements'>,
  kind: 'media' | 'attachment' | 'metadata',
): PublicationElement[] {
  return elements.filter((element) => element.kind === kind);
}

/** Returns the captions for players: those of Inlet, and attachments of older servers with flavors such as `captions/vtt+de`. */
export function captionsOf(publication: Pick<Publication, 'elements'>): PublicationElement[] {
  return elementsOf(publication, 'attachment').filter(
    ({ flavor, mediatype }) => flavor === CAPTIONS || (flavor.startsWith('captions/') && mediatype === CAPTIONS_TYPE),
  );
}

/** Returns the language of captions as their tags or their flavor name it; undefined if unknown. */
export function languageIn({ tags, flavor }: Pick<PublicationElement, 'tags' | 'flavor'>): string | undefined {
  const tag = tags.find((each) => each.startsWith('lang:'))?.slice('lang:'.length);
  return tag || /\+(?:auto-)?([A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)$/.exec(flavor)?.[1];
}

/** Returns the renditions of each track, the best one first: media without the playlists that list them. */
export function renditionsOfTracks({ elements }: Pick<Publication, 'elements'>): PublicationElement[][] {
  const renditions = elementsOf({ elements }, 'media').filter(({ mediatype }) => mediatype !== PLAYLIST);
  return [...Map.groupBy(renditions, ({ track, id }) => track ?? id).values()];
}

/** Finds the playlist of all renditions of a track. */
export function playlistOf(
  { elements }: Pick<Publication, 'elements'>,
  { track }: PublicationElement,
): PublicationElement | undefined {
  return elements.find(
    (element) => element.mediatype === PLAYLIST && element.track !== null && element.track === track,
  );
}

/**
 * Finds the media that an attachment was made from, in its best rendition: audio for a waveform, video for anything
 * else, of the same flavor type and track. Attachments of earlier versions name no track; with several of them,
 * attachments and media have the same order.
 */
export function mediaOf(
  attachment: PublicationElement,
  publication: Pick<Publication, 'elements'>,
): PublicationElement | undefined {
  const { type, subtype } = flavorOf(attachment);
  const seen = subtype !== 'waveform';
  const best = renditionsOfTracks(publication).flatMap((renditions) => renditions.slice(0, 1));
  const media = best.filter((each) => flavorOf(each).type === type && each.has_video === seen);
  if (attachment.track !== null) return media.find(({ track }) => track === attachment.track);
  const siblings = elementsOf(publication, 'attachment').filter(({ flavor }) => flavor === attachment.flavor);
  return media.length === siblings.length ? media[siblings.indexOf(attachment)] : undefined;
}

/** Splits a flavor. */
export function flavorOf({ flavor }: Pick<PublicationElement, 'flavor'>): { type: string; subtype: string } {
  const [type = '', subtype = ''] = flavor.split('/');
  return { type, subtype };
}

/** Returns the URL of a watch page. */
export function watchUrl(publicUrl: string, publicationId: string): string {
  return `${publicUrl}/watch/${publicationId}`;
}

/** Returns the URL of the player alone, for frames of other pages. */
export function embedUrl(publicUrl: string, publicationId: string): string {
  return `${publicUrl}/embed/${publicationId}`;
}

/** Returns the URL of a file. */
export function elementUrl(
  publicUrl: string,
  element: Pick<PublicationElement, 'publication_id' | 'id' | 'filename'>,
): string {
  return `${publicUrl}/publications/${element.publication_id}/${element.id}/${element.filename}`;
}

/** The target of an address: the pages of a publication, or one of its files. */
export interface PublishedAddress {
  publicationId: string;
  elementId?: string;
  filename?: string;
}

/** Parses a URL from `watchUrl`, `embedUrl` or `elementUrl`, whatever its parameters; undefined for any other URL. */
export function publishedAddress(publicUrl: string, url: URL): PublishedAddress | undefined {
  const base = new URL(publicUrl);
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') return undefined;
  const root = base.pathname.replace(/\/$/, '');
  if (!url.pathname.startsWith(`${root}/`)) return undefined;
  const [kind, publicationId, elementId, filename, ...rest] = url.pathname.slice(root.length + 1).split('/');
  if (!publicationId || rest.length > 0) return undefined;
  const isPage = kind === 'watch' || kind === 'embed';
  if (isPage && !elementId && filename === undefined) return { publicationId };
  return kind === 'publications' && elementId && filename ? { publicationId, elementId, filename } : undefined;
}

/** The name under which the playlist of a rendition is served, beside its file. */
export const RENDITION_PLAYLIST = 'index.m3u8';

/** Returns the address of a rendition's playlist, relative to a playlist of the same publication. */
export function renditionPlaylist(elementId: string): string {
  return `../${elementId}/${RENDITION_PLAYLIST}`;
}

const RenditionProperties = z.object({
  /** The bytes before the first segment, with the index of all segments. */
  headBytes: z.int().positive(),
  /** As in RFC 6381. */
  codecs: z.array(z.string()),
  /** Bits per second. */
  peakBitRate: z.int().nonnegative(),
  averageBitRate: z.int().nonnegative(),
  /** The track that it was made of without encoding, before other renditions. */
  copyOf: z.string().optional(),
});

/** Returns true if a file is a rendition with a playlist. */
export function isStreamed({ properties }: Pick<PublicationElement, 'properties'>): boolean {
  return RenditionProperties.safeParse(properties).success;
}

/** Parses what streaming needs to know about a rendition. @throws {ZodError} for media of another kind */
export function renditionProperties(properties: unknown): z.infer<typeof RenditionProperties> {
  return RenditionProperties.parse(properties);
}
