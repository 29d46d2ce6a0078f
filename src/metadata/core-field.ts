import type { ApiVersion } from '#platform/http/answer/version.ts';
import type { FieldType, MetadataField } from './catalog.ts';

/**
 * A field of a default catalog. Parsing, JSON, lists, schemas and reference follow from it; the database has its column,
 * the indexes of its filter and sorting, and its text in `search_text`.
 */
export interface CoreField<Column extends string = string> extends MetadataField {
  /** The column of its text or, where it takes a list, of its texts. Other values are read and written by the feature. */
  column?: Column;
  /** Its name in the JSON of the resource, which shows it then. */
  json?: string;
  /** The version that brought it; the first one unless given. */
  since?: ApiVersion;
  /** What it is called in filters. @param since the version that brought the filter, unless that of the field did */
  filter?: { name: string; since?: ApiVersion; repeated?: 'any' };
  /** What it is called in `sort`; a list counts by its first item. */
  sort?: string;
  /** Its value in the reference; empty unless given. */
  example?: string | readonly string[];
}

type ListType = 'mixed_text' | 'list';

/** The value of a field that has a column. */
export type ColumnValue<F> = F extends { type: ListType } ? string[] : string;

/** Makes fields whose columns are among the given ones. @param prefix of their labels */
export function fieldsOf<Column extends string>(prefix: string) {
  return <const Type extends FieldType, const More extends Partial<CoreField<Column>>>(
    id: string,
    label: string,
    type: Type,
    more: More,
  ): CoreField<Column> & { type: Type } & More => ({
    ...{ id, label: prefix + label, type, required: false, readOnly: false, term: id },
    ...more,
  });
}
