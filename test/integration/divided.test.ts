import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { pausedRecordings, queuedRecordings } from '#pages/operator/dashboard/work.queries.ts';
import { advance } from '#processing/advance-workflow.ts';
import { ClaimLost } from '#processing/locked-workflow.ts';
import { type Claim, claimOperation, endClaim, recoverLostOperations } from '#processing/operation-claims.ts';
import { takeDeliveries } from '#processing/outbox.ts';
import type { Control, Ending } from '#processing/workflow-change.ts';
import { operations } from '#workers/operations/all-operations.ts';
import { encodeWith } from '#workers/operations/encode.ts';
import { encodeStretch } from '#workers/operations/encoding-pieces.ts';
import type { Operation } from '#workers/operations/operation.ts';
import { createTestApp, workerApp } from '../support/app.ts';
import { created, post } from '../support/app-uploads.ts';
import { type ClipOptions, recording } from '../support/clips.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventFields, file } from '../support/form.ts';
import { untilOneWaits } from '../support/lock-waits.ts';
import { processEvent } from '../support/process-event.ts';
import { insertElement } from '../support/publication.ts';
import { FOR_AGES } from '../support/watched.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

const db = await createTestDatabase();
const { database } = db;
afterAll(() => db.close());

const take = async (id: number, worker = 'a') => {
  const claim = await claimOperation(database, id, worker, AT_ONCE);
  if (!claim) throw new Error('The operation was not ready.');
  return claim;
};
const end = ({ operationId, token, ...claim }: Claim, change: object) =>
  endClaim(database, { ...claim, operationId, token }, { operationId, token, ...change } as Ending, AT_ONCE);
const control = (workflowId: number, change: Control) =>
  database.transaction().execute((trx) => advance(trx, workflowId, change));

const PIECES = [{ part: 1 }, { part: 2 }, { part: 3 }];

/** A workflow whose first operation is divided, with so many live workers. */
async function divided({ workers = 1, pieces = PIECES } = {}) {
  await database.deleteFrom('worker_processes').execute();
  const facts = { host: 'host', pid: 1, runtime: 'Node', version: '1', concurrency: 2 };
  if (workers > 0)
    await database
      .insertInto('worker_processes')
      .values(Array.from({ length: workers }, (_, i) => ({ name: `worker ${i}`, ...facts })))
      .execute();
  const { eventId, workflowId } = await startTestWorkflow(database, ['noop', 'noop'], { retries: 1 });
  const [first] = await operationsOf(database, workflowId);
  const parent = await take(first?.id ?? 0);
  await end(parent, { kind: 'divided', pieces });
  const rows = () => operationsOf(database, workflowId);
  return {
    eventId,
    workflowId,
    states: async () => (await rows()).filter((row) => row.parent_id === null).map(({ state }) => state),
    pieces: async () => (await rows()).filter((row) => row.parent_id !== null),
    pieceStates: async () => (await rows()).filter((row) => row.parent_id !== null).map(({ state }) => state),
    ready: async () => (await rows()).filter((row) => row.state === 'ready').map(({ id }) => id),
  };
}

