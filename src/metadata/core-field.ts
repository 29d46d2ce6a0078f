import type { ApiVersion } from '#platform/http/answer/version.ts';
import type { FieldType, MetadataField } from './catalog.ts';

/**
 * A field of a default catalog. Parsing, JSON, lists, schemas and the document derive from it. The database needs a column,
 * an index for its filter and its sort criterion, and its text in `search_text`.
 */
export interface CoreField<Column extends string = string> extends MetadataField {
  /** The column of its text or list. Fields of other types have no column; the feature reads and writes them. */
  column?: Column;
  /** The property in the JSON of the resource; undefined to omit it. */
  json?: string;
  /** The API version that introduced it; by default the first one. */
  since?: ApiVersion;
  /** The filter; `since` overrides the version of the field. */
  filter?: { name: string; since?: ApiVersion; repeated?: 'any' };
  /** The name of the sort criterion. Lists are sorted by their first item. */
  sort?: string;
  /** The value in the document; by default empty. */
  example?: string | readonly string[];
}

type ListType = 'mixed_text' | 'list';

/** The type of a column. */
export type ColumnValue<F> = F extends { type: ListType } ? string[] : string;

/** Returns a function that defines fields. @param prefix the prefix of their labels */
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
