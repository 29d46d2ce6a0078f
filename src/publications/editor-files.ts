import { type Expression, type SqlBool, sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
import { isUuid } from '#platform/database/uuid.ts';
import { PLAYLIST } from './publication.ts';
import type { ServedFile } from './serve-file.ts';

/** The subtype of the flavor of a picture that stands for a recording. */
export const POSTER_SUBTYPE = 'player+preview';
/** The tag of a picture that a person has chosen in an editor. */
export const CHOSEN = 'chosen';

/** Renditions of a whole track end at most so much before it, in milliseconds. */
const TOLERANCE_MS = 1000;

/** Selects the media that show all of the track `t`: those made for editors, and renditions, published or prepared. */
const MEDIA = sql`
  SELECT a.id, a.filename, 0 AS preference FROM attachments a
  WHERE a.event_id = t.event_id AND a.track_id = t.id AND a.flavor LIKE '%/preview'
  UNION ALL
  SELECT e.id, e.filename, -e.position - 1 FROM publication_elements e
  WHERE e.event_id = t.event_id AND e.track = t.position AND e.kind = 'media' AND e.mediatype <> ${PLAYLIST}
    AND e.properties->'isShortened' IS NULL AND e.duration >= t.duration - ${TOLERANCE_MS}::int`;

/** Returns a condition that an editor has something to show of an event. */
export function hasPreviews(eventId: Expression<string>): Expression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM tracks t WHERE t.event_id = ${eventId} AND t.is_media
    AND t.duration IS NOT NULL AND EXISTS (${MEDIA}))`;
}

/** A file that an editor loads. */
export interface EditorFile {
  id: string;
  filename: string;
}

/** A track of an event and its files for editors. */
export interface EditorTrack {
  id: string;
  flavor: string;
  /** Milliseconds; null before inspection. */
  duration: number | null;
  hasAudio: boolean;
  hasVideo: boolean;
  hidden: string[];
  /** The smallest file that shows all of the track. */
  media: EditorFile | null;
  poster: EditorFile | null;
  waveform: EditorFile | null;
}

/** Returns the audio and video tracks of an event, in order. */
export async function editorTracks(db: Queryable, eventId: string): Promise<EditorTrack[]> {
  const picture = (flavor: string) => sql`(
    SELECT jsonb_build_object('id', p.id, 'filename', p.filename) FROM (
      SELECT a.id, a.filename, 0 AS preference, 0 AS position FROM attachments a WHERE a.event_id = t.event_id
        AND (a.track_id = t.id OR a.tags @> ARRAY[${CHOSEN}]) AND a.flavor = split_part(t.flavor, '/', 1) || '/' || ${flavor}
      UNION ALL SELECT e.id, e.filename, 1, e.position FROM publication_elements e WHERE e.event_id = t.event_id
        AND e.kind = 'attachment' AND e.track = t.position AND e.flavor = split_part(t.flavor, '/', 1) || '/' || ${flavor}
    ) p ORDER BY p.preference, p.position LIMIT 1)`;
  const { rows } = await sql<EditorTrack>`
    SELECT t.id, t.flavor, t.duration::float8 AS duration, coalesce(t.has_audio, false) AS "hasAudio",
      coalesce(t.has_video, false) AS "hasVideo", t.hidden_streams AS hidden,
      (SELECT jsonb_build_object('id', m.id, 'filename', m.filename) FROM (${MEDIA}) m
        ORDER BY m.preference >= 0 DESC, m.preference LIMIT 1) AS media,
      ${picture(POSTER_SUBTYPE)} AS poster, ${picture('waveform')} AS waveform
    FROM tracks t WHERE t.event_id = ${eventId} AND t.is_media ORDER BY t.position`.execute(db);
  return rows;
}

/** Returns a file of an event that editors may load: an attachment, or an element of a publication, published or not. */
export async function findEditorFile(
  db: Queryable,
  { eventId, fileId, filename }: { eventId: string; fileId: string; filename: string },
): Promise<ServedFile | undefined> {
  if (!isUuid(fileId)) return undefined;
  const { rows } = await sql<ServedFile & { filename: string }>`
    SELECT object_key, mediatype, size, sha256, filename FROM attachments
    WHERE id = ${fileId} AND event_id = ${eventId}
    UNION ALL
    SELECT object_key, mediatype, size, sha256, filename FROM publication_elements
    WHERE id = ${fileId} AND event_id = ${eventId} AND kind IN ('media', 'attachment')`.execute(db);
  const [file] = rows;
  return file?.filename === filename ? { ...file, size: Number(file.size) } : undefined;
}
