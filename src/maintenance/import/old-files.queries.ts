import { sql } from 'kysely';
import { mayAccess } from '#access/acl/acl.queries.ts';
import { anonymous } from '#access/principal.ts';
import type { Database } from '#platform/database/kysely.ts';
import { INTERNAL_CHANNEL } from '#publications/publication.ts';

/** The place of an imported file here. */
export interface OldFile {
  eventId: string;
  /** Null for a track. */
  publicationId: string | null;
  fileId: string;
  /** The last part of the address of a published file. */
  filename: string;
  /** True if visitors without an account may read the event, and the file waits for no review. */
  isPublic: boolean;
}

/** Finds a file by the path of its address at the server from which it was imported. */
export async function findOldFile(database: Database, path: string): Promise<OldFile | undefined> {
  const { rows } = await sql<OldFile>`
    SELECT f.event_id AS "eventId", e.publication_id AS "publicationId", f.file_id AS "fileId",
      coalesce(e.filename, '') AS filename,
      p.channel IS DISTINCT FROM ${INTERNAL_CHANNEL} AND ${mayAccess('events', anonymous, 'read')} AS "isPublic"
    FROM import_files AS f JOIN events ON events.id = f.event_id
    JOIN import_sources AS s ON s.id = f.source_id AND s.name LIKE 'http%'
    LEFT JOIN publication_elements AS e ON e.id = f.file_id AND e.event_id = f.event_id
    LEFT JOIN publications AS p ON p.id = e.publication_id
    WHERE f.path = ${path} AND (e.publication_id IS NOT NULL OR EXISTS (SELECT FROM tracks WHERE tracks.id = f.file_id))
    ORDER BY e.publication_id IS NULL, s.id DESC LIMIT 1`.execute(database);
  return rows[0];
}
