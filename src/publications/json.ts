import { type ApiVersion, atLeast } from '../http/version.ts';
import {
  elementsOf,
  elementUrl,
  mediaOf,
  type Publication,
  type PublicationElement,
  watchUrl,
} from './model.ts';

interface Presentation {
  /** Base of the URLs, without a slash at its end. */
  publicUrl: string;
  version: ApiVersion;
}

/** A publication in the contract's JSON (2.9, compatibility 3.11), the same in lists and alone. */
export function publicationJson(publication: Publication, { publicUrl, version }: Presentation) {
  return {
    id: publication.id,
    channel: publication.channel,
    mediatype: publication.mediatype,
    url: watchUrl(publicUrl, publication.id),
    media: elementsOf(publication, 'media').map((media) => ({
      ...elementJson(media, publicUrl),
      has_audio: media.has_audio,
      has_video: media.has_video,
      duration: media.duration,
      description: '',
      ...(media.has_video && {
        bitrate: media.bit_rate,
        framerate: media.frame_rate,
        framecount: media.frame_count,
        width: media.width,
        height: media.height,
      }),
      ...(atLeast(version, '1.7.0') && { is_master_playlist: false, is_live: false }),
    })),
    attachments: elementsOf(publication, 'attachment').map((attachment) => ({
      ...elementJson(attachment, publicUrl),
      ref: reference(attachment, publication),
    })),
    metadata: elementsOf(publication, 'metadata').map((catalog) => elementJson(catalog, publicUrl)),
  };
}

function elementJson(element: PublicationElement, publicUrl: string) {
  return {
    id: element.id,
    mediatype: element.mediatype,
    url: elementUrl(publicUrl, element),
    flavor: element.flavor,
    size: element.size,
    checksum: `${element.sha256} (sha256)`,
    tags: element.tags,
  };
}

function reference(attachment: PublicationElement, publication: Publication): string {
  const media = mediaOf(attachment, publication);
  return media ? `track:${media.id}` : '';
}
