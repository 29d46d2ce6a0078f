import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { lastNumber } from '#changes/read-changes.ts';
import { recordChanges } from '#changes/record-changes.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { advance } from '#processing/advance-workflow.ts';
import { publishElements } from '#publications/publish.ts';
import { countChanges, countNext, measureStorage, sweepStatistics } from '#statistics/count.ts';
import { MOST_REASONS } from '#statistics/tally.ts';
import { countsOf, type Span, storageOf, trendsOf } from '#statistics/trends.ts';
import { ownApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { eventFields, file } from '../support/form.ts';
import { claimReady, endOperation } from '../support/operator-scene.ts';
import { insertElement, insertEvent } from '../support/publication.ts';
import { reconcileUntil } from '../support/reconciling.ts';
import { operationsOf, startTestWorkflow } from '../support/workflows.ts';

// What happens in a whole database is counted; each test begins without anything that has happened.
const app = await ownApp();
const { database } = app;
const run = <T>(...statement: Parameters<typeof sql>) => sql<T>(...statement).execute(database);
const raw = (text: string) => sql.raw(text).execute(database);
beforeEach(() => run`TRUNCATE events, workflows, changes, drafts, uploads, statistics_counts, storage_sizes CASCADE`);

const inTransaction = <T>(work: (trx: Transaction) => Promise<T>) => database.transaction().execute(work);
const trends = async (span: Span = 'day', now = new Date()) =>
  trendsOf(span, { counts: await countsOf(database, span, now), sizes: await storageOf(database, now), now });
const upload = (bytes: number, at = new Date()) =>
  run`INSERT INTO changes (kind, at, data)
    VALUES ('event.created', ${at}, ${JSON.stringify({ tracks: 1, bytes })})`;
const position = async () => {
  const readers = database.selectFrom('changes_readers').select('position');
  return (await readers.where('name', '=', 'statistics').executeTakeFirstOrThrow()).position;
};

describe('counting', () => {
  test('by many processes at once, some of which are rolled back, counts each change once', async () => {
    let writing = true;
    let rolledBack = 0;
    let written = 0;
    const writer = async () => {
      // Until one that is rolled back has had a turn as well.
      for (let i = 0; i < 20 || rolledBack === 0; i += 1) {
        await run`INSERT INTO changes (kind, data) SELECT 'event.created', '{"tracks": 1, "bytes": 1000}'
          FROM generate_series(1, 60)`;
        written += 60;
      }
      writing = false;
    };
    const counters = Array.from({ length: 4 }, async () => {
      while (writing) await countChanges(database);
    });
    const failing = async () => {
      while (writing) {
        const killed = inTransaction(async (trx) => {
          rolledBack += await countNext(trx);
          throw new Error('killed');
        });
        await expect(killed).rejects.toThrow('killed');
      }
    };
    await Promise.all([writer(), ...counters, failing()]);
    await countChanges(database);
    expect(await trends()).toMatchObject({ total: { uploads: written, bytes: 1_000 * written } });
    expect((await trends('month')).total.uploads).toBe(written);
    expect(await position()).toBe(await lastNumber(database));
  });

  test('that is broken off is taken up where it was, and nothing is counted twice or lost', async () => {
    await upload(10);
    await expect(
      inTransaction(async (trx) => {
        expect(await countNext(trx)).toBe(0);
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect(await countChanges(database)).toBe(1);
    // The connection ends in the middle of the transaction.
    await upload(20);
    await run`CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'`;
    await run`CREATE TRIGGER ends BEFORE UPDATE ON changes_readers FOR EACH ROW EXECUTE FUNCTION end_it()`;
    await expect(countChanges(database)).rejects.toThrow();
    expect((await trends()).total.bytes).toBe(10);
    await run`DROP TRIGGER ends ON changes_readers`;
    expect(await countChanges(database)).toBe(1);
    expect((await trends()).total).toMatchObject({ uploads: 2, bytes: 30 });
  });

  test('does not wait for another process that counts', async () => {
    await countChanges(database);
    await upload(10);
    await inTransaction(async (trx) => {
      await trx.selectFrom('changes_readers').selectAll().forUpdate().execute();
      expect(await countChanges(database)).toBe(0);
    });
    expect(await countChanges(database)).toBe(1);
  });

  test('puts what happened into its hour and its day, in UTC', async () => {
    const now = new Date();
    const hours = (n: number) => new Date(now.getTime() - n * 3_600_000);
    for (const [i, n] of [0, 3, 23, 25, 24 * 20, 24 * 40].entries()) await upload(2 ** i, hours(n));
    await countChanges(database);
    const day = await trends('day', now);
    expect(day.slots.map(({ bytes }) => bytes)).toEqual([4, ...Array(19).fill(0), 2, 0, 0, 1]);
    expect(day.slots.at(-1)?.start.toISOString()).toBe(`${now.toISOString().slice(0, 13)}:00:00.000Z`);
    const month = await trends('month');
    expect(month.total.bytes).toBe(1 + 2 + 4 + 8 + 16);
    expect(month.slots[9]?.bytes).toBe(16);
  });

  test('leaves out what is not as it should be, and goes on after it', async () => {
    await run`INSERT INTO changes (kind, data) VALUES
      ('event.created', '{"tracks": "many", "bytes": 3}'), ('event.changed', '{"tracks": 1, "bytes": -5}'),
      ('event.changed', '{"tracks": 1e300, "bytes": 1}'), ('operation.state', '{"operation_state": "running", "waited_ms": null}'),
      ('workflow.state', '{"state": "FAILED", "reason": {}}'), ('publication.published', '{"channel": 5}')`;
    await upload(7);
    expect(await countChanges(database)).toBe(7);
    const { total, reasons } = await trends();
    const known = { uploads: 2, bytes: 7, failed: 1, waiting: undefined, publishing: undefined };
    expect(total).toMatchObject(known);
    expect(reasons).toEqual([{ reason: 'No reason was given.', count: 1 }]);
  });
});

describe('what is counted', () => {
  const ready = (id: number, seconds: number) =>
    run`UPDATE workflow_operations SET ready_at = now() - make_interval(secs => ${seconds})
      WHERE workflow_id = ${id} AND state = 'ready'`;

  test('how long an operation waited since it could begin, and not how long its workflow did', async () => {
    const { workflowId } = await startTestWorkflow(database, ['noop', 'noop'], { retries: 3 });
    await ready(workflowId, 600);
    await endOperation(database, await claimReady(database, workflowId));
    const claim = await claimReady(database, workflowId);
    await countChanges(database);
    expect((await trends()).total.waiting?.count).toBe(2);
    expect((await trends()).total.waiting?.p95).toBeGreaterThan(540_000);
    expect((await trends()).total.waiting?.median).toBeLessThan(60_000);
    // A pause before the next attempt is no waiting for a worker.
    const { operationId, token } = claim;
    const AWAY = { reason: 'Away.', log: '', delayMs: 0 };
    await inTransaction((trx) => advance(trx, workflowId, { kind: 'deferred', operationId, token, ...AWAY }));
    await run`UPDATE workflow_operations SET ready_at = now() - interval '1 hour', not_before = now() - interval '1 minute'
      WHERE id = ${operationId}`;
    await claimReady(database, workflowId);
    await countChanges(database);
    const { rows } = await run<{ waited: number }>`
      SELECT (data->>'waited_ms')::integer AS waited FROM changes WHERE data ? 'waited_ms' ORDER BY id`;
    // Ten minutes, nothing and one minute, and what a busy machine adds.
    expect(rows.map(({ waited }) => Math.round(waited / 100_000))).toEqual([6, 0, 1]);
  });

  test('of an operation that was ready before that was written down, nothing is said of its waiting', async () => {
    const { workflowId } = await startTestWorkflow(database);
    await run`UPDATE workflow_operations SET ready_at = NULL`;
    await claimReady(database, workflowId);
    await countChanges(database);
    expect((await trends()).total.waiting).toBeUndefined();
  });

  test('how long it took from the start of the latest workflow before it to a publication, but an internal or a renewed one', async () => {
    const { eventId, workflowId } = await startTestWorkflow(database);
    await run`UPDATE workflows SET created_at = now() - interval '2 hours' WHERE id = ${workflowId}`;
    const tell = (data: { channel?: string; renewed?: boolean }, id = eventId) =>
      inTransaction((trx) => recordChanges(trx, [{ kind: 'publication.published', eventId: id, data }]));
    await tell({ channel: 'internal' });
    await tell({ channel: 'engage-player' });
    await tell({ channel: 'engage-player', renewed: true });
    // One that is gone when it is counted, and one that no workflow made.
    await tell({}, 'gone');
    await run`UPDATE workflows SET state = 'SUCCEEDED'`;
    await run`INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id, created_at)
      VALUES (${eventId}, 'later', '', '{}', 'RUNNING', '', '', now() + interval '1 minute')`;
    await countChanges(database);
    const { publishing } = (await trends()).total;
    expect(publishing?.count).toBe(1);
    expect(publishing?.median).toBeGreaterThan(0.9 * 7_200_000);
    expect(publishing?.median).toBeLessThan(1.1 * 7_201_000);
  });

  test('workflows that ended, by state, and why they failed: reasons that differ in numbers and names are one', async () => {
    const fail = async (reason: string) => {
      const { workflowId } = await startTestWorkflow(database);
      await endOperation(database, await claimReady(database, workflowId), reason);
    };
    await fail('The file "a.mp4" breaks off after 12.5 seconds.');
    await fail('The file "b.mp4" breaks off after 3 seconds.');
    await fail('The disk is full.');
    const done = await startTestWorkflow(database);
    await endOperation(database, await claimReady(database, done.workflowId));
    const stopped = await startTestWorkflow(database);
    await inTransaction((trx) => advance(trx, stopped.workflowId, { kind: 'stopped', by: 'admin' }));
    expect((await operationsOf(database, done.workflowId))[0]?.state).toBe('succeeded');
    await countChanges(database);
    const { total, reasons } = await trends();
    expect(total).toMatchObject({ failed: 3, succeeded: 1, stopped: 1 });
    expect(reasons).toEqual([
      { reason: 'The file … breaks off after … seconds.', count: 2 },
      { reason: 'The disk is full.', count: 1 },
    ]);
  });

  test('of very many reasons in an hour, those that came first are told apart, in whatever steps they are counted', async () => {
    const tell = (from: number, to: number) =>
      run`INSERT INTO changes (kind, data)
        SELECT 'workflow.state', jsonb_build_object('state', 'FAILED', 'reason', repeat('x', i) || '.')
        FROM generate_series(${from}::integer, ${to}::integer) AS i, generate_series(1, 2)`;
    await tell(1, 15);
    await countChanges(database);
    await tell(10, 50);
    await countChanges(database);
    const { reasons, total } = await trends();
    expect(total.failed).toBe(112);
    expect(reasons).toHaveLength(MOST_REASONS + 1);
    expect(reasons[0]).toEqual({ reason: '', count: 60 });
    expect(reasons.filter(({ count }) => count === 4)).toHaveLength(6);
  });
});

describe('what is stored', () => {
  const sizes = () => database.selectFrom('storage_sizes').selectAll().orderBy('hour').execute();

  test('what is stored is measured once in an hour, by one of many processes', async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => measureStorage(database)));
    expect(done.filter(Boolean)).toHaveLength(1);
    expect(await measureStorage(database)).toBe(false);
    expect(await sizes()).toHaveLength(1);
    await run`UPDATE storage_sizes SET hour = hour - interval '1 hour'`;
    expect(await measureStorage(database)).toBe(true);
    expect(await sizes()).toHaveLength(2);
  });

  test('every file is measured once: tracks, attachments, what was made of them, drafts and uploads', async () => {
    await insertEvent(database, { id: 'event' });
    await run`INSERT INTO drafts (id, door, owner, expires_at) VALUES ('draft', 'packages', 'ada', now())`;
    const file = (table: string, size: number, more: string, value: string) =>
      raw(`INSERT INTO ${table} (id, flavor, filename, mediatype, object_key, size, sha256${more})
        SELECT gen_random_uuid(), 'presenter/source', 'a.mp4', 'video/mp4', gen_random_uuid(), ${size}, repeat('a1', 32)${value}`);
    await file('tracks', 50_000_000_000, ', event_id, position', `, 'event', 0`);
    await file('tracks', 10, ', event_id, position', `, 'event', 1`);
    await file('attachments', 7, ', event_id', `, 'event'`);
    await file('publication_elements', 1234, ', event_id, position, kind', `, 'event', 0, 'attachment'`);
    await file('draft_tracks', 100, ', draft_id, position', `, 'draft', 0`);
    await file('draft_attachments', 20, ', draft_id', `, 'draft'`);
    const upload = (id: string, event: string) =>
      raw(`INSERT INTO uploads (id, owner, filename, object_key, handle, stored, rest_key, rest_bytes, expires_at, event_id)
        VALUES ('upload-${id}-0123456789', 'ada', 'a.mp4', '${id}', '', 3000, 'rest-${id}', 5, now(), ${event})`);
    await upload('unfinished', 'NULL');
    // Its bytes are a track by now.
    await upload('of-an-event', `'event'`);
    await measureStorage(database);
    const [size] = await sizes();
    const sum = { received: 50_000_000_010 + 7, processed: 1234, unfinished: 100 + 20 + 3005 };
    expect(size).toMatchObject(sum);
  });

  test('growth is what is more than a day, a week and a month ago, as far as that was measured', async () => {
    expect((await trends('month')).growth).toEqual([]);
    const at = (hours: number, bytes: number) =>
      raw(`INSERT INTO storage_sizes
        VALUES (date_trunc('hour', now(), 'UTC') - interval '${hours} hours', ${bytes}, 0, 0)`);
    await at(0, 1_000);
    expect((await trends('month')).growth.map(({ bytes }) => bytes)).toEqual([undefined, undefined, undefined]);
    await at(25, 900);
    await at(24 * 10, 300);
    await at(24 * 30, 1_200);
    // Ten days ago is no week ago.
    expect((await trends('month')).growth).toEqual([
      { days: 1, bytes: 100 },
      { days: 7, bytes: undefined },
      { days: 30, bytes: -200 },
    ]);
    await at(24 * 7, 250);
    expect((await trends('month')).growth[1]).toEqual({ days: 7, bytes: 750 });
  });

  test('counts are kept for thirteen months; sizes as well, but after a month of each day the first', async () => {
    await run`INSERT INTO storage_sizes SELECT date_trunc('day', now(), 'UTC') - i * interval '6 hours', i, 0, 0
      FROM generate_series(0, 4 * 500) AS i`;
    await run`INSERT INTO statistics_counts (period, start, measure, count)
      SELECT period, date_trunc('day', now(), 'UTC') - i * interval '1 day', 'upload', 1
      FROM generate_series(0, 500) AS i, unnest(ARRAY['hour', 'day']) AS period`;
    expect(await sweepStatistics(database)).toBeGreaterThan(0);
    type Kept = Record<'hourly' | 'daily' | 'days', number> & Record<'counted' | 'first' | 'limit', Date>;
    const { rows } = await run<Kept>`
      SELECT count(*) FILTER (WHERE hour > now() - interval '30 days') AS hourly,
        count(*) FILTER (WHERE hour < now() - interval '33 days') AS daily,
        count(DISTINCT date_trunc('day', hour, 'UTC')) FILTER (WHERE hour < now() - interval '33 days') AS days,
        (SELECT min(start) FROM statistics_counts) AS counted, min(hour) AS first, now() - interval '13 months' AS limit
      FROM storage_sizes`;
    const [kept] = rows;
    expect(kept?.hourly).toBeGreaterThanOrEqual(4 * 29);
    expect(kept?.daily).toBe(kept?.days);
    expect(kept?.days).toBeGreaterThan(350);
    for (const oldest of [kept?.counted, kept?.first]) {
      expect(oldest?.getTime()).toBeGreaterThanOrEqual(kept?.limit.getTime() ?? 0);
      expect(oldest?.getTime()).toBeLessThan((kept?.limit.getTime() ?? 0) + 2 * 86_400_000);
    }
    expect(await sweepStatistics(database)).toBe(0);
  });
});

describe('the page about how it goes', () => {
  const read = async (query = '') => {
    const answer = await app.request(`/admin/trends${query}`);
    expect(answer.status).toBe(200);
    return answer.text();
  };
  /** Lets workers come to what is to be counted. */
  const countedByWorkers = async () => {
    await reconcileUntil(app, async () => {
      expect(await run`SELECT FROM statistics_counts`).not.toHaveProperty('rows', []);
      expect(await run`SELECT FROM storage_sizes`).not.toHaveProperty('rows', []);
    });
  };
  /** The words of a section of the page, which tags part. */
  const sectionOf = (text: string, id: string) => {
    const [, section = ''] = new RegExp(`<section class="sheet" id="${id}"([\\s\\S]*?)</section>`).exec(text) ?? [];
    return section.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  };

  test('says so when nothing has been counted yet', async () => {
    expect(await read()).toContain('No statistics for this period yet');
    expect(await read('?period=month')).toContain('No statistics for this period yet');
  });

  test('shows what has happened: what came, what waited, what was published, what failed, what is stored', async () => {
    const create = async (size: number) => {
      const parts = [...eventFields(), file('presenter', 'a.mp4', bytes(size))];
      const eventId = await created(await post(app, parts));
      const { id: workflowId } = await database
        .selectFrom('workflows')
        .select('id')
        .where('event_id', '=', eventId)
        .executeTakeFirstOrThrow();
      return { eventId, workflowId };
    };
    const [first, second] = [await create(3_000_000), await create(1_000_000)];
    // One that nothing was sent for.
    await created(await post(app, eventFields()));
    // Both could have been begun minutes ago; one fails, and the other is published after half an hour.
    await run`UPDATE workflow_operations SET ready_at = now() - interval '5 minutes' WHERE state = 'ready'`;
    await endOperation(database, await claimReady(database, first.workflowId), 'Track 7 is empty.');
    await endOperation(database, await claimReady(database, second.workflowId));
    const { eventId } = second;
    await run`UPDATE workflows SET created_at = created_at - interval '30 minutes' WHERE event_id = ${eventId}`;
    await insertElement(database, app.storage, bytes(500_000), { event_id: eventId, kind: 'media' });
    const sha256 = 'a1'.repeat(32);
    const catalog = { objectKey: 'catalog', filename: 'dublincore.xml', size: 1_000, sha256 };
    await inTransaction((trx) => publishElements(trx, { eventId, channel: 'engage-player', catalog }));
    await countedByWorkers();

    for (const period of ['day', 'month']) {
      const text = await read(`?period=${period}`);
      expect(sectionOf(text, 'uploads')).toMatch(/ 2 recordings .*so far: 2 recordings/);
      expect(sectionOf(text, 'received')).toContain('3.8 MiB 1.9 MiB per recording on average');
      expect(sectionOf(text, 'waiting')).toMatch(/ (4\.[5-9]|5\.[0-5]|5) min median .* 2 operations/);
      expect(sectionOf(text, 'publishing')).toMatch(/ (2[7-9]|3[0-3]) min median .* 1 publication/);
      expect(sectionOf(text, 'failures')).toMatch(/ 1 of 1 finished workflow \(100\.0 %\).* 1 Track … is empty\./);
      expect(sectionOf(text, 'storage')).toMatch(/ 4\.3 MiB 3\.8 MiB received 489\.3 KiB from processing 0 bytes/);
    }
  });

  test('refuses another period in a sentence', async () => {
    const answer = await app.request('/admin/trends?period=year');
    const sentence = `The parameter 'period' is "year"; allowed are day, month.`;
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(sentence)]);
  });

  test('shows what people write into reasons as text', async () => {
    await run`INSERT INTO statistics_counts (period, start, measure, label, count)
      VALUES ('hour', date_trunc('hour', now(), 'UTC'), 'failure', '<script>alert(1)</script>', 1)`;
    expect(await read()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});
