import { refusal } from '#platform/http/errors/refusal.ts';
import { LenientAcl, MAX_ENTRIES, StrictEntry } from './acl.schemas.ts';

export const UNPARSABLE_ACL = refusal(400, 'Unable to parse acl');
export const UNREADABLE_ACL = refusal(
  400,
  (text: unknown, reason: string) => `Unable to parse acl '${shown(text)}' because '${reason}'`,
  ['{', 'it is not JSON'],
);
export const ENTRY_INCOMPLETE = refusal(
  400,
  (entry: unknown) => {
    const { action, allow, role } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<
      string,
      unknown
    >;
    return `One of the access control elements is missing a property. The action was '${shown(action)}', allow was '${shown(allow)}' and the role was '${shown(role)}'`;
  },
  [{ action: 'read', role: 'ROLE_STUDENT' }],
);

/** One line of an access control list: whether a role may do something. */
export interface AclEntry {
  allow: boolean;
  action: string;
  role: string;
}

/**
 * Reads the ACL of an event that is created or updated. Each entry needs a role and an action; it allows, whatever its
 * `allow` says (compatibility 3.5). Repeated entries are dropped.
 *
 * @throws {HttpError} 400 `Unable to parse acl`
 */
export function parseAcl(text: string): AclEntry[] {
  return allowing(jsonOf(text));
}

/**
 * Reads the ACL of a new event, as `parseAcl` does.
 *
 * @returns null for `null`: the event is to have none of its own
 * @throws {HttpError} 400 `Unable to parse acl`
 */
export function parseNewAcl(text: string): AclEntry[] | null {
  return jsonOf(text) === null ? null : parseAcl(text);
}

/** The entry that lets a role do something. @throws {HttpError} 400 `Unable to parse acl` for impossible words */
export function allowingEntry(action: string, role: string): AclEntry {
  const entry = { action, role };
  allowing([entry]);
  return { allow: true, ...entry };
}

function allowing(json: unknown): AclEntry[] {
  const parsed = LenientAcl.safeParse(json);
  if (!parsed.success) throw UNPARSABLE_ACL();
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
  if (!Array.isArray(json)) throw UNREADABLE_ACL(text, json === undefined ? 'it is not JSON' : 'it is not an array');
  if (json.length > MAX_ENTRIES) throw UNREADABLE_ACL(text, `it has more than ${MAX_ENTRIES} entries`);
  return distinct(json.map((entry) => strictEntry(entry)));
}

function strictEntry(entry: unknown): AclEntry {
  const parsed = StrictEntry.safeParse(entry);
  if (parsed.success) return parsed.data;
  throw ENTRY_INCOMPLETE(entry);
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

/** What was sent, as it stands in a sentence; what is no single value by its kind, since it may be nested too deeply. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value).slice(0, 200).toWellFormed();
}
