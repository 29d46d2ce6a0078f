import { type CatalogValues, type FieldValue, isEmpty, takesList } from './catalog.ts';
import type { ColumnValue, CoreField } from './core-field.ts';

/** The columns of fields, with their values. */
export type Columns<F extends CoreField> = {
  [G in F as G extends { column: infer Name extends string } ? Name : never]: ColumnValue<G>;
};

type ColumnName<F extends CoreField> = keyof Columns<F> & string;

/** The fields that have a column. */
export function withColumn<F extends CoreField>(fields: readonly F[]): (F & { column: string })[] {
  return fields.filter((field): field is F & { column: string } => field.column !== undefined);
}

/** The names of the columns of fields. */
export function columnNames<F extends CoreField>(fields: readonly F[]): ColumnName<F>[] {
  return withColumn(fields).map(({ column }) => column as ColumnName<F>);
}

/** The columns of all fields; empty where no value is given. */
export function columnsOf<F extends CoreField>(fields: readonly F[], values: CatalogValues): Columns<F> {
  return filled(fields, values) as Columns<F>;
}

/** The columns of the fields that are given; those that can only be read are not among them. */
export function givenColumns<F extends CoreField>(fields: readonly F[], values: CatalogValues): Partial<Columns<F>> {
  const given = fields.filter(({ id, readOnly }) => values.has(id) && !readOnly);
  return filled(given, values) as Partial<Columns<F>>;
}

/** Those of the columns that hold something else in a row. */
export function differingColumns<T extends Record<string, FieldValue>>(columns: T, row: object): Partial<T> {
  const current = row as Record<string, FieldValue>;
  const differing = Object.entries(columns).filter(([name, value]) => !isSame(value, current[name] ?? ''));
  return Object.fromEntries(differing) as Partial<T>;
}

/** The values of the fields that have a column, by field. */
export function valuesOf<F extends CoreField>(fields: readonly F[], row: Columns<F>): CatalogValues {
  const columns = row as Record<string, FieldValue>;
  return new Map(withColumn(fields).map(({ id, column }) => [id, columns[column] ?? '']));
}

/**
 * Leaves out the catalogs that are given as those never stored are shown: with nothing in them. Who writes all catalogs
 * back as they are shown must not be refused for a required field that is empty.
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

/** The value of a field as one text, without blanks around it; empty when it is not given. */
export function textIn(values: CatalogValues, id: string): string {
  const value: FieldValue = values.get(id) ?? '';
  return Array.isArray(value) ? value.join(', ') : value.trim();
}

/** The value of a field as a list; empty when it is not given. */
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

function isSame(a: FieldValue, b: FieldValue): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
