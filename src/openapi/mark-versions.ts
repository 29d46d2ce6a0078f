import { INTRODUCED } from '../http/api-changes.ts';

interface ObjectSchema {
  'x-part'?: keyof typeof INTRODUCED;
  'x-required-since'?: Record<string, string>;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/**
 * Tells what came with which version (`http/api-changes.ts`): a property that the first one did not have gets
 * `x-since`, and is not required. `x-required-since` says from which version on it is there all the same.
 */
export function markVersions<D extends { components?: { schemas?: object } }>(document: D): D {
  for (const schema of Object.values(document.components?.schemas ?? {}) as ObjectSchema[]) {
    const part = schema['x-part'];
    if (!part) continue;
    delete schema['x-part'];
    const since: Record<string, string> = INTRODUCED[part];
    const later = Object.keys(schema.properties ?? {}).filter((name) => Object.hasOwn(since, name));
    for (const name of later) {
      const property = schema.properties?.[name] ?? {};
      // Beside a reference other keywords are allowed since 3.1.
      property['x-since'] = since[name];
      if (!schema.required?.includes(name)) continue;
      schema.required = schema.required.filter((each) => each !== name);
      schema['x-required-since'] = { ...schema['x-required-since'], [name]: since[name] ?? '' };
    }
  }
  return document;
}
