import { z } from 'zod';
import type { Since } from '#platform/http/answer/version.ts';
import { flag } from '#platform/http/endpoint/endpoint-schemas.ts';

/** The versions that introduced fields of published media (compatibility 2.4). */
export const MEDIA_FIELDS = { is_master_playlist: '1.7.0', is_live: '1.7.0' } as const satisfies Since;
/** The versions that introduced parameters and behaviour. */
export const PUBLICATION_CHANGES = {
  signedUrl: '1.7.0',
  internalById: '1.11.0',
  includeInternalPublication: '1.11.0',
} as const satisfies Since;

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

export const PublicationQuery = z.object({
  sign: flag('Sign the addresses of publications, if signing is configured.'),
});
export type PublicationQuery = z.infer<typeof PublicationQuery>;

export const PublicationsQuery = PublicationQuery.extend({
  includeInternalPublication: flag('Include the publication on the channel `internal`.').meta({
    'x-since': PUBLICATION_CHANGES.includeInternalPublication,
  }),
});
export type PublicationsQuery = z.infer<typeof PublicationsQuery>;
