import { z } from 'zod';
import type { Since } from '#platform/http/answer/version.ts';
import { type FieldValue, takesList } from './catalog.ts';
import { type Columns, withColumn } from './columns.ts';
import type { ColumnValue, CoreField } from './core-field.ts';

type JsonName<F> = F extends { json: infer Name extends string } ? Name : never;

/** The properties of fields in the JSON of a resource. */
export type ShownFields<F extends CoreField> = { [G in F as JsonName<G>]: ColumnValue<G> };

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
