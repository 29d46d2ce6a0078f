import { sql } from 'kysely';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { discardUpload, newUploadId, UploadLost } from '../tus/uploads.ts';

/** Nothing more becomes of a direct upload: an event was made of it, it has failed, has expired, or was taken back. */
export class DirectUploadOver extends Error {
  override name = 'DirectUploadOver';
}

/** An event has been made of a direct upload just now. */
export class EventMade extends Error {
  override name = 'EventMade';
  readonly eventId: string;

  constructor(eventId: string) {
    super(`The event ${eventId} was made of the direct upload.`);
    this.eventId = eventId;
  }
}

/**
 * Keeps a direct upload as it is until the transaction ends.
 *
 * @param uploadId of one of its files; its lock is taken
 * @throws {DirectUploadOver}
 * @throws {UploadLost} when that file is to come by another upload
 */
export async function holdOpen(trx: Transaction, id: string, uploadId: string): Promise<void> {
  const row = await trx
    .selectFrom('direct_uploads')
    .select('id')
    .where('id', '=', id)
    .where('event_id', 'is', null)
    .where('failure', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .forShare()
    .executeTakeFirst();
  if (!row) throw new DirectUploadOver('The direct upload is over.');
  const file = await trx
    .selectFrom('direct_upload_files')
    .select('upload_id')
    .where('upload_id', '=', uploadId)
    .executeTakeFirst();
  if (!file) throw new UploadLost('What came of the file was given up.');
}

/**
 * Gives up what has come of a file. What comes next is another upload, which nobody takes for the same.
 *
 * @param id of the direct upload
 * @throws {EventMade} the transaction must roll back
 */
export async function startOver(trx: Transaction, id: string, uploadId: string): Promise<void> {
  await discardUpload(trx, uploadId);
  // Whoever made an event of it had the upload for itself until then.
  const made = await trx
    .selectFrom('direct_uploads')
    .select('event_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (made?.event_id) throw new EventMade(made.event_id);
  await trx
    .updateTable('direct_upload_files')
    .set({ upload_id: newUploadId() })
    .where('upload_id', '=', uploadId)
    .execute();
}

/**
 * Notes the event that the same transaction makes of a direct upload.
 *
 * @throws {DirectUploadOver} the transaction must roll back
 */
export async function noteEvent(trx: Transaction, id: string, eventId: string): Promise<void> {
  await trx
    .updateTable('direct_upload_files')
    .from('uploads')
    .set((is) => ({ filename: is.ref('uploads.filename'), bytes: is.ref('uploads.length') }))
    .where('direct_upload_id', '=', id)
    .whereRef('uploads.id', '=', 'upload_id')
    .execute();
  const { numUpdatedRows } = await trx
    .updateTable('direct_uploads')
    .set({ event_id: eventId })
    .where('id', '=', id)
    .where('event_id', 'is', null)
    .where('failure', 'is', null)
    .executeTakeFirst();
  if (Number(numUpdatedRows) !== 1) throw new DirectUploadOver('The direct upload is over.');
}

/** Notes why no event can be made of a direct upload; of one that is over, nothing. */
export async function noteFailure(db: Queryable, id: string, reason: string): Promise<void> {
  await db
    .updateTable('direct_uploads')
    .set({ failure: reason })
    .where('id', '=', id)
    .where('event_id', 'is', null)
    .where('failure', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .execute();
}
