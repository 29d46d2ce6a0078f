import { z } from 'zod';
import { badRequest } from '../http/errors.ts';

/** One line of an access control list: whether a role may do something. */
export interface AclEntry {
  allow: boolean;
  action: string;
  role: string;
}

/** Longer ones do not fit into the database's indexes. */
const MAX_LENGTH = 255;
const word = z
  .string()
  .max(MAX_LENGTH)
  .refine((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());
const Acl = z.array(z.object({ action: word, role: word }));

/**
 * Reads the ACL of an event that is created or updated. Each entry needs a role and an action; it allows, whatever its
 * `allow` says (compatibility 3.5). Repeated entries are dropped.
 *
 * @throws {HttpError} 400 `Unable to parse acl`
 */
export function parseAcl(text: string): AclEntry[] {
  const parsed = Acl.safeParse(parseJson(text));
  if (!parsed.success) throw unreadable();
  const entries = parsed.data.map(({ action, role }) => ({ allow: true, action, role }));
  return [...new Map(entries.map((entry) => [`${entry.action}\0${entry.role}`, entry])).values()];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}

const unreadable = () => badRequest('Unable to parse acl');
