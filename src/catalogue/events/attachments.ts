import type { Transaction } from '#platform/database/kysely.ts';
import { releaseObjects } from '#platform/storage/staging-entries.ts';
import type { NewTrack } from './tracks.ts';

/** A file that comes with a recording, such as a picture; its object is stored and not yet part of an event. */
export interface NewAttachment extends NewTrack {
  sha256: string;
}

/**
 * Gives a locked event attachments. Those of a flavor that it has already are given up, with their objects: what people
 * have changed since is not overwritten.
 */
export async function insertAttachments(
  trx: Transaction,
  eventId: string,
  attachments: readonly NewAttachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  const there = await trx.selectFrom('attachments').select('flavor').where('event_id', '=', eventId).execute();
  const flavors = new Set(there.map(({ flavor }) => flavor));
  const wanted = attachments.filter(({ flavor }) => !flavors.has(flavor));
  const dropped = attachments.filter(({ flavor }) => flavors.has(flavor));
  await releaseObjects(
    trx,
    dropped.map(({ objectKey }) => objectKey),
  );
  if (wanted.length === 0) return;
  await trx
    .insertInto('attachments')
    .values(
      wanted.map(({ objectKey, tags = [], ...file }) => ({
        ...file,
        tags: [...tags],
        object_key: objectKey,
        event_id: eventId,
      })),
    )
    .execute();
}
