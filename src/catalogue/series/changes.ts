import type { Principal } from '#access/principal.ts';
import { recordChanges } from '#changes/record.ts';
import type { Transaction } from '#platform/database/kysely.ts';

/** Writes down that somebody has changed a part of a series. */
export async function recordChange(
  trx: Transaction,
  { id, principal, part }: { id: string; principal: Principal; part: 'metadata' | 'acl' | 'properties' },
): Promise<void> {
  const data = { parts: [part] };
  await recordChanges(trx, [{ kind: 'series.changed', seriesId: id, actor: principal.username, data }]);
}
