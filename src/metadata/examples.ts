import type { FieldJson } from './schemas.ts';

/** A metadata field as the reference document shows it. @param prefix of its label */
export const exampleField =
  (prefix: string) =>
  (id: string, label: string, type: FieldJson['type'], value: string | string[]): FieldJson => ({
    id,
    label: `${prefix}${label}`,
    value,
    type,
    readOnly: false,
    required: id === 'title',
  });

/** What a client sends of metadata, from what it reads. */
export function sentFields(fields: readonly { id: string; value: unknown }[]) {
  return fields.map(({ id, value }) => ({ id, value }));
}
