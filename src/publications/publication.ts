import type { Selectable } from 'kysely';
import type {
  PublicationElement as PublicationElementRow,
  Publication as PublicationRow,
} from '#platform/database/schema.ts';

/** The channel of publications if a workflow names none. Clients look for this name. */
export const DEFAULT_CHANNEL = 'engage-player';

/** The channel of publications that are not public yet. Lists show it only on request. */
export const INTERNAL_CHANNEL = 'internal';

/**
 * The flavor of captions. They are stored as attachments, because they change while media stay, but lists show them
 * among the media, where clients look for them.
 */
export const CAPTIONS = 'captions/delivery';

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

export function captionsOf(publication: Pick<Publication, 'elements'>): PublicationElement[] {
  return elementsOf(publication, 'attachment').filter(({ flavor }) => flavor === CAPTIONS);
}

/**
 * Finds the media that an attachment was made from: audio for a waveform, video for anything else, of the same flavor
 * type. With several of them, attachments and media have the same order.
 */
export function mediaOf(
  attachment: PublicationElement,
  publication: Pick<Publication, 'elements'>,
): PublicationElement | undefined {
  const { type, subtype } = flavorOf(attachment);
  const seen = subtype !== 'waveform';
  const media = elementsOf(publication, 'media').filter(
    (each) => flavorOf(each).type === type && each.has_video === seen,
  );
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

/** Returns the URL of a file. */
export function elementUrl(
  publicUrl: string,
  element: Pick<PublicationElement, 'publication_id' | 'id' | 'filename'>,
): string {
  return `${publicUrl}/publications/${element.publication_id}/${element.id}/${element.filename}`;
}

/** The target of an address: the watch page of a publication, or one of its files. */
export interface PublishedAddress {
  publicationId: string;
  elementId?: string;
  filename?: string;
}

/** Parses a URL from `watchUrl` or `elementUrl`, whatever its parameters; undefined for any other URL. */
export function publishedAddress(publicUrl: string, url: URL): PublishedAddress | undefined {
  const base = new URL(publicUrl);
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') return undefined;
  const root = base.pathname.replace(/\/$/, '');
  if (!url.pathname.startsWith(`${root}/`)) return undefined;
  const [kind, publicationId, elementId, filename, ...rest] = url.pathname.slice(root.length + 1).split('/');
  if (!publicationId || rest.length > 0) return undefined;
  if (kind === 'watch' && !elementId && filename === undefined) return { publicationId };
  return kind === 'publications' && elementId && filename ? { publicationId, elementId, filename } : undefined;
}
