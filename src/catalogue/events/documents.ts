import type { Transaction } from '#platform/database/kysely.ts';

/** XML that comes with a recording and is neither metadata nor an access control list, such as how it is to be cut. */
export interface NewDocument {
  flavor: string;
  filename: string;
  content: string;
}

/** Gives a locked event documents; of a flavor that it has already the first one stays. */
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
