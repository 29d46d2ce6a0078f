import type { CoreField } from './core-field.ts';
import { typeJson } from './json.ts';
import type { FieldJson } from './schemas.ts';

/** Returns examples of some fields of a default catalog. */
export function exampleFields(fields: readonly CoreField[], ids: readonly string[]): FieldJson[] {
  return fields
    .filter(({ id }) => ids.includes(id))
    .map(({ id, label, type, readOnly, required, example = '' }) => ({
      id,
      label,
      value: typeof example === 'string' ? example : [...example],
      type: typeJson(type),
      readOnly,
      required,
    }));
}

/** Returns the properties of fields that a client sends. */
export function sentFields(fields: readonly { id: string; value: unknown }[]) {
  return fields.map(({ id, value }) => ({ id, value }));
}
