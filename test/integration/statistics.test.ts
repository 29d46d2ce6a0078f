import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { lastNumber } from '../../src/changes/read.ts';
import { recordChanges } from '../../src/changes/record.ts';
import { countChanges, countNext } from '../../src/statistics/count.ts';
import { MOST_REASONS } from '../../src/statistics/tally.ts';
import { countsOf, type Span } from '../../src/statistics/trends.queries.ts';
import { trendsOf } from '../../src/statistics/trends.ts';
import { advance } from '../../src/workflows/advance.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { claimReady, endOperation } from '../support/operator-scene.ts';
import { operationsOf, startTestWorkflow } from '../support/workflows.ts';

let db: TestDatabase | undefined;
const database = () => {
  if (!db) throw new Error('There is a database in tests only.');
  return db.database;
};
beforeEach(async () => {
  await db?.close();
  db = await createTestDatabase();
});
afterAll(() => db?.close());

const trends = async (span: Span = 'day') => {
  const now = new Date();
  return trendsOf(span, { counts: await countsOf(database(), span, now), sizes: [], now });
};
const upload = (bytes: number, at = new Date()) =>
  sql`INSERT INTO changes (kind, at, data) VALUES ('event.created', ${at}, ${JSON.stringify({ tracks: 1, bytes })})`.execute(
    database(),
  );
const position = async () => {
  const { position } = await database()
    .selectFrom('changes_readers')
    .select('position')
    .where('name', '=', 'statistics')
    .executeTakeFirstOrThrow();
  return position;
};

describe('counting', () => {
  test('by many processes at once, some of which are rolled back, counts each change once', async () => {
    let writing = true;
    let rolledBack = 0;
    let written = 0;
    const writer = async () => {
      // Until one that is rolled back has had a turn as well.
      for (let i = 0; i < 40 || rolledBack === 0; i += 1) {
        await sql`INSERT INTO changes (kind, data) SELECT 'event.created', '{"tracks": 1, "bytes": 1000}'
          FROM generate_series(1, 60)`.execute(database());
        written += 60;
      }
      writing = false;
    };
    const counters = Array.from({ length: 4 }, async () => {
      while (writing) await countChanges(database());
    });
    const failing = async () => {
      while (writing) {
        const killed = database()
          .transaction()
          .execute(async (trx) => {
            rolledBack += await countNext(trx);
            throw new Error('killed');
          });
        await expect(killed).rejects.toThrow('killed');
      }
    };
    await Promise.all([writer(), ...counters, failing()]);
    await countChanges(database());
    expect(await trends()).toMatchObject({ total: { uploads: written, bytes: 1_000 * written } });
    expect((await trends('month')).total.uploads).toBe(written);
    expect(await position()).toBe(await lastNumber(database()));
  });

  test('that is broken off is taken up where it was, and nothing is counted twice or lost', async () => {
    await upload(10);
    await expect(
      database()
        .transaction()
        .execute(async (trx) => {
          expect(await countNext(trx)).toBe(0);
          throw new Error('killed');
        }),
    ).rejects.toThrow('killed');
    expect(await countChanges(database())).toBe(1);
    // The connection ends in the middle of the transaction.
    await upload(20);
    await sql`CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'`.execute(database());
    await sql`CREATE TRIGGER ends BEFORE UPDATE ON changes_readers FOR EACH ROW EXECUTE FUNCTION end_it()`.execute(
      database(),
    );
    await expect(countChanges(database())).rejects.toThrow();
    expect((await trends()).total.bytes).toBe(10);
    await sql`DROP TRIGGER ends ON changes_readers`.execute(database());
    expect(await countChanges(database())).toBe(1);
    expect((await trends()).total).toMatchObject({ uploads: 2, bytes: 30 });
  });

  test('does not wait for another process that counts', async () => {
    await countChanges(database());
    await upload(10);
    await database()
      .transaction()
      .execute(async (trx) => {
        await trx.selectFrom('changes_readers').selectAll().forUpdate().execute();
        expect(await countChanges(database())).toBe(0);
      });
    expect(await countChanges(database())).toBe(1);
  });

  test('puts what happened into its hour and its day, in UTC', async () => {
    const now = new Date();
    const hours = (n: number) => new Date(now.getTime() - n * 3_600_000);
    for (const [n, bytes] of [
      [0, 1],
      [3, 2],
      [23, 4],
      [25, 8],
      [24 * 20, 16],
      [24 * 40, 32],
    ] as const)
      await upload(bytes, hours(n));
    await countChanges(database());
    const counts = { counts: await countsOf(database(), 'day', now), sizes: [], now };
    const day = trendsOf('day', counts);
    expect(day.slots.map(({ bytes }) => bytes)).toEqual([4, ...Array(19).fill(0), 2, 0, 0, 1]);
    expect(day.slots.at(-1)?.start.toISOString()).toBe(`${now.toISOString().slice(0, 13)}:00:00.000Z`);
    const month = await trends('month');
    expect(month.total.bytes).toBe(1 + 2 + 4 + 8 + 16);
    expect(month.slots[9]?.bytes).toBe(16);
  });

  test('leaves out what is not as it should be, and goes on after it', async () => {
    await sql`INSERT INTO changes (kind, data) VALUES
      ('event.created', '{"tracks": "many", "bytes": 3}'), ('event.changed', '{"tracks": 1, "bytes": -5}'),
      ('event.changed', '{"tracks": 1e300, "bytes": 1}'), ('operation.state', '{"operation_state": "running", "waited_ms": null}'),
      ('workflow.state', '{"state": "FAILED", "reason": {}}'), ('publication.published', '{"channel": 5}')`.execute(
      database(),
    );
    await upload(7);
    expect(await countChanges(database())).toBe(7);
    const { total, reasons } = await trends();
    expect(total).toMatchObject({
      uploads: 2,
      bytes: 7,
      failed: 1,
      waiting: undefined,
      publishing: undefined,
    });
    expect(reasons).toEqual([{ reason: 'No reason was given.', count: 1 }]);
  });
});

