import { z } from 'zod';
import { badRequest } from '../http/errors.ts';

/** Longer ones do not fit into the database's indexes. */
const MAX_LENGTH = 255;
const MAX_ENTRIES = 2000;

const word = z
  .string()
  .max(MAX_LENGTH)
  .refine((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());
const allowed = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);

/** One line of an access control list: whether a role may do something. */
export interface AclEntry {
  allow: boolean;
  action: string;
  role: string;
}

const LenientAcl = z.array(z.object({ action: word, role: word })).max(MAX_ENTRIES);
const StrictEntry = z.object({ allow: allowed, action: word, role: word });

/**
 * Reads the ACL of an event that is created or updated. Each entry needs a role and an action; it allows, whatever its
 * `allow` says (compatibility 3.5). Repeated entries are dropped.
 *
 * @throws {HttpError} 400 `Unable to parse acl`
 */
export function parseAcl(text: string): AclEntry[] {
  const parsed = LenientAcl.safeParse(jsonOf(text));
  if (!parsed.success) throw badRequest('Unable to parse acl');
  return distinct(parsed.data.map(({ action, role }) => ({ allow: true, action, role })));
}

/**
 * Reads the ACL that replaces another one, or that of a new series: each entry needs all three properties
 * (compatibility 3.8). Of repeated entries the last one counts.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export function parseStrictAcl(text: string): AclEntry[] {
  const json = jsonOf(text);
  if (!Array.isArray(json))
    throw unreadable(text, json === undefined ? 'it is not JSON' : 'it is not an array');
  if (json.length > MAX_ENTRIES) throw unreadable(text, `it has more than ${MAX_ENTRIES} entries`);
  return distinct(json.map((entry) => strictEntry(entry)));
}

function strictEntry(entry: unknown): AclEntry {
  const parsed = StrictEntry.safeParse(entry);
  if (parsed.success) return parsed.data;
  const { action, allow, role } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<
    string,
    unknown
  >;
  throw badRequest(
    `One of the access control elements is missing a property. The action was '${shown(action)}', allow was '${shown(allow)}' and the role was '${shown(role)}'`,
  );
}

function distinct(entries: AclEntry[]): AclEntry[] {
  return [...new Map(entries.map((entry) => [`${entry.action}\0${entry.role}`, entry])).values()];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable(text: string, reason: string) {
  return badRequest(`Unable to parse acl '${shown(text)}' because '${reason}'`);
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200);
}
