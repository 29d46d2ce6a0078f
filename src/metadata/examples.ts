import type { CoreField } from './core-field.ts';
import { typeJson } from './json.ts';
import type { FieldJson } from './schemas.ts';

/** Some fields of a default catalog as the reference document shows them. */
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

/** What a client sends of metadata, from what it reads. */
export function sentFields(fields: readonly { id: string; value: unknown }[]) {
  return fields.map(({ id, value }) => ({ id, value }));
}
