import type { NewDocument } from '#catalogue/events/documents.ts';
import type { EventEdits } from '#catalogue/events/update/edits.ts';
import type { DraftContents } from '#ingest/draft-contents.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { isPolicy, valuesIn } from './catalogs.ts';

/** The catalogs of a media package that the event keeps as they are. */
export function documentsOf({ catalogs }: DraftContents, known: CatalogSet): NewDocument[] {
  return catalogs.filter(({ flavor }) => !isPolicy(flavor) && !known.find(flavor));
}

/** The metadata of a media package beside the default catalog, by flavor. */
export function extendedValues({ catalogs }: DraftContents, known: CatalogSet): Map<string, CatalogValues> {
  const extended = catalogs.flatMap(({ flavor, content }) => {
    const catalog = known.find(flavor);
    return catalog && catalog !== known.common
      ? [[catalog.flavor, valuesIn(flavor, content, known)] as const]
      : [];
  });
  return new Map(extended);
}

/**
 * What a recording changes of the event it is for: it brings catalogs that the event does not have. Everything else that
 * an agent sends was read from the calendar, and may be older than what people have changed since.
 */
export async function editsOf(
  trx: Transaction,
  eventId: string,
  contents: DraftContents,
  known: CatalogSet,
): Promise<Omit<EventEdits, 'tracks'>> {
  const brought = extendedValues(contents, known);
  if (brought.size === 0) return {};
  const stored = (await storedCatalogs(trx, 'events', [eventId])).get(eventId);
  const given = new Map([...brought].filter(([flavor]) => !stored?.has(flavor)));
  return given.size === 0 ? {} : { metadata: { kind: 'values', given, catalogs: known } };
}
