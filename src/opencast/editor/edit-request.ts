import { z } from 'zod';
import { INVALID_CAPTIONS, INVALID_PICTURE, UNPARSABLE } from '#editing/editing-refusals.ts';
import type { EditedCaptions, EditedPicture, EventEditing } from '#editing/save-event.ts';
import { MAX_CAPTION_BYTES, webVttFault } from '#platform/media/captions.ts';
import { tryParseJson } from '#platform/text/json.ts';

const MAX_SEGMENTS = 2000;
const MAX_TRACKS = 100;
const MAX_CAPTIONS = 200;
const MAX_TAGS = 1000;
const MAX_WORKFLOWS = 100;
/** Lists, objects and members: far more than editors send. A request of nothing else would take seconds to parse. */
const MAX_TOKENS = 200_000;
const TOKEN = /[[{]|"\s*:/;
const TAG = /^[^\p{Cc}\p{Cs},]{1,255}$/u;
/** The first bytes of pictures, in base64. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

const Milliseconds = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

const Stream = z.looseObject({ enabled: z.boolean().nullish() }).nullish();

const FlavorPart = z.string().regex(/^[\w+.-]{1,100}$/);

const Captions = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(255)
    .toLowerCase()
    .optional()
    .describe('An unknown identifier adds captions, which change when it is sent again. Required without `flavor`.'),
  flavor: z
    .looseObject({ type: FlavorPart, subtype: FlavorPart })
    .optional()
    .describe('Names the captions if `id` is missing.'),
  subtitle: z.string().nullish().describe('WebVTT.'),
  tags: z
    .array(z.string())
    .max(MAX_TAGS)
    .nullish()
    .meta({ example: ['lang:en'] }),
  deleted: z.boolean().nullish(),
});

/** The body of a request that saves. Unknown members are ignored. */
export const EditRequest = z
  .looseObject({
    segments: z
      .array(z.looseObject({ start: Milliseconds, end: Milliseconds, deleted: z.boolean().nullish() }))
      .max(MAX_SEGMENTS)
      .describe('In milliseconds. Time without a segment is deleted; no segments keep everything.'),
    tracks: z
      .array(
        z.looseObject({
          id: z.string().max(255),
          audio_stream: Stream,
          video_stream: Stream,
          thumbnailUri: z.string().nullish().describe('A data URL sets the picture of the recording.'),
        }),
      )
      .max(MAX_TRACKS),
    customizedTrackSelection: z.boolean().nullish().describe('False enables all streams.'),
    subtitles: z.array(Captions).max(MAX_CAPTIONS).nullish(),
    chapters: z.array(Captions).max(MAX_CAPTIONS).nullish(),
    workflows: z
      .array(z.looseObject({ id: z.string().max(255) }))
      .max(MAX_WORKFLOWS)
      .nullish()
      .describe('The first one is started.'),
    metadataJSON: z.string().nullish().describe('Catalogs as in `metadata.json`.'),
  })
  .meta({ id: 'EditorRequest' });
type EditRequest = z.infer<typeof EditRequest>;
type EditedTrack = EditRequest['tracks'][number];

/** Reads what an editor saves, without the metadata. @throws {HttpError} 400 */
export function parseEditRequest(text: string): Omit<EventEditing, 'metadata'> & { metadataJson: string | undefined } {
  if (text.split(TOKEN, MAX_TOKENS).length === MAX_TOKENS) throw UNPARSABLE();
  const parsed = EditRequest.safeParse(tryParseJson(text));
  if (!parsed.success) throw UNPARSABLE();
  const { segments, tracks, customizedTrackSelection, subtitles, chapters, workflows, metadataJSON } = parsed.data;
  return {
    segments: segments.map(({ start, end, deleted }) => ({ start, end, deleted: deleted === true })),
    hidden: new Map(tracks.map((track) => [track.id, customizedTrackSelection === false ? [] : hiddenIn(track)])),
    captions: [...captionsOf(subtitles, 'captions'), ...captionsOf(chapters, 'chapters')],
    pictures: tracks.flatMap(pictureOf),
    workflow: workflows?.[0]?.id,
    metadataJson: metadataJSON?.trim() ? metadataJSON : undefined,
  };
}

function hiddenIn({ audio_stream: audio, video_stream: video }: EditedTrack): string[] {
  const kinds = { audio, video };
  return Object.entries(kinds).flatMap(([kind, stream]) => (stream?.enabled === false ? [kind] : []));
}

function captionsOf(sent: EditRequest['subtitles'], kind: EditedCaptions['kind']): EditedCaptions[] {
  const byId = new Map((sent ?? []).map((captions) => [nameOf(captions, kind), captions]));
  return [...byId].map(([id, { id: given, subtitle, tags, deleted }]) => {
    const name = id.slice(0, 100);
    if (deleted) return { id, kind, tags: [], text: undefined };
    const fault = captionsFault(subtitle ?? '');
    if (fault !== undefined) throw INVALID_CAPTIONS(name, fault);
    // The editor writes tags like `lang: en`.
    const tidy = (tags ?? []).map((tag) => tag.trim().replace(/^([a-z-]+):\s+/, '$1:')).filter((tag) => tag !== '');
    if (!tidy.every((tag) => TAG.test(tag))) throw INVALID_CAPTIONS(name, 'a tag has invalid characters');
    return { id, kind, tags: tidy, text: subtitle ?? '', ...(given === undefined && { flavor: id }) };
  });
}

/** Editors before Opencast 15 know captions by their flavor only. @throws {HttpError} 400 */
function nameOf({ id, flavor }: z.infer<typeof Captions>, kind: EditedCaptions['kind']): string {
  if (id !== undefined) return id;
  if (flavor?.type !== kind) throw UNPARSABLE();
  return `${kind}/${flavor.subtype}`;
}

function captionsFault(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_CAPTION_BYTES) return `they have more than ${MAX_CAPTION_BYTES} bytes`;
  return webVttFault(text);
}

/** Other addresses are those of present pictures. @throws {HttpError} 400 */
function pictureOf({ id, thumbnailUri }: EditedTrack): EditedPicture[] {
  if (!thumbnailUri?.startsWith('data:')) return [];
  const base64 = thumbnailUri.slice(thumbnailUri.indexOf(',') + 1);
  const mediatype = SIGNATURES.find(([start]) => base64.startsWith(start))?.[1];
  if (mediatype === undefined) throw INVALID_PICTURE(id.slice(0, 100));
  return [{ trackId: id, bytes: Buffer.from(base64, 'base64'), mediatype }];
}
