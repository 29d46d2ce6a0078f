import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';

/** A file of a running request. Sizes in bytes. */
export interface IncomingUpload {
  owner: string;
  filename: string;
  /** An upper bound: the length of the request, or the limit. */
  length: number | undefined;
  /** Updated every few seconds. */
  received: number;
  createdAt: Date;
}

/** Lists the received and incoming files of running requests, latest first. */
export async function listIncomingUploads(
  db: Queryable,
  most: number,
): Promise<{ count: number; bytes: number; latest: IncomingUpload[] }> {
  const { rows } = await sql<IncomingUpload & { count: number; bytes: number; length: number | null }>`
    SELECT count(*) OVER () AS count, (sum(received_bytes) OVER ())::bigint AS bytes, account AS owner, filename,
      expected_bytes AS length, received_bytes AS received, created_at AS "createdAt"
    FROM staging WHERE account IS NOT NULL AND expires_at > now()
    ORDER BY created_at DESC, object_key LIMIT ${most}`.execute(db);
  const latest = rows.map(({ count, bytes, length, ...upload }) => ({
    ...upload,
    length: length ?? undefined,
  }));
  return { count: rows[0]?.count ?? 0, bytes: rows[0]?.bytes ?? 0, latest };
}
