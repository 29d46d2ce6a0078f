import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Criterion } from '#platform/database/list/index.ts';
import { API_VERSIONS, type ApiVersion, type Since } from '#platform/http/answer/version.ts';
import { equals, type Filter, hasElement } from '#platform/http/list/index.ts';
import {
  type CatalogValues,
  type FieldType,
  type FieldValue,
  isEmpty,
  type MetadataField,
  takesList,
} from './catalog.ts';
import { isIndexable } from './field-values.ts';

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
type ColumnValue<F> = F extends { type: ListType } ? string[] : string;

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

/** The values of the columns of fields. */
export type Columns<F extends CoreField> = {
  [G in F as G extends { column: infer Name extends string } ? Name : never]: ColumnValue<G>;
};

type ColumnName<F extends CoreField> = keyof Columns<F> & string;

/** Returns the fields that have a column. */
export function withColumn<F extends CoreField>(fields: readonly F[]): (F & { column: string })[] {
  return fields.filter((field): field is F & { column: string } => field.column !== undefined);
}

export function columnNames<F extends CoreField>(fields: readonly F[]): ColumnName<F>[] {
  return withColumn(fields).map(({ column }) => column as ColumnName<F>);
}

/** Returns the columns of all fields. Missing values are empty. */
export function columnsOf<F extends CoreField>(fields: readonly F[], values: CatalogValues): Columns<F> {
  return filled(fields, values) as Columns<F>;
}

/** Returns the columns of the given fields, without read-only ones. */
export function givenColumns<F extends CoreField>(fields: readonly F[], values: CatalogValues): Partial<Columns<F>> {
  const given = fields.filter(({ id, readOnly }) => values.has(id) && !readOnly);
  return filled(given, values) as Partial<Columns<F>>;
}

/** Returns the columns whose value differs from the row. */
export function differingColumns<T extends Record<string, FieldValue>>(columns: T, row: object): Partial<T> {
  const current = row as Record<string, FieldValue>;
  const differing = Object.entries(columns).filter(([name, value]) => !isDeepStrictEqual(value, current[name] ?? ''));
  return Object.fromEntries(differing) as Partial<T>;
}

/** Returns the values of a row, by field. */
export function valuesOf<F extends CoreField>(fields: readonly F[], row: Columns<F>): CatalogValues {
  const columns = row as Record<string, FieldValue>;
  return new Map(withColumn(fields).map(({ id, column }) => [id, columns[column] ?? '']));
}

/**
 * Drops empty catalogs that were never stored. The API shows them, so a client that writes back what it read must not be
 * refused for their empty required fields.
 *
 * @param common the flavor of the default catalog, which is always stored
 */
export function withoutUntouched(
  given: ReadonlyMap<string, CatalogValues>,
  stored: ReadonlyMap<string, CatalogValues>,
  common: string,
): Map<string, CatalogValues> {
  return new Map(
    [...given].filter(
      ([flavor, values]) => flavor === common || stored.has(flavor) || ![...values.values()].every(isEmpty),
    ),
  );
}

/** Returns the value of a field as a trimmed text; empty if missing. */
export function textIn(values: CatalogValues, id: string): string {
  const value: FieldValue = values.get(id) ?? '';
  return Array.isArray(value) ? value.join(', ') : value.trim();
}

/** Returns the value of a field as a list; empty if missing. */
function listIn(values: CatalogValues, id: string): string[] {
  const value = values.get(id) ?? [];
  return Array.isArray(value) ? value : [value].filter((item) => item !== '');
}

function filled(fields: readonly CoreField[], values: CatalogValues): Record<string, FieldValue> {
  const columns = withColumn(fields).map((field) => [
    field.column,
    takesList(field) ? listIn(values, field.id) : textIn(values, field.id),
  ]);
  return Object.fromEntries(columns);
}

type JsonName<F> = F extends { json: infer Name extends string } ? Name : never;

/** The properties of fields in the JSON of a resource. */
type ShownFields<F extends CoreField> = { [G in F as JsonName<G>]: ColumnValue<G> };

