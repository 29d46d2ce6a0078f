import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** The door of the media packages that capture agents assemble. */
export const PACKAGE_DOOR = 'packages';

/** A draft that has not become an event. */
export interface UnfinishedDraft {
  id: string;
  owner: string;
  createdAt: Date;
  changedAt: Date;
  expiresAt: Date;
  elements: number;
  /** The size of its tracks and attachments. */
  bytes: number;
  /** True if nothing was added for an hour. */
  isLeft: boolean;
}

const LEFT_SECONDS = 3600;

/** Lists the drafts of a door that have not become an event, most recently changed first. */
export async function listUnfinishedDrafts(
  db: Queryable,
  { door, most }: { door: string; most: number },
): Promise<UnfinishedDraft[]> {
  const { rows } = await sql<UnfinishedDraft>`
    WITH begun AS (
      SELECT * FROM drafts WHERE door = ${door} AND event_id IS NULL AND failure IS NULL AND expires_at > now()
      ORDER BY changed_at DESC, id LIMIT ${most}
    )
    SELECT id, owner, created_at AS "createdAt", changed_at AS "changedAt", expires_at AS "expiresAt",
      tracks.number + attachments.number + catalogs.number AS elements,
      (tracks.bytes + attachments.bytes)::bigint AS bytes,
      changed_at < now() - make_interval(secs => ${LEFT_SECONDS}) AS "isLeft"
    FROM begun
    CROSS JOIN LATERAL (SELECT count(*) AS number, coalesce(sum(size), 0) AS bytes FROM draft_tracks
      WHERE draft_id = begun.id) AS tracks
    CROSS JOIN LATERAL (SELECT count(*) AS number, coalesce(sum(size), 0) AS bytes FROM draft_attachments
      WHERE draft_id = begun.id) AS attachments
    CROSS JOIN LATERAL (SELECT count(*) AS number FROM draft_catalogs WHERE draft_id = begun.id) AS catalogs
    ORDER BY changed_at DESC, id`.execute(db);
  return rows;
}
