import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { discardUpload } from '../tus/uploads.ts';
import { DirectUploadOver } from './outcome.ts';

/** How long one can be asked what has become of a direct upload after it has expired. */
const REMEMBERED_DAYS = 7;

/**
 * Takes a direct upload back: its addresses lead nowhere, and what has come to them is removed soon after.
 *
 * @throws {DirectUploadOver} when an event has been made of it, which stays, or it has been taken back
 */
export async function takeBack(database: Database, id: string): Promise<void> {
  await inTransaction(database, async (trx) => {
    const files = trx
      .selectFrom('direct_upload_files')
      .select('upload_id')
      .where('direct_upload_id', '=', id);
    // In the order in which making the event of it takes them.
    await trx
      .selectFrom('uploads')
      .select('id')
      .where('id', 'in', files)
      .orderBy(sql`id COLLATE "C"`)
      .forUpdate()
      .execute();
    const open = await trx
      .selectFrom('direct_uploads')
      .select('id')
      .where('id', '=', id)
      .where('event_id', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!open) throw new DirectUploadOver('An event has been made of it, or it has been taken back.');
    // Only now nothing begins any more, also in place of what was given up.
    const uploads = await trx
      .deleteFrom('direct_upload_files')
      .where('direct_upload_id', '=', id)
      .returning('upload_id')
      .execute();
    await trx.deleteFrom('direct_uploads').where('id', '=', id).execute();
    for (const { upload_id } of uploads) await discardUpload(trx, upload_id);
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
