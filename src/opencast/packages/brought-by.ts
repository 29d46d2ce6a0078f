import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Principal } from '#access/principal.ts';

/** A condition: the account has brought the first recording of the event with this identifier, whoever may change it now. */
export function broughtBy(eventId: Expression<string>, { username }: Principal): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce((SELECT creator FROM workflows AS first WHERE first.event_id = ${eventId} ORDER BY first.id LIMIT 1) = ${username}, false)`;
}
