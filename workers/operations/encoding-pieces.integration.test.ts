import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { databaseForThisFile } from '#test/support/database.ts';
import { operationsOf, startTestWorkflow } from '#test/support/workflows.ts';
import { finishedPieces } from './encoding-pieces.ts';

const db = databaseForThisFile();

const PIECES = 4000;

test('the results of thousands of pieces are read in seconds', async () => {
  const { eventId, workflowId } = await startTestWorkflow(db.database);
  const [{ id = 0 } = {}] = await operationsOf(db.database, workflowId);
  // The planner expects that it has no pieces.
  await sql`ANALYZE workflow_operations, publication_elements`.execute(db.database);
  await sql`
    WITH pieces AS (
      INSERT INTO workflow_operations
        (workflow_id, parent_id, position, operation, state, reason, max_attempts, time_limit_ms, piece)
      SELECT ${workflowId}, ${id}, i, 'noop', CASE WHEN i = 1 THEN 'failed' ELSE 'succeeded' END,
        CASE WHEN i = 1 THEN 'It is damaged.' END, 1, 1, jsonb_build_object('track', i % 2)
      FROM generate_series(0, ${PIECES}::int - 1) AS i RETURNING id, position
    )
    INSERT INTO publication_elements
      (id, event_id, workflow_id, position, kind, flavor, filename, mediatype, object_key, size, sha256, properties)
    SELECT gen_random_uuid(), ${eventId}, ${workflowId}, rank, 'piece', 'piece/piece', 'piece', '', concat(position, '-', rank),
      1, repeat('0', 64), jsonb_build_object('piece', id, 'rank', rank)
    FROM pieces, generate_series(0, 2) AS rank WHERE position <> 1`.execute(db.database);
  const pieces = await db.database.transaction().execute(async (trx) => {
    await sql`SET LOCAL statement_timeout = '5s'`.execute(trx);
    return finishedPieces(trx, { eventId, workflowId, operationId: id });
  });
  const [even = [], odd = []] = [0, 1].map((track) => pieces.get(track));
  expect([even.length, odd.length]).toEqual([PIECES / 2, PIECES / 2]);
  const resultsOf = (position: number) => [0, 1, 2].map((rank) => ({ rank, objectKey: `${position}-${rank}` }));
  even.forEach(({ files }, i) => {
    expect(files.toSorted((a, b) => Number(a.rank) - Number(b.rank))).toMatchObject(resultsOf(i * 2));
  });
  expect(odd[0]).toMatchObject({ succeeded: false, reason: 'It is damaged.', files: [] });
  expect(odd.at(-1)).toMatchObject({ succeeded: true, reason: null, files: { length: 3 } });
});
