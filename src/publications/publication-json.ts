import type { WatchAccess } from '#platform/config/config.ts';
import { type ApiVersion, atLeast, fieldsIn } from '#platform/http/answer/version.ts';
import {
  MEDIA_FIELDS,
  type MediaJson,
  PUBLICATION_CHANGES,
  type PublicationJson,
  type PublicationQuery,
  type PublicationsQuery,
} from './publication.schemas.ts';
import {
  CAPTIONS,
  elementsOf,
  elementUrl,
  INTERNAL_CHANNEL,
  mediaOf,
  PLAYLIST,
  type Publication,
  type PublicationElement,
  watchUrl,
} from './publication.ts';
import type { UrlSigner } from './signing/url-signer.ts';

/** The configuration of the addresses of publications. */
export interface PublicationAddresses {
  /** The base of URLs, without a slash at its end. */
  publicUrl: string;
  /** Undefined when no address is signed. */
  signer?: UrlSigner | undefined;
  /** `WATCH_ACCESS`, or `signed` when every address must be signed. */
  access: WatchAccess;
}

/** The presentation of publications that a request asks for: with signed addresses if there is a signer. */
interface Presentation extends Omit<PublicationAddresses, 'access'>, Partial<PublicationQuery> {
  version: ApiVersion;
  /** The end of all signed addresses, in milliseconds since 1970; by default, that of the signer. */
  validUntil?: number | undefined;
}

/** Returns the JSON of publications, without the internal one unless the request asks for it. */
export function publicationsJson(publications: readonly Publication[], presentation: Presentation & PublicationsQuery) {
  const { version, includeInternalPublication } = presentation;
  const internal = includeInternalPublication && atLeast(version, PUBLICATION_CHANGES.includeInternalPublication);
  const shared = { validUntil: presentation.signer?.defaultEnd(), ...presentation };
  return publications
    .filter(({ channel }) => internal || channel !== INTERNAL_CHANNEL)
    .map((publication) => publicationJson(publication, shared));
}

/** Returns true if a publication can be read by its identifier. The internal one requires a newer version. */
export function isAddressable({ channel }: Pick<Publication, 'channel'>, version: ApiVersion): boolean {
  return channel !== INTERNAL_CHANNEL || atLeast(version, PUBLICATION_CHANGES.internalById);
}

/** Returns the JSON of a publication (contract 2.9, compatibility 3.11), the same in lists and alone. */
export function publicationJson(
  publication: Publication,
  request: Presentation,
): Omit<PublicationJson, 'media'> & { media: Partial<MediaJson>[] } {
  const presentation = { validUntil: request.signer?.defaultEnd(), ...request };
  const { publicUrl, version } = presentation;
  const url = watchUrl(publicUrl, publication.id);
  const [captions = [], attachments = []] = [true, false].map((isCaptions) =>
    elementsOf(publication, 'attachment').filter(({ flavor }) => (flavor === CAPTIONS) === isCaptions),
  );
  const media = [...elementsOf(publication, 'media'), ...captions];
  return {
    id: publication.id,
    channel: publication.channel,
    mediatype: publication.mediatype,
    url: atLeast(version, PUBLICATION_CHANGES.signedUrl) ? addressOf(url, presentation) : url,
    media: media.map((each) => mediaJson(each, presentation)),
    attachments: attachments.map((attachment) => {
      const source = mediaOf(attachment, publication);
      return { ...elementJson(attachment, presentation), ref: source ? `track:${source.id}` : '' };
    }),
    metadata: elementsOf(publication, 'metadata').map((catalog) => elementJson(catalog, presentation)),
  };
}

function mediaJson(media: PublicationElement, presentation: Presentation) {
  const video = {
    bitrate: media.bit_rate,
    framerate: media.frame_rate,
    framecount: media.frame_count,
    width: media.width,
    height: media.height,
  };
  return fieldsIn(presentation.version, MEDIA_FIELDS, {
    ...elementJson(media, presentation),
    has_audio: media.has_audio === true,
    has_video: media.has_video === true,
    duration: media.duration,
    description: '',
    ...(media.has_video && video),
    is_master_playlist: media.mediatype === PLAYLIST,
    is_live: false,
  } satisfies MediaJson);
}

function elementJson(element: PublicationElement, presentation: Presentation) {
  return {
    id: element.id,
    mediatype: element.mediatype,
    url: addressOf(elementUrl(presentation.publicUrl, element), presentation),
    flavor: element.flavor,
    size: element.size,
    checksum: `${element.sha256} (sha256)`,
    tags: element.tags,
  } satisfies PublicationJson['metadata'][number];
}

function addressOf(url: string, { signer, sign, validUntil }: Presentation): string {
  return signer && sign && validUntil !== undefined ? signer.sign(url, { validUntil }) : url;
}
