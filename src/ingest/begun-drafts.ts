import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** The door of drafts that capture agents put together as media packages. */
export const PACKAGE_DOOR = 'packages';

/** A draft that is no event yet. */
export interface BegunDraft {
  id: string;
  /** The user name of the account it belongs to. */
  owner: string;
  createdAt: Date;
  /** When something was last added. */
  changedAt: Date;
  expiresAt: Date;
  /** How many tracks, attachments and catalogs it has. */
  elements: number;
  /** Of its tracks and attachments. */
  bytes: number;
  /** Whether nothing has been added for long. */
  isLeft: boolean;
}

/** After so long without anything new, nobody seems to be adding to a draft any more. */
const LEFT_SECONDS = 3600;

/** Drafts of a door that have become no event, the one that changed last first. */
export async function begunDrafts(
  db: Queryable,
  { door, most }: { door: string; most: number },
): Promise<BegunDraft[]> {
  const { rows } = await sql<BegunDraft>`
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
