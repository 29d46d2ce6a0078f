import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../src/platform/database/kysely.ts';
import type { DB } from '../../../src/platform/database/schema.ts';
import { withoutIndexesAndTriggers } from '../setup/bulk.ts';

/** The roles of the person who may read one event in a thousand: spread over all years, or nothing but the oldest. */
export const SPREAD_ROLE = 'ROLE_BENCH_SPREAD';
export const OLDEST_ROLE = 'ROLE_BENCH_OLDEST';

const SYLLABLES = 'ka lo mi tra ven sel dor gis ump ber nau fro pli ost qua rin tem zul hek bya'.split(' ');

/**
 * Fills empty tables with events and a tenth as many series, distributed as in a university's catalogue: some values
 * are everywhere, many are rare. Plain SQL with the indexes dropped meanwhile; the derived columns are made by the
 * functions that the triggers use.
 */
export async function seedLists(database: Database, events: number): Promise<void> {
  await database.connection().execute(async (connection) => {
    await sql`SELECT setseed(0.42)`.execute(connection);
    await sql`SET synchronous_commit = off`.execute(connection);
    await sql`SET maintenance_work_mem = '512MB'`.execute(connection);
    await withoutIndexesAndTriggers(
      connection,
      ['events', 'series', 'event_acl', 'series_acl', 'publication_elements'],
      async () => {
        await makeWords(connection);
        await insertSeries(connection, Math.ceil(events / 10));
        await insertEvents(connection, events);
        await insertAcls(connection);
        await insertPublications(connection);
      },
    );
    await sql`DROP FUNCTION pg_temp.word`.execute(connection);
  });
  for (const table of ['events', 'series', 'event_acl', 'series_acl', 'publications', 'publication_elements']) {
    await sql`VACUUM (ANALYZE) ${sql.table(table)}`.execute(database);
  }
}

/** Gives a word made of syllables; some words come often, most seldom. */
async function makeWords(database: Kysely<DB>): Promise<void> {
  const syllable = (n: string) => `(ARRAY['${SYLLABLES.join("','")}'])[1 + ${n} % ${SYLLABLES.length}]`;
  await sql
    .raw(
      `CREATE FUNCTION pg_temp.word() RETURNS text VOLATILE LANGUAGE sql AS $$
         SELECT ${syllable('n')} || ${syllable('n / 20')} || CASE WHEN n < 400 THEN '' ELSE ${syllable('n / 400')} END
         FROM (SELECT floor(8000 * power(random(), 3))::integer OFFSET 0) AS drawn(n) $$`,
    )
    .execute(database);
}

async function insertSeries(database: Kysely<DB>, count: number): Promise<void> {
  await sql`
    INSERT INTO series (id, title, description, subjects, language, rights_holder, license, organizers, contributors,
      publishers, creator, created, read_roles, search_text)
    SELECT id, title, description, subjects, language, rights_holder, license, organizers, contributors, publishers,
      creator, created, ${roles('chance', sql`created`)}, searchable(id, title, description, array_to_string(subjects, ' '), language,
        rights_holder, license, array_to_string(organizers, ' '), array_to_string(contributors, ' '),
        array_to_string(publishers, ' '), creator)
    FROM (
      SELECT 'series-' || n AS id,
        CASE WHEN random() < 0.2 THEN 'Seminar ' || n % 20
          ELSE initcap(pg_temp.word()) || ' ' || pg_temp.word() || ' ' || n END AS title,
        CASE WHEN random() < 0.3 THEN pg_temp.word() || ' ' || pg_temp.word() || ' ' || n ELSE '' END
          AS description,
        ARRAY['Subject ' || floor(300 * power(random(), 3))] AS subjects,
        (ARRAY['deu', 'deu', 'deu', 'eng', 'eng', '', 'fra'])[1 + floor(7 * random())] AS language,
        'Faculty ' || floor(20 * power(random(), 2)) AS rights_holder,
        (ARRAY['CC-BY', 'ALLRIGHTS', ''])[1 + floor(3 * power(random(), 2))] AS license,
        ARRAY['Professor ' || floor(2000 * power(random(), 2))] AS organizers,
        CASE WHEN random() < 0.2 THEN ARRAY['Assistant ' || floor(5000 * random())] ELSE '{}' END AS contributors,
        ARRAY['University'] AS publishers,
        'user' || floor(500 * power(random(), 2)) AS creator,
        '2016-01-01Z'::timestamptz + random() * interval '10 years' AS created,
        random() AS chance
      FROM generate_series(1, ${count}::integer) AS n OFFSET 0) AS made`.execute(database);
}

