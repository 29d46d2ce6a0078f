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

/** How a request wants publications to be shown. */
export interface Presentation {
  /** Base of the URLs, without a slash at its end. */
  publicUrl: string;
  version: ApiVersion;
  /** Makes of an address the one to hand out; absent when it is handed out as it is. */
  sign?: ((url: string) => string) | undefined;
}

/** A publication in the contract's JSON (2.9, compatibility 3.11), the same in lists and alone. */
export function publicationJson(
  publication: Publication,
  presentation: Presentation,
): Omit<PublicationJson, 'media'> & { media: Partial<MediaJson>[] } {
  const { publicUrl, version, sign = unchanged } = presentation;
  const url = watchUrl(publicUrl, publication.id);
  const attachments = elementsOf(publication, 'attachment').filter(({ flavor }) => flavor !== CAPTIONS);
  return {
    id: publication.id,
    channel: publication.channel,
    mediatype: publication.mediatype,
    url: atLeast(version, PUBLICATION_CHANGES.signedUrl) ? sign(url) : url,
    media: [...elementsOf(publication, 'media'), ...captionsOf(publication)].map((media) =>
      mediaJson(media, presentation),
    ),
    attachments: attachments.map(
      (attachment) =>
        ({
          ...elementJson(attachment, presentation),
          ref: reference(attachment, publication),
        }) satisfies PublicationJson['attachments'][number],
    ),
    metadata: elementsOf(publication, 'metadata').map((catalog) => elementJson(catalog, presentation)),
  };
}

function mediaJson(media: PublicationElement, presentation: Presentation) {
  return fieldsIn(presentation.version, MEDIA_FIELDS, {
    ...elementJson(media, presentation),
    has_audio: media.has_audio === true,
    has_video: media.has_video === true,
    duration: media.duration,
    description: '',
    ...(media.has_video && seenJson(media)),
    is_master_playlist: false,
    is_live: false,
  } satisfies MediaJson);
}

function seenJson(media: PublicationElement) {
  return {
    bitrate: media.bit_rate,
    framerate: media.frame_rate,
    framecount: media.frame_count,
    width: media.width,
    height: media.height,
  } satisfies Partial<MediaJson>;
}

function elementJson(element: PublicationElement, { publicUrl, sign = unchanged }: Presentation) {
  return {
    id: element.id,
    mediatype: element.mediatype,
    url: sign(elementUrl(publicUrl, element)),
    flavor: element.flavor,
    size: element.size,
    checksum: `${element.sha256} (sha256)`,
    tags: element.tags,
  } satisfies PublicationJson['metadata'][number];
}

function reference(attachment: PublicationElement, publication: Publication): string {
  const media = mediaOf(attachment, publication);
  return media ? `track:${media.id}` : '';
}

function unchanged(url: string): string {
  return url;
}