type Shape<F extends CoreField> = {
  [G in F as JsonName<G>]: ColumnValue<G> extends string ? z.ZodString : z.ZodArray<z.ZodString>;
};

/** Returns a function that converts a row to the properties of its fields. */
export function fieldsShown<F extends CoreField>(fields: readonly F[]): (row: Columns<F>) => ShownFields<F> {
  const names = shown(fields).map(({ column, json }) => [column, json] as const);
  return (row) => {
    const columns = row as Record<string, FieldValue | undefined>;
    const json: Record<string, FieldValue | undefined> = {};
    for (const [column, name] of names) json[name] = columns[column];
    return json as ShownFields<F>;
  };
}

/** Returns the schemas of these properties. */
export function shapeOf<F extends CoreField>(fields: readonly F[]): Shape<F> {
  const schemas = shown(fields).map((field) => [field.json, takesList(field) ? z.array(z.string()) : z.string()]);
  return Object.fromEntries(schemas);
}

/** Returns the API version that introduced each of these properties. */
export function sinceOf(fields: readonly CoreField[]): Since {
  return Object.fromEntries(shown(fields).flatMap(({ json, since }) => (since === undefined ? [] : [[json, since]])));
}

/** Returns the example of these properties. */
export function exampleOf<F extends CoreField>(fields: readonly F[]): ShownFields<F> {
  const values = shown(fields).map((field) => [field.json, field.example ?? (takesList(field) ? [] : '')]);
  return Object.fromEntries(values);
}

function shown<F extends CoreField>(fields: readonly F[]): (F & { column: string; json: string })[] {
  return withColumn(fields).filter((field): field is F & { column: string; json: string } => field.json !== undefined);
}

/** Returns the object with some properties first, to keep their order in answers and in the document. */
export function inOrder<T extends object>(first: readonly (keyof T)[], object: T): T {
  const entries = first.map((name) => [name, object[name]]);
  return { ...Object.fromEntries(entries), ...object };
}

type FilterName<F> = F extends { filter: { name: infer Name extends string } } ? Name : never;
type SortName<F> = F extends { sort: infer Name extends string } ? Name : never;

/** The filters and sort criteria of fields. */
interface ListedFields<F extends CoreField> {
  filters: Record<FilterName<F>, Filter>;
  filtersSince: Since;
  criteria: Record<SortName<F>, Criterion>;
}

export function filterNames<F extends CoreField>(fields: readonly F[]): FilterName<F>[] {
  return fields.flatMap(({ filter }) => (filter ? [filter.name as FilterName<F>] : []));
}

/** Returns the filters and sort criteria of fields. Each needs an index. */
export function listedFields<F extends CoreField>(table: string, fields: readonly F[]): ListedFields<F> {
  const filters: Record<string, Filter> = {};
  const filtersSince: Record<string, Since[string]> = {};
  const criteria: Record<string, Criterion> = {};
  for (const field of withColumn(fields)) {
    const { filter, sort } = field;
    const column = sql.ref(`${table}.${field.column}`);
    if (filter) {
      filters[filter.name] = filterOf(field, column, filter.repeated);
      const since = filter.since ?? field.since;
      if (since && since !== API_VERSIONS[0]) filtersSince[filter.name] = since;
    }
    if (sort !== undefined) {
      const text = takesList(field) ? sql`coalesce(${column}[1], '')` : column;
      criteria[sort] = { name: sort, expression: sql`${text} COLLATE "und-x-icu"`, kind: 'text' };
    }
  }
  return { filters, filtersSince, criteria } as ListedFields<F>;
}

function filterOf(field: CoreField, column: ReturnType<typeof sql.ref>, repeated: Filter['repeated']): Filter {
  if (takesList(field)) return { ...hasElement(column), repeated };
  if (isIndexable(field)) return equals(column);
  // Only a hash index holds texts of that length, and it has no order.
  return { condition: ([value]) => ({ test: sql`${column} = ${value}` }) };
}
