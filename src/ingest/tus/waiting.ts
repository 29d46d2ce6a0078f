import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** An upload that no event has yet. Sizes in bytes. */
export interface WaitingUpload {
  /** The user name of the account it belongs to. */
  owner: string;
  filename: string;
  /** Undefined until whoever uploads knows. */
  length: number | undefined;
  /** How much of it is durable. */
  received: number;
  complete: boolean;
  createdAt: Date;
  /** When more of it came last. */
  changedAt: Date;
  expiresAt: Date;
}

/** What waits of uploads. */
export interface WaitingUploads {
  /** How many there are. */
  count: number;
  /** How much of all of them is durable, in bytes. */
  bytes: number;
  /** Those that changed last, the last one first. */
  latest: WaitingUpload[];
}

/** The uploads that take room and belong to no event. @param most how many to tell of one by one */
export async function waitingUploads(db: Queryable, most: number): Promise<WaitingUploads> {
  const waiting = db
    .selectFrom('uploads')
    .where('event_id', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`);
  const received = sql<number>`stored + rest_bytes`;
  const { count, bytes } = await waiting
    .select((is) => [
      is.fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(${received}), 0)::bigint`.as('bytes'),
    ])
    .executeTakeFirstOrThrow();
  const rows = await waiting
    .select(['owner', 'filename', 'length', 'completed_at', 'created_at', 'changed_at', 'expires_at'])
    .select(received.as('received'))
    .orderBy('changed_at', 'desc')
    .orderBy('id')
    .limit(most)
    .execute();
  return {
    count,
    bytes,
    latest: rows.map((row) => ({
      owner: row.owner,
      filename: row.filename,
      length: row.length ?? undefined,
      received: row.received,
      complete: row.completed_at !== null,
      createdAt: row.created_at,
      changedAt: row.changed_at,
      expiresAt: row.expires_at,
    })),
  };
}
