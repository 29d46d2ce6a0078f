import type { CatalogValues, FieldValue } from './catalog.ts';

/** The fields of a table that says which column each of them fills. */
export function columnsOf<T extends Record<string, string>>(
  table: T,
): [id: keyof T & string, column: T[keyof T]][] {
  return Object.entries(table) as [keyof T & string, T[keyof T]][];
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