describe('what is counted', () => {
  const ready = (id: number, seconds: number) =>
    sql`UPDATE workflow_operations SET ready_at = now() - make_interval(secs => ${seconds})
      WHERE workflow_id = ${id} AND state = 'ready'`.execute(database());

  test('how long an operation waited since it could begin, and not how long its workflow did', async () => {
    const { workflowId } = await startTestWorkflow(database(), ['noop', 'noop'], { retries: 3 });
    await ready(workflowId, 600);
    await endOperation(database(), await claimReady(database(), workflowId));
    const claim = await claimReady(database(), workflowId);
    await countChanges(database());
    expect((await trends()).total.waiting?.count).toBe(2);
    expect((await trends()).total.waiting?.p95).toBeGreaterThan(540_000);
    expect((await trends()).total.waiting?.median).toBeLessThan(60_000);
    // A pause before the next attempt is no waiting for a worker.
    const { operationId, token } = claim;
    await database()
      .transaction()
      .execute((trx) =>
        advance(trx, workflowId, {
          kind: 'deferred',
          operationId,
          token,
          reason: 'Away.',
          log: '',
          delayMs: 0,
        }),
      );
    await sql`UPDATE workflow_operations SET ready_at = now() - interval '1 hour', not_before = now() - interval '1 minute'
      WHERE id = ${operationId}`.execute(database());
    await claimReady(database(), workflowId);
    await countChanges(database());
    const { rows } = await sql<{ waited: number }>`
      SELECT (data->>'waited_ms')::integer AS waited FROM changes WHERE data ? 'waited_ms' ORDER BY id`.execute(
      database(),
    );
    // Ten minutes, nothing and one minute, and what a busy machine adds.
    expect(rows.map(({ waited }) => Math.round(waited / 100_000))).toEqual([6, 0, 1]);
  });

  test('of an operation that was ready before that was written down, nothing is said of its waiting', async () => {
    const { workflowId } = await startTestWorkflow(database());
    await sql`UPDATE workflow_operations SET ready_at = NULL`.execute(database());
    await claimReady(database(), workflowId);
    await countChanges(database());
    expect((await trends()).total.waiting).toBeUndefined();
  });

  test('how long it took from the start of the latest workflow before it to a publication, but an internal or a renewed one', async () => {
    const { eventId, workflowId } = await startTestWorkflow(database());
    await sql`UPDATE workflows SET created_at = now() - interval '2 hours' WHERE id = ${workflowId}`.execute(
      database(),
    );
    const tell = (data: { channel: string; renewed?: boolean }) =>
      database()
        .transaction()
        .execute((trx) => recordChanges(trx, [{ kind: 'publication.published', eventId, data }]));
    await tell({ channel: 'internal' });
    await tell({ channel: 'engage-player' });
    await tell({ channel: 'engage-player', renewed: true });
    // One that is gone when it is counted, and one that no workflow made.
    await database()
      .transaction()
      .execute((trx) => recordChanges(trx, [{ kind: 'publication.published', eventId: 'gone', data: {} }]));
    await sql`UPDATE workflows SET state = 'SUCCEEDED'`.execute(database());
    await sql`INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id, created_at)
      VALUES (${eventId}, 'later', '', '{}', 'RUNNING', '', '', now() + interval '1 minute')`.execute(
      database(),
    );
    await countChanges(database());
    const { publishing } = (await trends()).total;
    expect(publishing?.count).toBe(1);
    expect(publishing?.median).toBeGreaterThan(0.9 * 7_200_000);
    expect(publishing?.median).toBeLessThan(1.1 * 7_201_000);
  });

  test('workflows that ended, by state, and why they failed: reasons that differ in numbers and names are one', async () => {
    const fail = async (reason: string) => {
      const { workflowId } = await startTestWorkflow(database());
      await endOperation(database(), await claimReady(database(), workflowId), reason);
    };
    await fail('The file "a.mp4" breaks off after 12.5 seconds.');
    await fail('The file "b.mp4" breaks off after 3 seconds.');
    await fail('The disk is full.');
    const done = await startTestWorkflow(database());
    await endOperation(database(), await claimReady(database(), done.workflowId));
    const stopped = await startTestWorkflow(database());
    await database()
      .transaction()
      .execute((trx) => advance(trx, stopped.workflowId, { kind: 'stopped', by: 'admin' }));
    expect((await operationsOf(database(), done.workflowId))[0]?.state).toBe('succeeded');
    await countChanges(database());
    const { total, reasons } = await trends();
    expect(total).toMatchObject({ failed: 3, succeeded: 1, stopped: 1 });
    expect(reasons).toEqual([
      { reason: 'The file … breaks off after … seconds.', count: 2 },
      { reason: 'The disk is full.', count: 1 },
    ]);
  });

  test('of very many reasons in an hour, those that came first are told apart, in whatever steps they are counted', async () => {
    const tell = (from: number, to: number) =>
      sql`INSERT INTO changes (kind, data)
        SELECT 'workflow.state', jsonb_build_object('state', 'FAILED', 'reason', repeat('x', i) || '.')
        FROM generate_series(${from}::integer, ${to}::integer) AS i, generate_series(1, 2)`.execute(
        database(),
      );
    await tell(1, 15);
    await countChanges(database());
    await tell(10, 50);
    await countChanges(database());
    const { reasons, total } = await trends();
    expect(total.failed).toBe(112);
    expect(reasons).toHaveLength(MOST_REASONS + 1);
    expect(reasons[0]).toEqual({ reason: '', count: 60 });
    expect(reasons.filter(({ count }) => count === 4)).toHaveLength(6);
  });
});
