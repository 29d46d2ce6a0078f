import { z } from 'zod';
import { MEDIA_FIELDS } from './versions.ts';

const element = {
  id: z.string(),
  mediatype: z.string(),
  url: z.url().describe('Where the file is; signed when that was asked for.'),
  flavor: z.string().describe('What it shows and how it was made, such as `presenter/delivery`.'),
  size: z.int().describe('In bytes.'),
  checksum: z.string().describe('Digest in hexadecimal, a blank, and the algorithm in parentheses.'),
  tags: z.array(z.string()),
};

const Media = z
  .object({
    ...element,
    has_audio: z.boolean(),
    has_video: z.boolean(),
    duration: z.int().nullable().describe('In milliseconds.'),
    description: z.string(),
    bitrate: z.number().nullish().describe('Of what is seen, in bits a second.'),
    framerate: z.number().nullish(),
    framecount: z.int().nullish(),
    width: z.int().nullish(),
    height: z.int().nullish(),
    is_master_playlist: z.boolean(),
    is_live: z.boolean(),
  })
  .meta({ id: 'PublishedMedia', 'x-introduced': MEDIA_FIELDS });
export type MediaJson = z.infer<typeof Media>;

/** What of an event is public on one channel. */
export const Publication = z
  .object({
    id: z.string(),
    channel: z.string().describe('Where it is published, such as `engage-player`.'),
    mediatype: z.string(),
    url: z.url().describe('The page on which people watch it.'),
    media: z.array(Media).describe('What is seen and heard, then captions: those have the flavor `captions/delivery`.'),
    attachments: z.array(
      z
        .object({ ...element, ref: z.string().describe('The media it was made of.') })
        .meta({ id: 'PublishedAttachment' }),
    ),
    metadata: z.array(z.object(element).meta({ id: 'PublishedCatalog' })),
  })
  .meta({ id: 'Publication' });
export type PublicationJson = z.infer<typeof Publication>;

export const Publications = z.array(Publication).meta({ id: 'Publications' });
