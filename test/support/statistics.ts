import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import { ACCURACY } from '#statistics/histogram.ts';

const REASONS = [
  'The file is damaged: it breaks off after … seconds.',
  'The file holds neither pictures nor sound that can be read.',
  'It took longer than the … hours allowed.',
  'The program … ended with exit code ….',
];

/**
 * Counts as they come about when so many recordings are processed in a month, most of them by day: each is five operations
 * and one publication, and one of fifty fails.
 */
export async function fillStatistics(
  database: Database,
  { days, events }: { days: number; events: number },
): Promise<void> {
  // Around so many milliseconds, over so many buckets; more when much is to be done.
  const bucket = (ms: number) => Math.round(Math.log(ms) / Math.log((1 + ACCURACY) / (1 - ACCURACY)));
  const lengths = (measure: string, each: number, middle: number, spread: number) => sql`
    SELECT start, ${measure}, '', greatest(0, ${bucket(middle)}::integer + round(4 * share)::integer + i), 
      ceil(share * ${(each * events) / 720}::float8 * exp(-(i * i) / ${spread * spread}::float8) / ${spread * 1.77}::float8)::bigint, 0
    FROM busy, generate_series(${-2 * spread}::integer, ${2 * spread}::integer) AS i`;
  await sql`
    INSERT INTO statistics_counts (period, start, measure, label, bucket, count, sum)
    WITH busy AS (
      SELECT start, greatest(0.02, 2 * sin(pi() * extract(hour FROM start AT TIME ZONE 'UTC') / 24) ^ 4
        * (CASE WHEN extract(isodow FROM start) > 5 THEN 0.15 ELSE 1.3 END)
        * (1 + 0.35 * sin(extract(epoch FROM start) / 7919)))::float8 AS share
      FROM generate_series(date_trunc('hour', now(), 'UTC') - make_interval(days => ${days}), date_trunc('hour', now(), 'UTC'),
        interval '1 hour') AS start
    ), counted (start, measure, label, bucket, count, sum) AS (
      SELECT start, 'upload', '', 0, ceil(share * ${events / 720}::float8)::bigint,
        ceil(share * ${events / 720}::float8)::bigint * 1900000000 FROM busy
      UNION ALL SELECT start, 'workflow', 'SUCCEEDED', 0, ceil(share * ${events / 720}::float8 * 0.98)::bigint, 0 FROM busy
      UNION ALL SELECT start, 'workflow', 'FAILED', 0, count(*), 0 FROM busy,
        generate_series(1, round(share * ${events / 720}::float8 * 0.02)::integer) GROUP BY start
      UNION ALL SELECT start, 'failure', (${REASONS}::text[])[1 + floor(4 * ((i * 7 + extract(hour FROM start)::integer) % 10) ^ 2 / 100)::integer], 0, count(*), 0
        FROM busy, generate_series(1, round(share * ${events / 720}::float8 * 0.02)::integer) AS i GROUP BY 1, 3
      UNION ALL ${lengths('waiting', 5, 400, 8)}
      UNION ALL ${lengths('publishing', 1, 780_000, 3)}
    ), filled AS (SELECT * FROM counted WHERE count > 0)
    SELECT 'hour', start, measure, label, bucket, sum(count), sum(sum) FROM filled GROUP BY start, measure, label, bucket
    UNION ALL SELECT 'day', date_trunc('day', start, 'UTC'), measure, label, bucket, sum(count), sum(sum) FROM filled
    GROUP BY 2, measure, label, bucket`.execute(database);
}

/** What was stored in each hour of so many days: always more. */
export async function fillStorageSizes(database: Database, { days }: { days: number }): Promise<void> {
  await sql`INSERT INTO storage_sizes (hour, received, processed, unfinished)
    SELECT hour, 9e12 + n * 11e9, 6e12 + n * 7e9, 4e11 + 2e11 * sin(n / 9.0)
    FROM generate_series(0, 24 * ${days}::integer) AS n,
      LATERAL (SELECT date_trunc('hour', now(), 'UTC') - (24 * ${days}::integer - n) * interval '1 hour' AS hour) AS at`.execute(
    database,
  );
}
