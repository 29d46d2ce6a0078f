import type { Transaction } from '#platform/database/kysely.ts';
import { releaseObjects } from '#platform/storage/staging-entries.ts';
import type { NewTrack } from './tracks.ts';

/** A file beside the tracks of a recording, such as a picture. Its object is stored but not yet part of an event. */
export interface NewAttachment extends NewTrack {
  sha256: string;
}

/**
 * Adds attachments to a locked event. An attachment whose flavor the event already has is dropped and its object released,
 * so that later edits are not overwritten.
 */
export async function insertAttachments(
  trx: Transaction,
  eventId: string,
  attachments: readonly NewAttachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  const present = await trx.selectFrom('attachments').select('flavor').where('event_id', '=', eventId).execute();
  const flavors = new Set(present.map(({ flavor }) => flavor));
  const wanted = attachments.filter(({ flavor }) => !flavors.has(flavor));
  const dropped = attachments.filter((attachment) => !wanted.includes(attachment));
  const droppedKeys = dropped.map(({ objectKey }) => objectKey);
  await releaseObjects(trx, droppedKeys);
  if (wanted.length === 0) return;
  const rows = wanted.map(({ objectKey, tags = [], ...file }) => {
    return { ...file, tags: [...tags], object_key: objectKey, event_id: eventId };
  });
  await trx.insertInto('attachments').values(rows).execute();
}
