import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestApp, type TestApp } from '../../test/support/app.ts';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { patientQueue } from '../../test/support/patient-queue.ts';
import { dashboardRoutes } from './dashboard.ts';

const QUEUES = '/admin/queues/api/queues';
const SECRET = 'connect to 10.0.0.1 with secret';

let app: TestApp;
let lines: string[] = [];
let ask: (path: string) => Promise<[status: number, type: string | null, text: string]>;
beforeAll(async () => {
  app = await createTestApp();
  patientQueue(app);
  const log = pino({}, { write: (line) => void lines.push(line) });
  const dashboard = endpointApp([], {}, { log, mounted: [dashboardRoutes(app.context.queue)] });
  ask = async (path) => {
    const answer = await dashboard.request(path);
    return [answer.status, answer.headers.get('Content-Type'), await answer.text()];
  };
});
beforeEach(() => {
  lines = [];
});
afterAll(() => app?.close());

/** Lets the first queue fail with what a backend may say. */
function fail(error: Error) {
  const [queue] = app.context.queue.queues();
  if (queue) vi.spyOn(queue, 'getJobCounts').mockRejectedValue(error);
}
const SENTENCE = 'text/plain; charset=utf-8';
const AWAY = [503, SENTENCE, 'The queue does not answer.'];

test('shows the queues', async () => {
  expect(await ask(QUEUES)).toEqual([200, 'application/json', expect.stringContaining('"name":"light"')]);
});

test('refuses a name of a queue that cannot be read', async () => {
  expect(await ask(`${QUEUES}?activeQueue=%25`)).toEqual([
    400,
    SENTENCE,
    'The address is not percent-encoded UTF-8.',
  ]);
});

test.each(['production', 'development'])('says in the log alone what went wrong (%s)', async (mode) => {
  vi.stubEnv('NODE_ENV', mode);
  fail(new Error(SECRET));
  const [status, type, text] = await ask(QUEUES);
  expect([status, type]).toEqual([500, SENTENCE]);
  expect(text).toMatch(/^Internal server error; the log has the details under request id \S+\.$/);
  const [logged] = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
  expect([logged?.path, logged?.err.message]).toEqual([QUEUES, SECRET]);
});

test('is 503 when the queue went away meanwhile', async () => {
  fail(Object.assign(new Error(SECRET), { code: 'ECONNRESET' }));
  expect(await ask(QUEUES)).toEqual(AWAY);
  fail(new Error(SECRET));
  vi.spyOn(app.context.queue, 'check').mockResolvedValueOnce().mockRejectedValue(new Error(SECRET));
  expect(await ask(QUEUES)).toEqual(AWAY);
});
