import { type ApiVersion, atLeast } from '../../src/http/version.ts';

interface VersionedSchema {
  properties?: Record<string, { 'x-since'?: ApiVersion }>;
  required?: string[];
  'x-required-since'?: Record<string, ApiVersion>;
}

/** A schema, and those in it, as exact as it is for one version: later properties are gone, all others required. */
export function atVersion<T>(schema: T, version: ApiVersion): T {
  if (Array.isArray(schema)) return schema.map((each) => atVersion(each, version)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, atVersion(value, version)]);
  const copy = Object.fromEntries(entries) as VersionedSchema;
  for (const [name, property] of Object.entries(copy.properties ?? {})) {
    const since = property['x-since'];
    if (since && !atLeast(version, since)) delete copy.properties?.[name];
  }
  const since = Object.entries(copy['x-required-since'] ?? {});
  const required = since.filter(([, introduced]) => atLeast(version, introduced)).map(([name]) => name);
  if (required.length > 0) copy.required = [...(copy.required ?? []), ...required];
  return copy as T;
}
