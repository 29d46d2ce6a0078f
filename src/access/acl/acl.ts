import { z } from 'zod';
import { refusal } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import { tryParseJson } from '#platform/text/json.ts';

/** Longer values do not fit into the database indexes. */
export const MAX_LENGTH = 255;
export const MAX_ENTRIES = 2000;
const MAX_SHOWN = 200;

const word = (description: string) =>
  z
    .string()
    .max(MAX_LENGTH)
    .refine((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed())
    .describe(description);
const action = word('`read`, `write`, or a custom action.');
const role = word('A role name.');
const allowed = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);

/** An entry with an explicit `allow`. */
export const StrictEntry = z
  .object({ allow: allowed, action, role })
  .meta({ id: 'StrictAclEntry', description: 'An access control list entry; all properties are required.' });

/** The list of a new series, or a replacement list. */
export const StrictAcl = z.array(StrictEntry).max(MAX_ENTRIES).meta({ id: 'StrictAcl' });

/** The list of an event in a create or update request. */
export const LenientAcl = z
  .array(z.object({ action, role }))
  .max(MAX_ENTRIES)
  .meta({ id: 'LenientAcl', description: 'Every entry allows; `allow` is ignored.' });

export const NewAcl = LenientAcl.nullable().meta({
  id: 'NewAcl',
  description: '`[]` grants nobody access; with `null`, the event uses the list of its series.',
});

export const Acl = z
  .array(z.object({ allow: z.boolean(), action: z.string(), role: z.string() }).meta({ id: 'AclEntry' }))
  .meta({ id: 'Acl', description: 'The actions that each role may perform.' });

export const ACL = [
  { allow: true, action: 'read', role: 'ROLE_STUDENT' },
  { allow: true, action: 'write', role: 'ROLE_LECTURER' },
];

export const UNPARSABLE_ACL = refusal(400, 'Unable to parse acl');
export const UNREADABLE_ACL = refusal(
  400,
  (text: unknown, reason: string) => `Unable to parse acl '${excerpt(text, MAX_SHOWN)}' because '${reason}'`,
  ['{', 'it is not valid JSON'],
);
export const ENTRY_INCOMPLETE = refusal(
  400,
  (entry: unknown) => {
    const sent = Object(entry) as Record<string, unknown>;
    const [action, allow, role] = ['action', 'allow', 'role'].map((name) => excerpt(sent[name], MAX_SHOWN));
    return `One of the access control elements is missing a property. The action was '${action}', allow was '${allow}' and the role was '${role}'`;
  },
  [{ action: 'read', role: 'ROLE_STUDENT' }],
);

export type AclEntry = z.infer<typeof Acl>[number];

/** Parses the ACL of a new or updated event. Each entry allows; `allow` is ignored (compatibility 3.5). */
export function parseAcl(text: string): AclEntry[] {
  return allowing(tryParseJson(text));
}

/** Parses like `parseAcl`, but returns null for `null`: the event has no own ACL. */
export function parseNewAcl(text: string): AclEntry[] | null {
  return tryParseJson(text) === null ? null : parseAcl(text);
}

/** Returns an entry that allows. @throws {HttpError} 400 `Unable to parse acl` for an invalid action or role */
export function allowingEntry(action: string, role: string): AclEntry {
  const entry = { action, role };
  allowing([entry]);
  return { allow: true, ...entry };
}

function allowing(json: unknown): AclEntry[] {
  const parsed = LenientAcl.safeParse(json);
  if (!parsed.success) throw UNPARSABLE_ACL();
  return distinctEntries(parsed.data.map(({ action, role }) => ({ allow: true, action, role })));
}

/** Parses a replacement ACL, or that of a new series; each entry needs all properties (compatibility 3.8). */
export function parseStrictAcl(text: string): AclEntry[] {
  const json = tryParseJson(text);
  if (!Array.isArray(json))
    throw UNREADABLE_ACL(text, json === undefined ? 'it is not valid JSON' : 'it is not an array');
  if (json.length > MAX_ENTRIES) throw UNREADABLE_ACL(text, `it has more than ${MAX_ENTRIES} entries`);
  return distinctEntries(
    json.map((entry) => {
      const parsed = StrictEntry.safeParse(entry);
      if (!parsed.success) throw ENTRY_INCOMPLETE(entry);
      return parsed.data;
    }),
  );
}

/** Drops all but the last entry of each pair of role and action. */
export function distinctEntries(entries: AclEntry[]): AclEntry[] {
  return [...new Map(entries.map((entry) => [`${entry.action}\0${entry.role}`, entry])).values()];
}
