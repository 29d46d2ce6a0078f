import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { heartbeat } from '../../src/workflows/claims.ts';
import { parseDefinition } from '../../src/workflows/definitions.ts';
import { startWorkflow } from '../../src/workflows/start.ts';
import { toldWorkflowsForThisFile } from '../support/told-workflows.ts';
import { operationsOf, processingState } from '../support/workflows.ts';

const { app, start, states, claim, end, work, put } = toldWorkflowsForThisFile();

describe('pausing', () => {
  test('holds what has not begun, and resuming lets it go on where it was', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    expect((await put(id, { state: 'paused' })).json).toMatchObject({ state: 'paused' });
    expect(await states(id)).toEqual(['paused', 'waiting']);
    expect(await processingState(app.database, event)).toBe('PAUSED');
    expect((await put(id, { state: 'running' })).json).toMatchObject({ state: 'running' });
    expect(await states(id)).toEqual(['ready', 'waiting']);
    await work(id);
    await work(id);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('lets the operation under way end, keeps its result, and begins no other', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    expect(await heartbeat(app.database, held, 0.5)).toBe(true);
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'paused']);
    expect(await processingState(app.database, event)).toBe('PAUSED');
  });

  test('while the last operation is under way, it succeeds when it is resumed', async () => {
    const { id, event } = await start({ operations: ['noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held);
    expect(await processingState(app.database, event)).toBe('PAUSED');
    expect((await put(id, { state: 'running' })).json.state).toBe('succeeded');
  });

  test.each(['retried', 'deferred', 'handed back', 'lost'] as const)(
    'an operation that was %s meanwhile waits for the resumption',
    async (kind) => {
      const { id } = await start({ operations: ['noop', 'noop'] });
      const held = await claim(id);
      await put(id, { state: 'paused' });
      await end(held, kind);
      expect(await states(id)).toEqual(['paused', 'waiting']);
      await put(id, { state: 'running' });
      expect(await states(id)).toEqual(['ready', 'waiting']);
    },
  );

  test('does not hide a failure of what was under way', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held, 'failed');
    expect(await processingState(app.database, event)).toBe('FAILED');
  });

  test('while the operation before a review is under way, it does not take the review away', async () => {
    const { id, event } = await start({ operations: ['noop', 'pause', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'waiting', 'waiting']);
    expect((await put(id, { state: 'running' })).json.state).toBe('paused');
    expect(await states(id)).toEqual(['succeeded', 'paused', 'waiting']);
    await put(id, { state: 'running' });
    expect(await states(id)).toEqual(['succeeded', 'succeeded', 'ready']);
    await work(id);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('does not take a review away that the configuration asks for only then', async () => {
    const operations = ['noop', { operation: 'pause', if: 'review' }, 'noop'];
    const { id } = await start({ operations, configuration: { review: false } });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'skipped', 'paused']);
    await put(id, { configuration: '{ "review": "true" }' });
    expect(await states(id)).toEqual(['succeeded', 'waiting', 'waiting']);
    expect((await put(id, { state: 'running' })).json.state).toBe('paused');
    expect(await states(id)).toEqual(['succeeded', 'paused', 'waiting']);
    await put(id, { configuration: '{ "review": "true" }' });
    expect(await states(id)).toEqual(['succeeded', 'paused', 'waiting']);
    await put(id, { state: 'running' });
    expect(await states(id)).toEqual(['succeeded', 'succeeded', 'ready']);
  });

  test('resumed at once it changes nothing for the operation under way', async () => {
    const { id } = await start({ operations: ['noop', 'noop'] });
    const held = await claim(id);
    await put(id, { state: 'paused' });
    expect((await put(id, { state: 'running' })).status).toBe(200);
    await end(held);
    expect(await states(id)).toEqual(['succeeded', 'ready']);
  });
});

