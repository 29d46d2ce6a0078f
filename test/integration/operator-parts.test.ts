import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimOperation } from '../../src/workflows/claims.ts';
import { assignLanes, takeDeliveries } from '../../src/workflows/outbox.ts';
import { signOfLife } from '../../src/workflows/worker-processes.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { patientQueue } from '../support/patient-queue.ts';
import { AT_ONCE, operationsOf, startTestWorkflow } from '../support/workflows.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  patientQueue(app);
});
afterAll(() => app?.close());

const post = (path: string, fields: Record<string, string>, headers = {}) =>
  app.request(path, { method: 'POST', body: new URLSearchParams(fields), headers });
const read = async () => (await app.request('/admin/parts')).text();
const now = async () => (await app.request('/admin')).text();
const facts = (name: string) => ({
  ...{ name, host: 'hall-17', pid: 42, runtime: 'Deno 2.9.6', version: '0.1.0', concurrency: 2 },
});
const deliver = async () => {
  await assignLanes(app.database, async (ready) => new Map(ready.map((each) => [each.operationId, 'light'])));
  return takeDeliveries(app.database, ['light', 'heavy', 'long']);
};

test('without a sign of life the page says that nothing is processed; then it shows who lives, and who fell silent', async () => {
  expect(await read()).toContain('nothing is processed');
  expect(await now()).toContain('No worker takes anything');
  await signOfLife(app.database, facts('worker-a'));
  expect(await now()).not.toContain('No worker takes anything');
  await signOfLife(app.database, facts('worker-b'));
  await app.database
    .updateTable('worker_processes')
    .set({ seen_at: new Date(Date.now() - 60_000) })
    .where('name', '=', 'worker-b')
    .execute();
  const text = await read();
  expect(text).toMatch(/worker-a<\/bdi><\/h3><span class="state succeeded">idle/);
  expect(text).toMatch(/worker-b<\/bdi><\/h3><span class="state failed">gone/);
  expect(text).toContain('Deno 2.9.6, Inlet 0.1.0');
});

test('of a lane that is paused nothing is delivered or begun, and all of it is delivered again when it goes on', async () => {
  const before = await startTestWorkflow(app.database);
  expect(await deliver()).toHaveLength(1);
  const paused = await post('/admin/parts/lanes', { lane: 'light', paused: 'true' });
  expect([paused.status, paused.headers.get('Location')]).toEqual([
    303,
    '../../admin/parts?done=The+lane+light+is+paused.',
  ]);
  expect(await read()).toMatch(
    /light<\/strong> <span class="state paused">paused<\/span> [\s\S]*by <bdi>admin/,
  );
  expect(await now()).toContain('The lane light is paused by <bdi>admin</bdi>: what belongs to it waits.');
  const after = await startTestWorkflow(app.database);
  expect(await deliver()).toEqual([]);
  const [operation] = await operationsOf(app.database, before.workflowId);
  expect(await claimOperation(app.database, operation?.id ?? 0, 'worker-a', AT_ONCE)).toBeUndefined();
  await post('/admin/parts/lanes', { lane: 'light', paused: 'false' });
  expect(await deliver()).toHaveLength(2);
  for (const { workflowId } of [before, after]) {
    const [ready] = await operationsOf(app.database, workflowId);
    expect(await claimOperation(app.database, ready?.id ?? 0, 'worker-a', AT_ONCE)).toBeDefined();
  }
});

test('a process hears with its next sign of life what lanes are set to, and whether it is to drain', async () => {
  expect(await signOfLife(app.database, facts('worker-c'))).toEqual({ draining: false, concurrency: {} });
  await post('/admin/parts/lanes', { lane: 'heavy', concurrency: '5' });
  expect((await post('/admin/parts/workers', { worker: 'worker-c', draining: 'true' })).status).toBe(303);
  expect(await signOfLife(app.database, facts('worker-c'))).toEqual({
    draining: true,
    concurrency: { heavy: 5 },
  });
  expect(await read()).toMatch(/worker-c<\/bdi><\/h3><span class="state paused">drained/);
  await post('/admin/parts/lanes', { lane: 'heavy', concurrency: '' });
  await post('/admin/parts/workers', { worker: 'worker-c', draining: 'false' });
  expect(await signOfLife(app.database, facts('worker-c'))).toEqual({ draining: false, concurrency: {} });
});

test('what is no lane, no number or no worker is refused', async () => {
  expect((await post('/admin/parts/lanes', { lane: 'fast' })).status).toBe(400);
  for (const concurrency of ['0', '257', '-1', 'many'])
    expect((await post('/admin/parts/lanes', { lane: 'heavy', concurrency })).status).toBe(400);
  expect((await post('/admin/parts/workers', { worker: 'nobody', draining: 'true' })).status).toBe(404);
  const elsewhere = { Origin: 'https://elsewhere.example.org' };
  expect((await post('/admin/parts/lanes', { lane: 'heavy', paused: 'true' }, elsewhere)).status).toBe(403);
});

test('the dashboard of the queues names no other host', async () => {
  const text = await (await app.request('/admin/queues/')).text();
  expect(text).toContain('<div id="root"');
  expect(text).not.toMatch(/(href|src)="(https?:)?\/\//);
});

test('a queue that was paused itself, past the lanes, is told of where its work waits', async () => {
  const [light] = app.context.queue.queues();
  await light?.pause();
  try {
    for (const path of ['/admin', '/admin/parts']) {
      // The page waits three seconds for the queue.
      await eventually(async () =>
        expect(await (await app.request(path)).text()).toContain(
          'The queue of the lane light itself is paused',
        ),
      );
    }
  } finally {
    await light?.resume();
  }
  expect(await (await app.request('/admin')).text()).not.toContain('itself is paused');
});

test('while the queue is away the page says so, and those of the queue itself load anew', async () => {
  const other = await createTestApp(undefined, { REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const home = await other.request('/admin');
    expect([home.status, await home.text()]).toEqual([
      200,
      expect.stringContaining('The queue does not answer. What becomes ready waits until it does.'),
    ]);
    const queues = await other.request('/admin/queues/', { headers: { Accept: 'text/html' } });
    expect([queues.status, queues.headers.get('Refresh')]).toEqual([503, '15']);
    expect((await other.request('/admin/queues/')).headers.get('Refresh')).toBeNull();
  } finally {
    await other.close();
  }
});
