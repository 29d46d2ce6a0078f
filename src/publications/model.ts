import type { Selectable } from 'kysely';
import type {
  PublicationElement as PublicationElementRow,
  Publication as PublicationRow,
} from '#platform/database/schema.ts';

/** Where publications go unless a workflow names another channel; clients look for this name. */
export const DEFAULT_CHANNEL = 'engage-player';

/** What is prepared and not to be public yet; lists show it only to those who ask for it. */
export const INTERNAL_CHANNEL = 'internal';

/**
 * The flavor of captions. They are attachments, so that they come and go beside media that stay; lists show them among
 * the media, where clients look for them.
 */
export const CAPTIONS = 'captions/delivery';

/** One file of a publication: media, an attachment (an image or captions) or metadata (a catalog). */
export type PublicationElement = Selectable<PublicationElementRow>;

/** What of an event is public on one channel. */
export interface Publication extends Selectable<PublicationRow> {
  /** In the order they are listed, of all kinds. */
  elements: PublicationElement[];
}

/** The elements of one kind, in order. */
export function elementsOf(
  { elements }: Pick<Publication, 'elements'>,
  kind: 'media' | 'attachment' | 'metadata',
): PublicationElement[] {
  return elements.filter((element) => element.kind === kind);
}

/** The captions, in order. */
export function captionsOf(publication: Pick<Publication, 'elements'>): PublicationElement[] {
  return elementsOf(publication, 'attachment').filter(({ flavor }) => flavor === CAPTIONS);
}

/**
 * The media an attachment was made of: waveforms belong to media that are only heard, all else to those that are
 * seen, of the same flavor type. Where there are several, attachments and media stand in the same order.
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

/** The two parts of a flavor. */
export function flavorOf({ flavor }: Pick<PublicationElement, 'flavor'>): { type: string; subtype: string } {
  const [type = '', subtype = ''] = flavor.split('/');
  return { type, subtype };
}

/** The page on which a person watches a publication. */
export function watchUrl(publicUrl: string, publicationId: string): string {
  return `${publicUrl}/watch/${publicationId}`;
}

/** Where an element's bytes are. */
export function elementUrl(
  publicUrl: string,
  element: Pick<PublicationElement, 'publication_id' | 'id' | 'filename'>,
): string {
  return `${publicUrl}/publications/${element.publication_id}/${element.id}/${element.filename}`;
}

/** What an address leads to: the page of a publication, or one file of it. */
export interface PublishedAddress {
  publicationId: string;
  elementId?: string;
  filename?: string;
}

/** Reads a URL that `watchUrl` or `elementUrl` could have made; parameters are of no matter. Undefined for others. */
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
