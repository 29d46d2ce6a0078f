import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { takesList } from '#metadata/catalog.ts';
import { type CoreField, withColumn } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { isIndexable } from '#metadata/field-values.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import { calendarTag } from '#opencast/calendar/schedule-window.ts';
import { databaseForThisFile } from '../support/database.ts';
import { insertEvent } from '../support/publication.ts';
import { insertScheduled } from '../support/scheduled-event.ts';

const db = databaseForThisFile();
type Field = CoreField & { column: string };
const eventFields: Field[] = withColumn(EVENT_CORE_FIELDS);
const seriesFields: Field[] = withColumn(SERIES_CORE_FIELDS);

/** Sets the column of a field to a word that is nowhere else; of events as their writer does, with another version. */
async function give(table: 'events' | 'series', id: string, field: Field) {
  const word = `word${randomUUID()}`;
  const value = takesList(field) ? [word] : word;
  const version = table === 'events' ? sql`, archive_version = archive_version + 1` : sql``;
  await sql`UPDATE ${sql.table(table)} SET ${sql.ref(field.column)} = ${value} ${version} WHERE id = ${id}`.execute(
    db.database,
  );
  return word;
}

async function searchTextOf(table: 'events' | 'series', id: string): Promise<string> {
  const row = db.database.selectFrom(table).select('search_text').where('id', '=', id);
  return (await row.executeTakeFirstOrThrow()).search_text;
}

/** What the definition of the index begins with that a filter or a sort criterion needs. */
function neededIndexes(field: Field, order: string): string[] {
  const { column: name, filter, sort } = field;
  const text = takesList(field) ? `COALESCE(${name}[1], ''::text)` : name;
  const ofValue = isIndexable(field) ? `btree (${name}, ${order}, id)` : `hash (${name})`;
  return [
    ...(filter ? [takesList(field) ? `gin (${name})` : ofValue] : []),
    ...(sort ? [`btree (${text} COLLATE "und-x-icu", id)`] : []),
  ];
}

describe.each([
  { table: 'events', order: 'start_date', fields: eventFields },
  { table: 'series', order: 'created', fields: seriesFields },
] as const)('fields of $table', ({ table, order, fields }) => {
  test.each(fields)('what is searched holds $id', async (field) => {
    const id = randomUUID();
    if (table === 'events') await insertEvent(db.database, { id });
    else await db.database.insertInto('series').values({ id, creator: 'admin' }).execute();
    const word = await give(table, id, field);
    expect(await searchTextOf(table, id)).toContain(word);
  });

  test('have the indexes that their filters and sort criteria need', async () => {
    const found = await sql<{ indexdef: string }>`
      SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename = ${table}`.execute(
      db.database,
    );
    const definitions = found.rows.map(({ indexdef }) => indexdef);
    const needed = fields.flatMap((field) => neededIndexes(field, order));
    expect(needed.filter((index) => !definitions.some((each) => each.includes(index)))).toEqual([]);
  });
});

test.each(eventFields)('an agent hears of another $id', async (field) => {
  const agentId = `agent-${randomUUID()}`;
  const day = '2031-04-13';
  const times = { start: `${day}T10:00:00Z`, end: `${day}T11:00:00Z` };
  const id = await insertScheduled(db.database, { agent_id: agentId, ...times });
  const tag = () => calendarTag(db.database, { agentId, seriesId: undefined, cutoff: undefined });
  const before = await tag();
  await give('events', id, field);
  expect(await tag()).not.toBe(before);
});