async function insertEvents(database: Kysely<DB>, count: number): Promise<void> {
  const series = Math.ceil(count / 10);
  await sql`
    INSERT INTO events (id, title, description, subjects, language, rights_holder, license, presenters, contributors,
      location, source, publisher, series_id, start_date, created, duration, creator, processing_state, agent_id, end_date,
      technical_start, technical_end, series_title, read_roles, write_roles, search_text)
    SELECT made.id, made.title, made.description, made.subjects, made.language, made.rights_holder, made.license,
      presenters, made.contributors, location, source, publisher, series_id, start_date, start_date, duration,
      made.creator, processing_state, agent_id, start_date + make_interval(secs => duration / 1000), start_date,
      start_date + make_interval(secs => duration / 1000), coalesce(series.title, ''),
      ${roles('made.chance', sql`start_date`)}, ARRAY['ROLE_COURSE_' || floor(made.chance * 5000) || '_TEACHER'],
      searchable(made.id, made.title, made.description, array_to_string(made.subjects, ' '), made.language,
        made.rights_holder, made.license, array_to_string(presenters, ' '), array_to_string(made.contributors, ' '),
        location, source, publisher, series_id, series.title, made.creator)
    FROM (
      SELECT gen_random_uuid()::text AS id,
        CASE WHEN random() < 0.2 THEN 'Lecture ' || n % 20
          ELSE initcap(pg_temp.word()) || ' ' || pg_temp.word() || ' ' || n END AS title,
        CASE WHEN random() < 0.4 THEN concat_ws(' ', pg_temp.word(), pg_temp.word(), pg_temp.word(),
          pg_temp.word(), 'part', n % 30000) ELSE '' END AS description,
        ARRAY(SELECT DISTINCT 'Subject ' || floor(300 * power(random(), 3)) FROM generate_series(0, n % 3)) AS subjects,
        (ARRAY['deu', 'deu', 'deu', 'deu', 'deu', 'deu', 'eng', 'eng', 'eng', '',
          'lang' || floor(50 * power(random(), 3))])[1 + floor(11 * random())] AS language,
        'Faculty ' || floor(50 * power(random(), 2)) AS rights_holder,
        (ARRAY['CC-BY', 'ALLRIGHTS', 'CC-BY-SA', ''])[1 + floor(4 * power(random(), 2))] AS license,
        ARRAY['Professor ' || floor(20000 * power(random(), 2))] AS presenters,
        CASE WHEN random() < 0.2 THEN ARRAY['Assistant ' || floor(5000 * random())] ELSE '{}' END AS contributors,
        CASE WHEN random() < 0.4 THEN '' ELSE 'Hall ' || floor(200 * power(random(), 2)) END AS location,
        CASE WHEN random() < 0.9 THEN '' ELSE 'Archive ' || floor(1000 * random()) END AS source,
        'University' AS publisher,
        CASE WHEN random() < 0.85 THEN 'series-' || 1 + floor(${series}::integer * power(random(), 2)) END AS series_id,
        date_trunc('hour', '2016-01-01Z'::timestamptz + random() * interval '10 years') AS start_date,
        2700000 + floor(2700 * random())::bigint * 1000 AS duration,
        'user' || floor(500 * power(random(), 2)) AS creator,
        (ARRAY['SUCCEEDED', 'FAILED', '', 'PAUSED', 'STOPPED', 'RUNNING', 'INSTANTIATED'])
          [1 + floor(7 * power(random(), 20))] AS processing_state,
        CASE WHEN random() < 0.6 THEN '' ELSE 'agent-' || floor(200 * power(random(), 2)) END AS agent_id,
        random() AS chance
      FROM generate_series(1, ${count}::integer) AS n OFFSET 0) AS made
    LEFT JOIN series ON series.id = made.series_id`.execute(database);
}

/** Everything belongs to a course, one in ten is public; one in a thousand each is for the roles above. */
function roles(chance: string, date: RawBuilder<unknown>) {
  const parts = sql`floor(${sql.ref(chance)} * 1000000)::integer`;
  return sql`array_remove(ARRAY['ROLE_COURSE_' || floor(${sql.ref(chance)} * 5000),
    CASE WHEN ${parts} % 10 = 0 THEN 'ROLE_ANONYMOUS' END,
    CASE WHEN ${parts} % 1000 = 7 THEN ${SPREAD_ROLE}::text END,
    CASE WHEN ${date} < '2016-01-01Z'::timestamptz + interval '10 years' / 1000 THEN ${OLDEST_ROLE}::text END], NULL)`;
}

async function insertAcls(database: Kysely<DB>): Promise<void> {
  await sql`
    INSERT INTO event_acl (event_id, position, role, action, allow)
    SELECT events.id, row_number() OVER (PARTITION BY events.id), role, action, true
    FROM events, LATERAL (
      SELECT unnest(read_roles) AS role, 'read' AS action
      UNION ALL SELECT unnest(write_roles), 'write') AS entry`.execute(database);
  await sql`
    INSERT INTO series_acl (series_id, position, role, action, allow)
    SELECT id, n, role, 'read', true FROM series, unnest(read_roles) WITH ORDINALITY AS entry(role, n)
  `.execute(database);
}

async function insertPublications(database: Kysely<DB>): Promise<void> {
  await sql`
    INSERT INTO publications (id, event_id, channel, mediatype)
    SELECT gen_random_uuid(), id, 'engage-player', 'text/html' FROM events WHERE processing_state = 'SUCCEEDED'
  `.execute(database);
  await sql`
    INSERT INTO publication_elements (id, event_id, publication_id, position, kind, flavor, filename, mediatype, object_key,
      size, sha256)
    SELECT gen_random_uuid(), event_id, id, 0, 'attachment', 'presenter/search+preview', 'thumbnail.jpg', 'image/jpeg',
      'thumbnail-' || id, 8000, repeat('0', 64) FROM publications`.execute(database);
}
