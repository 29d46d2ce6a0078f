import type { Selectable, Updateable } from 'kysely';
import type { Series } from '../database/schema.ts';
import type { CatalogValues } from '../metadata/catalog.ts';
import { columnsOf, listIn, textIn } from '../metadata/columns.ts';
import { UNPARSABLE_METADATA, unfit } from '../metadata/refusals.ts';

const TEXTS = {
  title: 'title',
  description: 'description',
  language: 'language',
  rightsHolder: 'rights_holder',
  license: 'license',
} as const satisfies Record<string, keyof Series>;

const LISTS = {
  subjects: 'subjects',
  creator: 'organizers',
  contributor: 'contributors',
  publisher: 'publishers',
} as const satisfies Record<string, keyof Series>;

/** A path would lose one that is only dots, and `series.json` is the older list of series. */
const IDENTIFIER = /^(?!(?:\.\.?|series\.json)$)[A-Za-z0-9._~:@-]{1,255}$/;

type MetadataColumn = (typeof TEXTS)[keyof typeof TEXTS] | (typeof LISTS)[keyof typeof LISTS];

/** The columns of a series that its default catalog fills. */
export type MetadataColumns = Pick<Updateable<Series>, MetadataColumn>;

/** The columns that the given values of `dublincore/series` change; fields that only the server sets change nothing. */
export function seriesColumns(values: CatalogValues): MetadataColumns {
  const columns: MetadataColumns = {};
  for (const [id, column] of columnsOf(TEXTS)) {
    if (values.has(id)) columns[column] = textIn(values, id);
  }
  for (const [id, column] of columnsOf(LISTS)) {
    if (values.has(id)) columns[column] = listIn(values, id);
  }
  return columns;
}

/** The values of `dublincore/series` of a series, by field. */
export function seriesValues(
  series: Pick<Selectable<Series>, 'id' | 'creator' | MetadataColumn>,
): CatalogValues {
  const values: CatalogValues = new Map();
  for (const [id, column] of columnsOf(TEXTS)) values.set(id, series[column]);
  for (const [id, column] of columnsOf(LISTS)) values.set(id, series[column]);
  return values.set('createdBy', series.creator).set('identifier', series.id);
}

/** The identifier a client chose, if it did. @throws {HttpError} 400 */
export function chosenIdentifier(values: CatalogValues): string | undefined {
  const id = textIn(values, 'identifier');
  if (id === '') return undefined;
  if (IDENTIFIER.test(id)) return id;
  throw UNPARSABLE_METADATA('series', unfit('identifier', id, '1 to 255 letters, digits and . _ ~ : @ -'));
}
