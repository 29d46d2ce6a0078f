import type { Transaction } from '#platform/database/kysely.ts';
import { CUTTING } from '#platform/media/cutting.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import type { NewAttachment } from './event-files.ts';

/** The parts and streams of a recording that a person keeps. The next workflow with the operation `cut` applies it. */
export interface CutEdit {
  /** The cutting catalog; undefined to keep all. */
  catalog: string | undefined;
  /** The kinds of streams to leave out, by the identifier of the track. Others stay as they are. */
  hidden: ReadonlyMap<string, readonly string[]>;
  /** Pictures that replace those of the same flavor. */
  pictures: readonly NewAttachment[];
}

/** Writes the cut of a locked event. The caller removes the objects of pictures from the staging ledger. */
export async function writeCut(trx: Transaction, eventId: string, cut: CutEdit): Promise<void> {
  const { catalog: content, hidden, pictures } = cut;
  if (content === undefined) {
    const documents = trx.deleteFrom('event_documents').where('event_id', '=', eventId);
    await documents.where('flavor', '=', CUTTING).execute();
  } else {
    await trx
      .insertInto('event_documents')
      .values({ event_id: eventId, flavor: CUTTING, filename: 'cutting.smil', content })
      .onConflict((same) => same.columns(['event_id', 'flavor']).doUpdateSet({ filename: 'cutting.smil', content }))
      .execute();
  }
  for (const [id, hidden_streams] of hidden) {
    const track = trx.updateTable('tracks').set({ hidden_streams: [...hidden_streams] });
    await track.where('event_id', '=', eventId).where('id', '=', id).execute();
  }
  for (const picture of pictures) await replacePicture(trx, eventId, picture);
}

async function replacePicture(
  trx: Transaction,
  eventId: string,
  { objectKey: object_key, tags = [], ...file }: NewAttachment,
): Promise<void> {
  const replaced = await trx
    .deleteFrom('attachments')
    .where('event_id', '=', eventId)
    .where('flavor', '=', file.flavor)
    .returning('object_key')
    .execute();
  const keys = replaced.map((row) => row.object_key);
  await releaseObjects(trx, keys);
  await trx
    .insertInto('attachments')
    .values({ ...file, tags: [...tags], object_key, event_id: eventId })
    .execute();
}