describe('stopping and trying again', () => {
  test('goes on with the operation that failed, keeps what was done, and gives it all its attempts', async () => {
    const { id, event } = await start({ operations: ['noop', { operation: 'noop', retries: 1 }, 'noop'] });
    await work(id);
    await work(id, 'retried');
    await work(id, 'failed');
    expect(await states(id)).toEqual(['succeeded', 'failed', 'stopped']);
    const [done] = await operationsOf(app.database, id);
    const again = await put(id, { state: 'retry' });
    expect(again.json).toMatchObject({ state: 'running' });
    expect(again.json.reason).toBeUndefined();
    expect(await states(id)).toEqual(['succeeded', 'ready', 'waiting']);
    const [kept, tried] = await operationsOf(app.database, id);
    expect(kept).toEqual(done);
    expect(tried).toMatchObject({ attempts: 0, reason: null, log: null });
    await work(id);
    await work(id);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('what was stopped goes on with the operation that was under way, under another claim', async () => {
    const { id, event } = await start({ operations: ['noop', 'noop'] });
    await work(id);
    const held = await claim(id);
    await put(id, { state: 'stopped' });
    expect(await states(id)).toEqual(['succeeded', 'stopped']);
    expect((await put(id, { state: 'retry' })).json.state).toBe('running');
    const next = await claim(id);
    expect(next.token).toBeGreaterThan(held.token);
    expect(await heartbeat(app.database, held, 0.5)).toBe(false);
    await end(next);
    expect(await processingState(app.database, event)).toBe('SUCCEEDED');
  });

  test('every attempt that did not succeed is kept with its worker, its end and its reason', async () => {
    const { id } = await start({ operations: [{ operation: 'noop', retries: 5 }] });
    for (const kind of ['retried', 'deferred', 'deferred', 'handed back', 'failed'] as const)
      await work(id, kind);
    await put(id, { state: 'retry' });
    await claim(id);
    await put(id, { state: 'stopped' });
    const attempts = await app.database
      .selectFrom('workflow_attempts')
      .innerJoin('workflow_operations', 'workflow_operations.id', 'operation_id')
      .select(['outcome', 'times', 'workflow_attempts.worker', 'workflow_attempts.reason'])
      .where('workflow_id', '=', id)
      .orderBy('workflow_attempts.id')
      .execute();
    const worker = 'worker-a';
    expect(attempts).toEqual([
      { outcome: 'retried', times: 1, worker, reason: 'It broke.' },
      { outcome: 'deferred', times: 2, worker, reason: 'It broke.' },
      { outcome: 'handed back', times: 1, worker, reason: null },
      { outcome: 'failed', times: 1, worker, reason: 'It broke.' },
      { outcome: 'stopped', times: 1, worker, reason: null },
    ]);
  });

  test('an event that has other tracks since is processed from the beginning', async () => {
    const { id, event } = await start({ operations: ['inspect', 'noop'] });
    await work(id);
    await work(id, 'failed');
    await app.database
      .insertInto('tracks')
      .values({
        ...{ id: crypto.randomUUID(), event_id: event, position: 0, flavor: 'presenter/source' },
        ...{ filename: 'a.mp4', mediatype: 'video/mp4', object_key: crypto.randomUUID(), size: 1 },
      })
      .execute();
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(['ready', 'waiting']);
  });

  test('one whose publication was retracted when it failed is processed from the beginning', async () => {
    const { id, event } = await start({
      operations: ['encode', 'publish', 'noop'],
      on_failure: ['retract'],
    });
    for (const kind of ['succeeded', 'succeeded', 'failed', 'succeeded'] as const) await work(id, kind);
    expect(await processingState(app.database, event)).toBe('FAILED');
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
  });

  test.each([
    [
      'was not published yet',
      ['succeeded', 'failed', 'succeeded'],
      ['succeeded', 'ready', 'waiting', 'waiting'],
    ],
    [
      'could not be retracted',
      ['succeeded', 'succeeded', 'failed', 'failed'],
      ['succeeded', 'succeeded', 'ready', 'waiting'],
    ],
  ] as const)('what was done is kept of one that %s', async (_, kinds, kept) => {
    const { id } = await start({ operations: ['encode', 'publish', 'noop'], on_failure: ['retract'] });
    for (const kind of kinds) await work(id, kind);
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(kept);
  });

  test('only the latest workflow of an event is tried again', async () => {
    const first = await start({ operations: ['noop'] });
    await work(first.id, 'failed');
    const second = await start({ operations: ['noop'] }, first.event);
    await work(second.id, 'failed');
    const refused = await put(first.id, { state: 'retry' });
    expect([refused.status, refused.text]).toEqual([
      409,
      'Another workflow of the event was started later; it is the one to be tried again.',
    ]);
    expect((await put(second.id, { state: 'retry' })).status).toBe(200);
  });

  test('one that is to be tried again while another workflow is being started gives way to it', async () => {
    const { id, event } = await start({ operations: ['noop'] });
    await work(id, 'failed');
    const definition = parseDefinition(
      'told.yaml',
      '{ id: told, title: Told, operations: [{ operation: noop }] }',
    );
    const facts = { eventId: event, definition, configuration: {}, creator: 'ada', requestId: 'request' };
    let answer: ReturnType<typeof put> | undefined;
    await app.database.transaction().execute(async (trx) => {
      await startWorkflow(trx, facts);
      answer = put(id, { state: 'retry' });
      await setTimeout(300);
    });
    expect((await answer)?.status).toBe(409);
    expect(await states(id)).toEqual(['failed']);
  });

  test('of ten who want it tried again at once, one succeeds, and the others are told why not', async () => {
    const { id } = await start({ operations: ['noop'] });
    await work(id, 'failed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => put(id, { state: 'retry' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(await states(id)).toEqual(['ready']);
  });
});

describe('what is done when a workflow fails', () => {
  const failing = { operations: ['noop', 'noop'], on_failure: ['noop', 'noop'] };

  test('is done while it is FAILING, and then it has FAILED with the first reason', async () => {
    const { id, event } = await start(failing);
    expect(await states(id)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    await work(id, 'failed');
    expect(await states(id)).toEqual(['failed', 'stopped', 'ready', 'waiting']);
    expect(await processingState(app.database, event)).toBe('FAILING');
    await work(id);
    expect(await processingState(app.database, event)).toBe('FAILING');
    await work(id);
    expect(await processingState(app.database, event)).toBe('FAILED');
    expect(await states(id)).toEqual(['failed', 'stopped', 'succeeded', 'succeeded']);
    expect(JSON.parse(await (await app.request(`/api/workflows/${id}`)).text()).reason).toBe('It broke.');
  });

  test('is left when it fails itself', async () => {
    const { id, event } = await start(failing);
    await work(id, 'failed');
    await work(id, 'failed');
    expect(await processingState(app.database, event)).toBe('FAILED');
    expect(await states(id)).toEqual(['failed', 'stopped', 'failed', 'stopped']);
  });

  test('is left out when nothing fails, and done again when it fails again', async () => {
    const sound = await start(failing);
    await work(sound.id);
    await work(sound.id);
    expect(await states(sound.id)).toEqual(['succeeded', 'succeeded', 'skipped', 'skipped']);
    const { id, event } = await start(failing);
    for (const kind of ['failed', 'succeeded', 'succeeded'] as const) await work(id, kind);
    await put(id, { state: 'retry' });
    expect(await states(id)).toEqual(['ready', 'waiting', 'waiting', 'waiting']);
    for (const kind of ['failed', 'succeeded', 'succeeded'] as const) await work(id, kind);
    expect(await processingState(app.database, event)).toBe('FAILED');
  });

  test('can be stopped, and cannot be paused', async () => {
    const { id } = await start(failing);
    await work(id, 'failed');
    expect((await put(id, { state: 'paused' })).status).toBe(409);
    expect((await put(id, { state: 'stopped' })).json.state).toBe('stopped');
    expect(await states(id)).toEqual(['failed', 'stopped', 'stopped', 'stopped']);
  });
});
