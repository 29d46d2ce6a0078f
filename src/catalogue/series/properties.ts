import type { Principal } from '#access/principal.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { checked } from '#platform/http/endpoint/check.ts';
import { recordChange } from './changes.ts';
import { PropertyName, PropertyValue } from './properties.schemas.ts';
import { findProperties, lockSeries } from './queries.ts';
import {
  ACL_MISSING,
  GONE,
  PROPERTIES_TOO_LONG,
  PROPERTIES_UNPARSABLE,
  TOO_MANY_PROPERTIES,
} from './refusals.ts';

const MAX_PROPERTIES = 1000;
/** All names and values of a series together. */
const TOTAL_BYTES = 2 ** 20;

/** Free pairs of strings, by name. */
export type Properties = Map<string, string>;

/**
 * Reads the form field `properties` (compatibility 4.9). A value that is no string is taken as its JSON text.
 *
 * @throws {HttpError} 400
 */
export function parseProperties(text: string): Properties {
  if (text.trim() === '') throw ACL_MISSING();
  const json = jsonOf(text);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw PROPERTIES_UNPARSABLE();
  const properties: Properties = new Map();
  for (const [name, value] of Object.entries(json)) {
    properties.set(checked(PropertyName, name), checked(PropertyValue, value));
  }
  return properties;
}

/**
 * Adds properties to a series, or gives them other values; the others stay.
 *
 * @throws {HttpError} 404 for a series the principal may not read, 401 for one it may only read, 400 for more than a
 *   series can have
 */
export async function mergeProperties(
  trx: Transaction,
  { principal, id, changes }: { principal: Principal; id: string; changes: Properties },
): Promise<void> {
  await lockSeries(trx, principal, id, GONE);
  const present = await findProperties(trx, id, principal);
  const merged = new Map([...Object.entries(present ?? {}), ...changes]);
  if (merged.size > MAX_PROPERTIES) throw TOO_MANY_PROPERTIES(MAX_PROPERTIES);
  const properties = JSON.stringify(Object.fromEntries(merged));
  if (Buffer.byteLength(properties) > TOTAL_BYTES) throw PROPERTIES_TOO_LONG(TOTAL_BYTES);
  await trx.updateTable('series').set({ properties }).where('id', '=', id).execute();
  await recordChange(trx, { id, principal, part: 'properties' });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw PROPERTIES_UNPARSABLE();
  }
}
