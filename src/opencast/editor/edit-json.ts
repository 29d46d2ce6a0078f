import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import type { EditableEvent, StoredCaptions } from '#editing/editable-event.ts';
import { REFRESH_MS } from '#editing/editor-locks.ts';
import { formatInstant } from '#metadata/date-time.ts';
import { MAX_CAPTION_BYTES, readCaptions, strictCaptions, webVttFault } from '#platform/media/captions.ts';
import { ObjectNotFound, type ObjectStorage } from '#platform/storage/object-storage.ts';
import type { EditorFile, EditorTrack } from '#publications/editor-files.ts';
import { flavorOf } from '#publications/publication.ts';

const StreamJson = z.object({ available: z.boolean(), enabled: z.boolean(), thumbnail_uri: z.string().nullable() });
const FlavorJson = z.object({ type: z.string(), subtype: z.string() });
const CaptionsJson = z.object({
  id: z.string(),
  flavor: FlavorJson,
  subtitle: z.string(),
  tags: z.array(z.string()),
});

/** The data of an event that an editor opens. */
export const EditJson = z
  .object({
    title: z.string(),
    date: z.string(),
    duration: z.int().describe('Of the whole recording, in milliseconds.'),
    series: z.object({ id: z.string().nullable(), title: z.string().nullable() }),
    segments: z
      .array(z.object({ start: z.number(), end: z.number(), deleted: z.boolean(), selected: z.boolean() }))
      .describe('Empty without a saved cut.'),
    tracks: z.array(
      z.object({
        id: z.string(),
        uri: z.string(),
        flavor: FlavorJson,
        audio_stream: StreamJson,
        video_stream: StreamJson,
        thumbnailUri: z.string().nullable(),
        thumbnailPriority: z.int(),
      }),
    ),
    workflows: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), displayOrder: z.int() })),
    waveformURIs: z.array(z.string()),
    subtitles: z.array(CaptionsJson),
    chapters: z.array(CaptionsJson),
    workflow_active: z.boolean(),
    locking_active: z.boolean(),
    lock_refresh: z.int().describe('In milliseconds.'),
    lock_uuid: z.string(),
    lock_user: z.string(),
    local: z.boolean(),
    customizedTrackSelection: z.boolean(),
    metadataJSON: z.string(),
  })
  .meta({ id: 'EditorData' });
type EditJson = z.infer<typeof EditJson>;

/** Returns the JSON of an event for an editor. */
export async function editJson(
  event: EditableEvent,
  { principal, publicUrl, storage }: { principal: Principal; publicUrl: string; storage: ObjectStorage },
): Promise<EditJson> {
  const uriOf = ({ id, filename }: EditorFile) =>
    `${publicUrl}/editor/${encodeURIComponent(event.id)}/files/${id}/${filename}`;
  const shown = event.tracks.filter(({ media }) => media !== null);
  const textsOf = (type: string) =>
    captionsJson(
      event.captions.filter((captions) => flavorOf(captions).type === type),
      storage,
    );
  return {
    title: event.title,
    date: formatInstant(event.start),
    duration: event.duration,
    series: event.series,
    segments: event.segments.map((segment) => ({ ...segment, selected: false })),
    tracks: shown.map((track, order) => trackJson(track, order, uriOf)),
    workflows: event.workflows.map(({ id, title, description, display_order }) => {
      return { id, name: title, description, displayOrder: display_order };
    }),
    waveformURIs: shown.flatMap(({ waveform }) => (waveform ? [uriOf(waveform)] : [])),
    subtitles: await textsOf('captions'),
    chapters: await textsOf('chapters'),
    workflow_active: event.isProcessed,
    // An editor that cannot save would keep a lock that it never releases.
    locking_active: !event.isProcessed,
    lock_refresh: REFRESH_MS,
    lock_uuid: randomUUID(),
    lock_user: principal.username,
    local: true,
    customizedTrackSelection: event.tracks.some(({ hidden }) => hidden.length > 0),
    metadataJSON: '',
  };
}

function trackJson(track: EditorTrack, order: number, uriOf: (file: EditorFile) => string): EditJson['tracks'][number] {
  const { id, hasAudio, hasVideo, hidden, media, poster } = track;
  const thumbnail = poster && uriOf(poster);
  return {
    id,
    uri: media ? uriOf(media) : '',
    flavor: { type: flavorOf(track).type, subtype: 'preview' },
    audio_stream: { available: hasAudio, enabled: !hidden.includes('audio'), thumbnail_uri: null },
    video_stream: { available: hasVideo, enabled: !hidden.includes('video'), thumbnail_uri: thumbnail },
    thumbnailUri: thumbnail,
    thumbnailPriority: order,
  };
}

/** Returns the texts of captions; unreadable ones are left out, as in publications. */
async function captionsJson(captions: readonly StoredCaptions[], storage: ObjectStorage) {
  const shown: z.infer<typeof CaptionsJson>[] = [];
  for (const { id, flavor, tags, objectKey, size } of captions) {
    if (Number(size) > MAX_CAPTION_BYTES) continue;
    const bytes = await readObject(storage, objectKey);
    const text = bytes && (readCaptions(bytes) ?? emptyWebVtt(bytes));
    if (text !== undefined) shown.push({ id, flavor: flavorOf({ flavor }), subtitle: strictCaptions(text), tags });
  }
  return shown;
}

/** Returns the text of WebVTT without captions. */
function emptyWebVtt(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes);
  return webVttFault(text) === undefined ? text : undefined;
}

async function readObject(storage: ObjectStorage, key: string): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await new Response(await storage.get(key)).arrayBuffer());
  } catch (error) {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  }
}
