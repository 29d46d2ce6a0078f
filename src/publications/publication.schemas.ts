import { z } from 'zod';
import { MEDIA_FIELDS } from './versions.ts';

const element = {
  id: z.string(),
  mediatype: z.string(),
  url: z.url().describe('URL of the file, signed on request.'),
  flavor: z.string().describe('What it shows, and how it was made; for example `presenter/delivery`.'),
  size: z.int().describe('Size in bytes.'),
  checksum: z.string().describe('Hexadecimal digest, a space, and the algorithm in parentheses.'),
  tags: z.array(z.string()),
};

const Media = z
  .object({
    ...element,
    has_audio: z.boolean(),
    has_video: z.boolean(),
    duration: z.int().nullable().describe('Duration in milliseconds.'),
    description: z.string(),
    bitrate: z.number().nullish().describe('Bit rate of media with video, in bits per second.'),
    framerate: z.number().nullish(),
    framecount: z.int().nullish(),
    width: z.int().nullish(),
    height: z.int().nullish(),
    is_master_playlist: z.boolean(),
    is_live: z.boolean(),
  })
  .meta({ id: 'PublishedMedia', 'x-introduced': MEDIA_FIELDS });
export type MediaJson = z.infer<typeof Media>;

export const Publication = z
  .object({
    id: z.string(),
    channel: z.string().describe('Channel of the publication, such as `engage-player`.'),
    mediatype: z.string(),
    url: z.url().describe('URL of the watch page.'),
    media: z.array(Media).describe('Audio and video, then captions, which have the flavor `captions/delivery`.'),
    attachments: z.array(
      z
        .object({ ...element, ref: z.string().describe('The media that it was made from.') })
        .meta({ id: 'PublishedAttachment' }),
    ),
    metadata: z.array(z.object(element).meta({ id: 'PublishedCatalog' })),
  })
  .meta({ id: 'Publication' });
export type PublicationJson = z.infer<typeof Publication>;

export const Publications = z.array(Publication).meta({ id: 'Publications' });
