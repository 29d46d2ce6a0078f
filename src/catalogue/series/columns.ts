import type { Selectable } from 'kysely';
import type { CatalogValues } from '#metadata/catalog.ts';
import { type Columns, givenColumns, textIn, valuesOf } from '#metadata/columns.ts';
import { UNPARSABLE_METADATA, unfit } from '#metadata/refusals.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series.ts';
import type { Series } from '#platform/database/schema.ts';

/** A path would lose one that is only dots, and `series.json` is the older list of series. */
const IDENTIFIER = /^(?!(?:\.\.?|series\.json)$)[A-Za-z0-9._~:@-]{1,255}$/;

/** The columns of a series that its default catalog fills. */
type MetadataColumns = Columns<(typeof SERIES_CORE_FIELDS)[number]>;

/** The columns that the given values of `dublincore/series` change; fields that only the server sets change nothing. */
export function seriesColumns(values: CatalogValues): Partial<MetadataColumns> {
  return givenColumns(SERIES_CORE_FIELDS, values);
}

/** The values of `dublincore/series` of a series, by field. */
export function seriesValues(series: MetadataColumns & Pick<Selectable<Series>, 'id' | 'creator'>): CatalogValues {
  return valuesOf(SERIES_CORE_FIELDS, series).set('createdBy', series.creator).set('identifier', series.id);
}

/** The identifier a client chose, if it did. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw UNPARSABLE_METADATA('series', unfit('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -'));
}
