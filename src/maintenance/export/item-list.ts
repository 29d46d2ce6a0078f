import type pg from 'pg';
import type { ItemKind } from '../import/folder-format.ts';

/** The items to export; everything by default. */
export interface ExportChoice {
  /** Only this series and its events. */
  seriesId: string | null;
  /** Only events that start at this time or later, their series, and later series. */
  since: Date | null;
}

/** Conditions with the series as $1 and the time as $2. Playlists and groups belong to whole catalogues only. */
const LISTS: Record<ItemKind, string> = {
  series: `SELECT id FROM series WHERE ($1::text IS NULL OR id = $1) AND ($2::timestamptz IS NULL OR created >= $2
    OR EXISTS (SELECT FROM events WHERE series_id = series.id AND start_date >= $2)) ORDER BY created, id`,
  events: `SELECT id FROM events WHERE ($1::text IS NULL OR series_id = $1)
    AND ($2::timestamptz IS NULL OR start_date >= $2) ORDER BY start_date, id`,
  playlists: 'SELECT id FROM playlists WHERE $1::text IS NULL AND $2::timestamptz IS NULL ORDER BY id',
  groups: 'SELECT id FROM user_groups WHERE $1::text IS NULL AND $2::timestamptz IS NULL ORDER BY id',
};
const BATCH = 100;

/** The number of items to export and the size of their files. */
export interface ExportTotals {
  series: number;
  events: number;
  bytes: number;
}

/**
 * Lists all items as of one moment, the earliest first. The server keeps the lists until the connection ends, without an
 * open transaction. The client must not be used for anything else.
 */
export async function listItems(client: pg.Client, { seriesId, since }: ExportChoice): Promise<ExportTotals> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  for (const [kind, list] of Object.entries(LISTS))
    await client.query(`DECLARE listed_${kind} NO SCROLL CURSOR WITH HOLD FOR ${list}`, [seriesId, since]);
  const { rows } = await client.query<Record<keyof ExportTotals, string>>(
    `WITH chosen AS (${LISTS.events})
     SELECT (SELECT count(*) FROM (${LISTS.series}) AS listed) AS series, (SELECT count(*) FROM chosen) AS events, (SELECT coalesce(sum(size), 0) FROM (
       SELECT event_id, size FROM tracks UNION ALL SELECT event_id, size FROM attachments
       UNION ALL SELECT event_id, size FROM publication_elements WHERE kind <> 'piece'
     ) AS file JOIN chosen ON chosen.id = event_id) AS bytes`,
    [seriesId, since],
  );
  await client.query('COMMIT');
  const [totals] = rows;
  return { series: Number(totals?.series), events: Number(totals?.events), bytes: Number(totals?.bytes) };
}

/** Reads the identifiers of listed items, in batches. */
export async function* listedIds(client: pg.Client, kind: ItemKind): AsyncGenerator<string[]> {
  for (;;) {
    const { rows } = await client.query<{ id: string }>(`FETCH ${BATCH} FROM listed_${kind}`);
    if (rows.length > 0) yield rows.map(({ id }) => id);
    if (rows.length < BATCH) return;
  }
}
