import { sql } from 'kysely';
import type { Database } from '../../database/kysely.ts';
import { inTransaction } from '../../database/retry.ts';
import { discardUpload } from '../uploads/uploads.ts';
import { DirectUploadOver } from './outcome.ts';

/** How long one can be asked what has become of a direct upload after it has expired. */
const REMEMBERED_DAYS = 7;

/**
 * Takes a direct upload back: its addresses lead nowhere, and what has come to them is removed soon after.
 *
 * @throws {DirectUploadOver} when an event has been made of it, which stays
 */
export async function takeBack(database: Database, id: string): Promise<void> {
  await inTransaction(database, async (trx) => {
    const files = await trx
      .selectFrom('direct_upload_files')
      .select('upload_id')
      .where('direct_upload_id', '=', id)
      .execute();
    const ids = files.map(({ upload_id }) => upload_id).sort();
    if (ids.length === 0) throw new DirectUploadOver('It has been taken back.');
    // In the order in which making the event of it takes them.
    await trx
      .selectFrom('uploads')
      .select('id')
      .where('id', 'in', ids)
      .orderBy(sql`id COLLATE "C"`)
      .forUpdate()
      .execute();
    const { numDeletedRows } = await trx
      .deleteFrom('direct_uploads')
      .where('id', '=', id)
      .where('event_id', 'is', null)
      .executeTakeFirst();
    if (Number(numDeletedRows) !== 1) throw new DirectUploadOver('An event has been made of it.');
    // Also those that began while the row was waited for.
    for (const uploadId of ids) await discardUpload(trx, uploadId);
  });
}

/**
 * Forgets direct uploads that expired days ago. What came to them has expired with them, as other uploads do.
 *
 * @returns how many there were
 */
export async function forgetDirectUploads(database: Database): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('direct_uploads')
    .where('expires_at', '<=', sql<Date>`now() - make_interval(days => ${REMEMBERED_DAYS})`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
