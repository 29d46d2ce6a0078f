import { type ApiVersion, atLeast, fieldsIn } from '#platform/http/answer/version.ts';
import {
  CAPTIONS,
  captionsOf,
  elementsOf,
  elementUrl,
  mediaOf,
  type Publication,
  type PublicationElement,
  watchUrl,
} from './model.ts';
import type { MediaJson, PublicationJson } from './publication.schemas.ts';
import { MEDIA_FIELDS, PUBLICATION_CHANGES } from './versions.ts';

/** The presentation of publications that a request asks for. */
export interface Presentation {
  /** The base of URLs, without a slash at its end. */
  publicUrl: string;
  version: ApiVersion;
  /** Signs a URL; undefined to leave URLs unsigned. */
  sign?: ((url: string) => string) | undefined;
}

/** Returns the JSON of a publication (contract 2.9, compatibility 3.11), the same in lists and alone. */
export function publicationJson(
  publication: Publication,
  presentation: Presentation,
): Omit<PublicationJson, 'media'> & { media: Partial<MediaJson>[] } {
  const { publicUrl, version, sign } = presentation;
  const url = watchUrl(publicUrl, publication.id);
  const media = [...elementsOf(publication, 'media'), ...captionsOf(publication)];
  const attachments = elementsOf(publication, 'attachment').filter(({ flavor }) => flavor !== CAPTIONS);
  return {
    id: publication.id,
    channel: publication.channel,
    mediatype: publication.mediatype,
    url: atLeast(version, PUBLICATION_CHANGES.signedUrl) ? (sign?.(url) ?? url) : url,
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
    is_master_playlist: false,
    is_live: false,
  } satisfies MediaJson);
}

function elementJson(element: PublicationElement, { publicUrl, sign }: Presentation) {
  const url = elementUrl(publicUrl, element);
  return {
    id: element.id,
    mediatype: element.mediatype,
    url: sign?.(url) ?? url,
    flavor: element.flavor,
    size: element.size,
    checksum: `${element.sha256} (sha256)`,
    tags: element.tags,
  } satisfies PublicationJson['metadata'][number];
}
