import { z } from 'zod';

/** A time in UTC with milliseconds. */
const Instant = z.iso.datetime({ precision: 3 });
const Flavor = z.string().regex(/^[^/]+\/[^/]+$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().nonnegative();

/** Extended catalogs as they are stored, by flavor and field, also those that METADATA_DIR no longer defines. */
const StoredCatalogs = z.record(Flavor, z.record(z.string(), z.union([z.string(), z.array(z.string())])));

/** The properties of a schedule that `scheduling` does not have. */
const ScheduleExtras = z.strictObject({
  /** The workflow that starts when the recording arrives, and its configuration. */
  workflow: z.string(),
  configuration: z.record(z.string(), z.string()),
  /** The minimum gap to the next recording, in milliseconds. */
  gap_ms: whole,
  /** True if it may overlap earlier schedules. */
  allow_conflict: z.boolean(),
  /** The last state that the agent reported; empty before the first report. */
  recording_state: z.string(),
  recording_state_since: Instant.nullable(),
});

/** The properties of a track that `tracks` does not have. */
const TrackExtras = z.strictObject({
  id: z.guid(),
  /** The order of tracks, from 0. Elements refer to it. */
  position: whole,
  /** The name that the client gave it. */
  filename: z.string(),
  /** The maker of a generated track, such as captions by a transcription service; null for files from clients. */
  made_by: z.string().nullable(),
  /** The kinds of streams that renditions leave out: `audio`, `video`. */
  hidden_streams: z.array(z.enum(['audio', 'video'])),
  /** The parts that a cut keeps, in milliseconds; null for all of it. Without `end`, a part ends with the track. */
  kept_parts: z.array(z.strictObject({ begin: z.number(), end: z.number().optional() })).nullable(),
  /** The streams that inspection found; null before it. */
  streams: z.array(z.looseObject({ type: z.enum(['audio', 'video']) })).nullable(),
});

/** The properties of a published file that `publications` does not have. */
const ElementExtras = z.strictObject({
  id: z.guid(),
  kind: z.enum(['media', 'attachment', 'metadata']),
  /** The order of the elements of a publication, from 0. */
  position: whole,
  /** The position of the track from which it was made; null if unknown. */
  track: whole.nullable(),
  /** The last part of its address. */
  filename: z.string().regex(/^[A-Za-z0-9._-]+$/),
  /** Data for players, such as the codecs of a rendition or the layout of a sprite sheet. */
  properties: z.record(z.string(), z.unknown()),
  /** In milliseconds. */
  duration: whole.nullable(),
  has_audio: z.boolean().nullable(),
  has_video: z.boolean().nullable(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  frame_rate: z.number().nullable(),
  frame_count: z.int().nullable(),
  /** In bits per second. */
  bit_rate: z.int().nullable(),
});

/** A file that the API does not show, with its name in the folder of the event as `url`. */
const HiddenFile = { url: z.string(), flavor: Flavor, mediatype: z.string(), size: whole, sha256: Sha256 };

/** A file of an event that is neither a track nor published, such as a preview for editors. */
const EventAttachment = z.strictObject({
  id: z.guid(),
  ...HiddenFile,
  filename: z.string(),
  tags: z.array(z.string()),
  /** The track from which it was made; null for files from clients. */
  track_id: z.guid().nullable(),
});

/** A file that is prepared for the next publication. */
const PreparedElement = ElementExtras.extend({ ...HiddenFile, tags: z.array(z.string()) });

/** The member `inlet` of an exported event: what the External API does not say. Written by `export`. */
export const EventExtras = z.strictObject({
  /** The exact times of `created` and `start`. */
  created: Instant,
  start: Instant,
  /** True if `acl` belongs to the event, even if it is empty; false if it is the list of its series. */
  own_acl: z.boolean(),
  catalogs: StoredCatalogs,
  /** Null if the event is not scheduled. */
  schedule: ScheduleExtras.nullable(),
  /** The scheduled event of which this event is a further recording; `part` is 2 for the second recording. */
  further_recording: z.strictObject({ of_event: z.string(), part: z.int().min(2) }).nullable(),
  /** XML documents of the recording, such as cut lists. */
  documents: z.array(z.strictObject({ flavor: Flavor, filename: z.string(), content: z.string() })),
  /** In the order of `tracks`. */
  tracks: z.array(TrackExtras),
  attachments: z.array(EventAttachment),
  publications: z.array(z.strictObject({ id: z.guid(), published_at: Instant })),
  elements: z.array(ElementExtras),
  prepared: z.array(PreparedElement),
});
export type EventExtras = z.infer<typeof EventExtras>;

/** The member `inlet` of an exported series. */
export const SeriesExtras = z.strictObject({
  /** The exact time of `created`. */
  created: Instant,
  catalogs: StoredCatalogs,
});
export type SeriesExtras = z.infer<typeof SeriesExtras>;
