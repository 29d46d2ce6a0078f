import type { AclEntry } from '../access/acl.ts';
import { badRequest } from '../http/errors.ts';
import type { RecordingPlan } from '../recordings/schedules/plan.ts';

/** ACL entries that one request may write, those of all its events together. */
const MAX_ENTRIES = 100_000;
/** Characters of metadata, configuration and inputs that one request may write, those of all its events together. */
const MAX_CHARACTERS = 2_000_000;
const COPIED = ['metadata', 'processing', 'scheduling'];

/**
 * Refuses what each of many events would have a copy of, when it is too much for all of them together.
 *
 * @throws {HttpError} 400
 */
export function requireReasonable(
  { periods }: RecordingPlan,
  { acl, fields }: { acl: readonly AclEntry[]; fields: ReadonlyMap<string, string> },
): void {
  if (periods.length === 1) return;
  if (acl.length * periods.length > MAX_ENTRIES) {
    throw badRequest(
      `The part 'acl' has ${acl.length} entries, and by the part 'scheduling' there are ${periods.length} events; allowed are ${MAX_ENTRIES} entries for all events together.`,
    );
  }
  for (const name of COPIED) {
    const characters = fields.get(name)?.trim().length ?? 0;
    if (characters * periods.length <= MAX_CHARACTERS) continue;
    throw badRequest(
      `The part '${name}' has ${characters} characters, and by the part 'scheduling' there are ${periods.length} events; allowed are ${MAX_CHARACTERS} characters for all events together.`,
    );
  }
}
