import { z } from 'zod';

/** Longer ones do not fit into the database's indexes. */
export const MAX_LENGTH = 255;
/** How many entries a list may have. */
export const MAX_ENTRIES = 2000;

const word = (description: string) =>
  z
    .string()
    .max(MAX_LENGTH)
    .refine((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed())
    .describe(description);
const action = word('`read`, `write`, or an action of your own.');
const role = word('The name of a role.');
const allowed = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);

/** An entry that says itself whether it allows. */
export const StrictEntry = z
  .object({ allow: allowed, action, role })
  .meta({ id: 'StrictAclEntry', description: 'A line of an access control list; nothing may be missing.' });

/** The list that replaces another one, or that of a new series. */
export const StrictAcl = z.array(StrictEntry).max(MAX_ENTRIES).meta({ id: 'StrictAcl' });

/** The list that an event gets anew. */
export const LenientAcl = z
  .array(z.object({ action, role }))
  .max(MAX_ENTRIES)
  .meta({ id: 'LenientAcl', description: 'Every entry allows, whatever its `allow` says.' });

/** The list of a new event. */
export const NewAcl = LenientAcl.nullable().meta({
  id: 'NewAcl',
  description: '`[]` opens the event to nobody; with `null` it has no list of its own, and that of its series holds.',
});

/** An access control list as it is answered. */
export const Acl = z
  .array(z.object({ allow: z.boolean(), action: z.string(), role: z.string() }).meta({ id: 'AclEntry' }))
  .meta({ id: 'Acl', description: 'Which role may do what.' });

/** An access control list as the reference document shows it. */
export const ACL = [
  { allow: true, action: 'read', role: 'ROLE_STUDENT' },
  { allow: true, action: 'write', role: 'ROLE_LECTURER' },
];
