import type { Transaction } from '#platform/database/kysely.ts';

/** XML of a recording that is neither metadata nor an access control list, such as a cut list. */
export interface NewDocument {
  flavor: string;
  filename: string;
  content: string;
}

/** Adds documents to a locked event. A document whose flavor the event already has is dropped. */
export async function insertDocuments(
  trx: Transaction,
  eventId: string,
  documents: readonly NewDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  await trx
    .insertInto('event_documents')
    .values(documents.map(({ flavor, filename, content }) => ({ event_id: eventId, flavor, filename, content })))
    .onConflict((same) => same.columns(['event_id', 'flavor']).doNothing())
    .execute();
}
