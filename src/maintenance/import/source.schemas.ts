import { z } from 'zod';
import { Acl } from '#access/acl/acl.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { EventExtras, SeriesExtras } from './inlet-extras.schemas.ts';

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const texts = z
  .array(z.string())
  .nullish()
  .transform((values) => values ?? []);
/** A number, which some servers send as a text. */
const number = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ])
  .nullish()
  .catch(null);
const whole = number.transform((value) => (Number.isInteger(value) && Number(value) >= 0 ? value : null));

/** Values of a metadata catalog. Servers send more about each field. */
const Catalog = z.object({
  flavor: z.string(),
  fields: z.array(z.object({ id: z.string(), value: z.unknown() })),
});

/** A file of a publication. */
const Element = z.object({
  id: text,
  mediatype: text,
  url: z.string(),
  flavor: text,
  tags: texts,
  /** -1 if the source does not know it. */
  size: number,
  /** A digest in hexadecimal with the name of its algorithm, such as `(md5)`; empty if the source does not know it. */
  checksum: text,
});

const Media = Element.extend({
  has_audio: z.boolean().nullish(),
  has_video: z.boolean().nullish(),
  /** In milliseconds. */
  duration: whole,
  /** In bits per second. */
  bitrate: number,
  framerate: number,
  framecount: whole,
  width: whole,
  height: whole,
  is_master_playlist: z.boolean().nullish(),
  is_live: z.boolean().nullish(),
});

const Attachment = Element.extend({
  /** `track:` and the identifier of the media from which it was made, if any. */
  ref: text,
});

export const SourcePublication = z.object({
  id: text,
  channel: z.string(),
  mediatype: text,
  url: text,
  media: z.array(Media).default([]),
  attachments: z.array(Attachment).default([]),
  metadata: z.array(Element).default([]),
});
export type SourcePublication = z.infer<typeof SourcePublication>;

/** An event as the source lists it with all its parts, in the newest version that it knows. */
export const SourceEvent = z.object({
  identifier: z.string(),
  title: text,
  creator: text,
  created: text,
  start: text,
  duration: number,
  status: text,
  processing_state: text,
  has_previews: z.boolean().nullish(),
  is_part_of: text,
  archive_version: number,
  acl: Acl.default([]),
  metadata: z.array(Catalog).default([]),
  publications: z.array(SourcePublication).default([]),
  scheduling: z.object({ agent_id: text, start: text, end: text, inputs: texts }).partial().nullish(),
  /** Only in an exported folder. */
  inlet: EventExtras.optional(),
});
export type SourceEvent = z.infer<typeof SourceEvent>;

/** A track of an event: a file that was sent to the source. */
export const SourceTrack = z.object({
  identifier: text,
  flavor: z.string(),
  mimetype: text,
  uri: z.string(),
  size: number,
  checksum: text,
  duration: whole,
  has_audio: z.boolean().nullish(),
  has_video: z.boolean().nullish(),
  tags: texts,
  warnings: texts,
  streams: z.record(z.string(), z.looseObject({})).default({}),
});
export type SourceTrack = z.infer<typeof SourceTrack>;

/** A series with its details. */
export const SourceSeries = z.object({
  identifier: z.string(),
  title: text,
  creator: text,
  created: text,
  /** Undefined if the source has none. */
  acl: Acl.optional(),
  metadata: z.array(Catalog).default([]),
  properties: z.record(z.string(), z.union([z.string(), z.unknown().transform((value) => excerpt(value))])).default({}),
  /** Only in an exported folder. */
  inlet: SeriesExtras.optional(),
});
export type SourceSeries = z.infer<typeof SourceSeries>;

/** A playlist. Its entries and those of its list get other identifiers here. */
export const SourcePlaylist = z
  .object({
    id: z.string(),
    title: text,
    description: text,
    creator: text,
    updated: text,
    // The reference lists entries that have lost their content, too.
    entries: z
      .array(z.object({ contentId: z.string().nullish() }))
      .transform((entries) => entries.flatMap(({ contentId }) => (contentId ? { contentId } : []))),
    accessControlEntries: Acl,
  })
  .transform(({ id, ...playlist }) => ({ identifier: id, ...playlist }));
export type SourcePlaylist = z.infer<typeof SourcePlaylist>;

/** A group. Roles and members are separated by commas. */
export const SourceGroup = z
  .object({ identifier: z.string(), name: text, description: text, roles: text, members: text })
  .transform((group) => ({ ...group, title: group.name }));
export type SourceGroup = z.infer<typeof SourceGroup>;
