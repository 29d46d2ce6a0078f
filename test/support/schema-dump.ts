import type pg from 'pg';

/**
 * Everything that migrations make, as the database tells it, a line or more each: extensions, columns, constraints,
 * indexes, triggers, functions, sequences and types of all schemas but the server's own. The same for the same migrations
 * on every version of PostgreSQL.
 */
export async function dumpSchema(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    WITH schemas AS (SELECT oid, nspname FROM pg_namespace
      WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
    -- What an extension brought along is said by its name.
    brought AS (SELECT objid FROM pg_depend WHERE deptype = 'e')
    SELECT concat_ws(' ', 'extension', extname) AS line FROM pg_extension
    UNION ALL
    SELECT concat_ws(' ', 'relation', relkind, pg_class.oid::regclass, reloptions) FROM pg_class
      JOIN schemas ON schemas.oid = relnamespace
      WHERE relkind <> 'i' AND pg_class.oid NOT IN (SELECT objid FROM brought)
    UNION ALL
    SELECT concat_ws(' ', 'column', attrelid::regclass, lpad(attnum::text, 3), attname, format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN 'not null' END, 'identity ' || nullif(attidentity::text, ''),
        'generated ' || nullif(attgenerated::text, ''), 'collation ' || nullif(attcollation, 0)::regcollation::text,
        'default ' || pg_get_expr(adbin, adrelid))
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN schemas ON schemas.oid = relnamespace
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'v', 'm')
        AND attrelid NOT IN (SELECT objid FROM brought)
    UNION ALL
    -- What may not be null is said of the columns; not every version has constraints for it.
    SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
      FROM pg_constraint JOIN schemas ON schemas.oid = connamespace WHERE conrelid <> 0 AND contype <> 'n'
    UNION ALL
    SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), CASE WHEN NOT indisvalid THEN 'invalid' END)
      FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN schemas ON schemas.oid = relnamespace
    UNION ALL
    SELECT concat_ws(' ', 'trigger', tgenabled, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT concat_ws(' ', 'function', pg_get_functiondef(pg_proc.oid)) FROM pg_proc
      JOIN schemas ON schemas.oid = pronamespace
      WHERE prokind IN ('f', 'p') AND pg_proc.oid NOT IN (SELECT objid FROM brought)
    UNION ALL
    SELECT concat_ws(' ', 'type', typtype, pg_type.oid::regtype,
        (SELECT string_agg(enumlabel, ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = pg_type.oid))
      FROM pg_type JOIN schemas ON schemas.oid = typnamespace
      WHERE typtype IN ('e', 'd') AND pg_type.oid NOT IN (SELECT objid FROM brought)
    ORDER BY 1`);
  return rows.map(({ line }) => line);
}
