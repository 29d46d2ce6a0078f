import { Hono } from 'hono';
import { beforeEach, expect, test } from 'vitest';
import { handleErrors } from '../http/error-handler.ts';
import { badRequest } from '../http/errors.ts';
import { requestContext } from '../http/request-context.ts';
import { ScheduleConflict } from '../recordings/conflicts.ts';
import { silentLogger } from '../telemetry/log.ts';
import { abortedUploads } from '../telemetry/metrics.ts';
import { answerFailure } from './answer-failure.ts';

beforeEach(() => abortedUploads.reset());

async function answerTo(error: unknown): Promise<[status: number, counted: string[]]> {
  const app = new Hono();
  app.use(requestContext(silentLogger));
  handleErrors(app);
  app.post('/api/events', (c) => answerFailure(c, error));
  const { status } = await app.request('/api/events', { method: 'POST' });
  const { values } = await abortedUploads.get();
  return [status, values.filter(({ value }) => value > 0).map(({ labels }) => String(labels.cause))];
}

const ofDatabase = (code: string) => Object.assign(new Error('The statement failed.'), { code });

test.each([
  ['a recording that conflicts with others', new ScheduleConflict([]), 409],
  ['a text that PostgreSQL cannot hold', ofDatabase('22021'), 400],
  ['half a surrogate pair in JSON', ofDatabase('22P05'), 400],
  ['what the contract refuses', badRequest('No.'), 400],
])('%s is refused, and no fault that somebody is woken for', async (_, error, status) => {
  expect(await answerTo(error)).toEqual([status, ['refused']]);
});

test.each([
  ['a fault of our own', new TypeError('x is undefined'), 500],
  ['a statement that the schema forbids', ofDatabase('23505'), 500],
  ['a database that is away', ofDatabase('57P01'), 503],
])('%s is one', async (_, error, status) => {
  expect(await answerTo(error)).toEqual([status, ['fault']]);
});
