import type { Since } from '#platform/http/answer/version.ts';

interface ObjectSchema {
  'x-introduced'?: Since;
  'x-required-since'?: Record<string, string>;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/**
 * Tells what came with which version, by the table that a schema carries as `x-introduced`: a property that the first
 * version did not have gets `x-since`, and is not required. `x-required-since` says from which version on it is there
 * all the same.
 */
export function markVersions<D extends { components?: { schemas?: object } }>(document: D): D {
  for (const schema of Object.values(document.components?.schemas ?? {}) as ObjectSchema[]) {
    const since = schema['x-introduced'];
    if (!since) continue;
    delete schema['x-introduced'];
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
