import { type AliasableExpression, type Expression, type SqlBool, sql } from 'kysely';

/** A condition: the event with this identifier has tracks that are to be seen or heard; captions and documents are neither. */
export function hasMedia(eventId: Expression<string>): AliasableExpression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT FROM tracks WHERE tracks.event_id = ${eventId} AND tracks.is_media)`;
}