describe('a divided operation', () => {
  test('runs again when all of its pieces have succeeded, and drops them with its own success', async () => {
    const { states, pieceStates, ready, workflowId } = await divided();
    expect(await states()).toEqual(['divided', 'waiting']);
    for (const part of PIECES) {
      const claim = await take((await ready())[0] ?? 0);
      expect(claim).toMatchObject({ piece: part, operation: 'noop', attempt: 1 });
      await end(claim, { kind: 'succeeded' });
    }
    expect(await pieceStates()).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const again = await take((await ready())[0] ?? 0);
    expect(again).toMatchObject({ piece: null, progress: expect.closeTo(0.95, 5) });
    await end(again, { kind: 'succeeded' });
    expect(await states()).toEqual(['succeeded', 'ready']);
    expect(await operationsOf(database, workflowId)).toHaveLength(2);
  });

  test.each([
    [0, ['ready', 'waiting', 'waiting']],
    [2, ['ready', 'ready', 'waiting']],
    [9, ['ready', 'ready', 'ready']],
  ])('offers as many pieces as there are workers: %d', async (workers, expected) => {
    const { pieceStates, ready } = await divided({ workers });
    expect(await pieceStates()).toEqual(expected);
    await end(await take((await ready())[0] ?? 0), { kind: 'succeeded' });
    expect((await pieceStates()).filter((state) => state === 'ready')).toHaveLength(Math.min(Math.max(1, workers), 2));
  });

  test('has its pieces in a lane that earlier versions do not serve, at the limits of the operation', async () => {
    const { pieces } = await divided();
    expect(await pieces()).toMatchObject(PIECES.map((piece) => ({ piece, lane: 'pieces', max_attempts: 2 })));
  });

  test('has its pieces in order, even more than a statement has parameters', async () => {
    const parts = Array.from({ length: 66_000 }, (_, part) => ({ part }));
    const { pieces } = await divided({ pieces: parts });
    expect((await pieces()).map(({ piece }) => piece)).toEqual(parts);
  });

  test('loses only the piece whose worker died', async () => {
    const { pieceStates, ready, states } = await divided({ workers: 2 });
    const [one = 0, two = 0] = await ready();
    const lost = await take(one, 'dead');
    await end(await take(two), { kind: 'succeeded' });
    await database
      .updateTable('workflow_operations')
      .set({ heartbeat_at: new Date(0) })
      .where('worker', '=', 'dead')
      .execute();
    expect(await recoverLostOperations(database, FOR_AGES)).toEqual([one]);
    expect(await pieceStates()).toEqual(['ready', 'succeeded', 'ready']);
    expect(await states()).toEqual(['divided', 'waiting']);
    await expect(end(lost, { kind: 'succeeded' })).rejects.toThrow(ClaimLost);
  });

  test('runs again when a piece has failed, and the other pieces stop', async () => {
    const { pieceStates, ready, states } = await divided({ workers: 2 });
    const [one = 0, two = 0] = await ready();
    const running = await take(two, 'b');
    await end(await take(one), { kind: 'failed', reason: 'It is damaged.', log: '' });
    expect(await pieceStates()).toEqual(['failed', 'stopped', 'stopped']);
    expect(await states()).toEqual(['ready', 'waiting']);
    await expect(end(running, { kind: 'succeeded' })).rejects.toThrow(ClaimLost);
  });

  test('starts no piece while the workflow is paused, and keeps what has been done', async () => {
    const { eventId, pieceStates, ready, states, workflowId } = await divided({ workers: 2 });
    const running = await take((await ready())[0] ?? 0);
    await control(workflowId, { kind: 'paused', by: 'ada' });
    expect(await pieceStates()).toEqual(['running', 'paused', 'waiting']);
    await end(running, { kind: 'succeeded' });
    expect(await pieceStates()).toEqual(['succeeded', 'paused', 'waiting']);
    expect(await pausedRecordings(database, 9)).toMatchObject({ count: 1, entries: [{ eventId }] });
    await control(workflowId, { kind: 'resumed', by: 'ada' });
    expect(await pieceStates()).toEqual(['succeeded', 'ready', 'ready']);
    expect(await states()).toEqual(['divided', 'waiting']);
  });

  test('is held when its last piece succeeds while the workflow is paused', async () => {
    const { ready, states, workflowId } = await divided({ pieces: [{ part: 1 }] });
    const running = await take((await ready())[0] ?? 0);
    await control(workflowId, { kind: 'paused', by: 'ada' });
    await end(running, { kind: 'succeeded' });
    expect(await states()).toEqual(['paused', 'waiting']);
    await control(workflowId, { kind: 'resumed', by: 'ada' });
    expect(await states()).toEqual(['ready', 'waiting']);
  });

  test('keeps what its pieces have done when its settings change while it is paused', async () => {
    const { ready, states, pieceStates, workflowId } = await divided({ pieces: [{ part: 1 }] });
    const running = await take((await ready())[0] ?? 0);
    await control(workflowId, { kind: 'paused', by: 'ada' });
    await end(running, { kind: 'succeeded' });
    await control(workflowId, { kind: 'configured', by: 'ada', configuration: { other: 'setting' } });
    expect([await states(), await pieceStates()]).toEqual([['paused', 'waiting'], ['succeeded']]);
  });

  test('takes turns with others, even when more pieces are ready than the queue takes', async () => {
    await database.deleteFrom('workflow_operations').execute();
    const pieces = Array.from({ length: 9 }, (_, part) => ({ part }));
    const first = await divided({ workers: 6, pieces });
    const second = await divided({ workers: 6, pieces });
    const takePieces = async () =>
      (await takeDeliveries(database, ['pieces'], 8)).map(({ operationId }) => operationId);
    const delivered = await takePieces();
    expect(delivered).toHaveLength(8);
    const waiting = (await second.ready()).filter((id) => !delivered.includes(id));
    await end(await take(delivered[0] ?? 0), { kind: 'succeeded' });
    expect(await first.ready()).toHaveLength(6);
    expect(await takePieces()).toEqual(waiting.slice(0, 1));
  });

  test('is stopped with its pieces even when it is divided while the stop waits', async () => {
    const { workflowId } = await startTestWorkflow(database);
    const [first] = await operationsOf(database, workflowId);
    const { operationId, token } = await take(first?.id ?? 0);
    const dividing = await database.startTransaction().execute();
    await advance(dividing, workflowId, { kind: 'divided', operationId, token, pieces: PIECES });
    const stopping = control(workflowId, { kind: 'stopped', by: 'ada' });
    await untilOneWaits(database);
    await dividing.commit().execute();
    await stopping;
    expect(await operationsOf(database, workflowId)).toMatchObject([{ state: 'stopped' }]);
  });

  test('is tried again from its beginning when an earlier version has stopped the workflow but not it', async () => {
    const { workflowId, states, pieces } = await divided();
    await database.updateTable('workflows').set({ state: 'STOPPED' }).where('id', '=', workflowId).execute();
    await control(workflowId, { kind: 'tried again', by: 'ada' });
    expect(await states()).toEqual(['ready', 'waiting']);
    expect(await pieces()).toEqual([]);
  });

  test('waits once among the queued recordings, and not while a piece runs', async () => {
    const { eventId, ready } = await divided({ workers: 3 });
    const waiting = async () =>
      (await queuedRecordings(database, 99)).entries.filter((entry) => entry.eventId === eventId);
    expect(await waiting()).toHaveLength(1);
    await take((await ready())[0] ?? 0);
    expect(await waiting()).toEqual([]);
  });

  test('is stopped with its pieces, whose results go', async () => {
    const app = await createTestApp();
    onTestFinished(() => app.close());
    const { eventId, workflowId, ready, states, pieces } = await divided({ workers: 2 });
    const running = await take((await ready())[0] ?? 0);
    const { object_key } = await insertElement(database, app.context.storage, Buffer.from('result'), {
      ...{ event_id: eventId, workflow_id: workflowId, kind: 'piece', flavor: 'piece/piece', filename: 'piece' },
      mediatype: 'application/octet-stream',
    });
    await control(workflowId, { kind: 'stopped', by: 'ada' });
    expect(await states()).toEqual(['stopped', 'stopped']);
    expect(await pieces()).toEqual([]);
    const { rows: told } = await sql`SELECT FROM changes WHERE event_id = ${eventId} AND kind = 'operation.state'
      AND data->>'operation_state' = 'stopped'`.execute(database);
    expect(told).toHaveLength(1);
    await expect(end(running, { kind: 'succeeded' })).rejects.toThrow(ClaimLost);
    const staged = await database
      .selectFrom('staging')
      .select('object_key')
      .where('object_key', '=', object_key)
      .execute();
    expect(staged).toHaveLength(1);
    await control(workflowId, { kind: 'tried again', by: 'ada' });
    expect(await states()).toEqual(['ready', 'waiting']);
  });
});

