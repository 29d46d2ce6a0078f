import { z } from 'zod';

/** Longer values do not fit into the database indexes. */
export const MAX_LENGTH = 255;
export const MAX_ENTRIES = 2000;

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
