import { isDeepStrictEqual } from 'node:util';
import { type CatalogValues, type FieldValue, isEmpty, takesList } from './catalog.ts';
import type { ColumnValue, CoreField } from './core-field.ts';

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
export function listIn(values: CatalogValues, id: string): string[] {
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