describe('the encoding of a recording with enough work', () => {
  test('is divided, publishes each rendition whole, and leaves nothing behind', async () => {
    const app = await workerApp();
    const limited = new Map([...operations, ['encode', encodeWith({ seconds: 4, leastWork: 0 })]]);
    // Few pictures a second: many pieces for little work.
    const video = { rate: 10, options: ['-g', '40'] };
    const webm: ClipOptions = { container: 'webm', seconds: 14, video: { ...video, size: '320x240' } };
    const h264: ClipOptions = { seconds: 14, video: { ...video, size: '640x480' } };
    const files = [
      file('presenter', 'a.webm', await recording(webm)),
      file('presentation', 'b.mp4', await recording(h264)),
    ];
    const id = await created(await post(app, [...eventFields({ workflow: 'publish' }), ...files]));
    await processEvent(app, id, limited);
    const row = await app.database
      .selectFrom('events')
      .select('processing_state')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.processing_state).toBe('SUCCEEDED');
    const elements = await app.database
      .selectFrom('publication_elements')
      .select(['kind', 'filename', 'frame_count', 'height', 'publication_id'])
      .where('event_id', '=', id)
      .where('kind', 'in', ['media', 'piece'])
      .orderBy('filename')
      .execute();
    expect(elements).toMatchObject([
      { filename: 'presentation-360p.mp4', frame_count: 140, height: 360 },
      { filename: 'presentation.m3u8' },
      { filename: 'presentation.mp4', frame_count: 140, height: 480 },
      { filename: 'presenter.m3u8' },
      { filename: 'presenter.mp4', frame_count: 140, height: 240 },
    ]);
    for (const { publication_id } of elements) expect(publication_id).not.toBeNull();
    const { rows: divisions } = await sql<{ data: object }>`
      SELECT data FROM changes WHERE event_id = ${id} AND data ? 'pieces'`.execute(app.database);
    expect(divisions.map(({ data }) => data)).toMatchObject([
      { operation: 'encode', operation_state: 'running', pieces: 8 },
    ]);
  });

  const limits = { seconds: 4, leastWork: 0 };
  const VIDEO = { codec: 'mpeg4', size: '320x240' };
  const media = async (clip: ClipOptions, encode: Operation) => {
    const app = await workerApp();
    const sent = file('presenter', `a.${clip.container}`, await recording(clip));
    const id = await created(await post(app, [...eventFields({ workflow: 'publish' }), sent]));
    const limited = new Map([...operations, ['encode', encode]]);
    // A piece that fails ends its job with the reason.
    await processEvent(app, id, limited).catch(({ message }) => expect(message).toBe('It is damaged.'));
    await processEvent(app, id, limited);
    const elements = app.database.selectFrom('publication_elements').select(['filename', 'frame_count', 'has_audio']);
    return elements
      .where('event_id', '=', id)
      .where('mediatype', 'in', ['video/mp4', 'application/octet-stream'])
      .execute();
  };
  const WHOLE = [{ filename: 'presenter.mp4', frame_count: 225, has_audio: true }];

  test('is done in one go when a piece fails for good', async () => {
    const encode = encodeWith(limits);
    let pieces = 0;
    const runPiece = async (...args: Parameters<NonNullable<Operation['runPiece']>>) => {
      pieces += 1;
      if (pieces === 2) throw Object.assign(new Error('It is damaged.'), { permanent: true });
      return encodeStretch(...args);
    };
    expect(await media({ container: 'mkv', seconds: 9, video: VIDEO }, { ...encode, runPiece })).toEqual(WHOLE);
    expect(pieces).toBe(2);
  });

  test('is done in one go when the pieces cannot be joined, as with sound that their container does not keep', async () => {
    const clip: ClipOptions = { container: 'mov', seconds: 9, video: VIDEO, audio: { codec: 'alac' } };
    expect(await media(clip, encodeWith(limits))).toEqual(WHOLE);
  });
});
