import { Hono } from 'hono';
import { beforeEach, describe, expect, test } from 'vitest';
import { ScheduleConflict } from '#capture/schedules/schedule-conflicts.ts';
import { handleErrors } from '#platform/http/app/error-handler.ts';
import { requestContext } from '#platform/http/app/request-context.ts';
import { badRequest, HttpError } from '#platform/http/errors/errors.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { abortedUploads } from '#platform/telemetry/metrics.ts';
import { parseTrackRequest } from './external-api/add-track.endpoint.ts';
import { answerUploadFailure } from './upload-failures.ts';
import { UploadLimiter, type UploadPass } from './upload-limiter.ts';

describe('the answer to an upload that failed', () => {
  beforeEach(() => abortedUploads.reset());

  async function answerTo(error: unknown): Promise<[status: number, counted: string[]]> {
    const app = new Hono();
    app.use(requestContext(silentLogger));
    handleErrors(app);
    app.post('/api/events', (c) => answerUploadFailure(c, error));
    const { status } = await app.request('/api/events', { method: 'POST' });
    const { values } = await abortedUploads.get();
    return [status, values.filter(({ value }) => value > 0).map(({ labels }) => String(labels.cause))];
  }

  const ofDatabase = (code: string) => Object.assign(new Error('The statement failed.'), { code });

  test.each([
    ['a recording that conflicts with others', new ScheduleConflict([]), 409, 'refused'],
    ['a text that PostgreSQL cannot hold', ofDatabase('22021'), 400, 'refused'],
    ['half a surrogate pair in JSON', ofDatabase('22P05'), 400, 'refused'],
    ['what the contract refuses', badRequest('No.'), 400, 'refused'],
    ['a fault of our own', new TypeError('x is undefined'), 500, 'fault'],
    ['a statement that the schema forbids', ofDatabase('23505'), 500, 'fault'],
    ['a database that is away', ofDatabase('57P01'), 503, 'fault'],
  ])('%s is %i and counted as %s, so that faults alone wake somebody', async (_, error, status, cause) => {
    expect(await answerTo(error)).toEqual([status, [cause]]);
  });
});

describe('the gate for uploads', () => {
  /** Carries out work with a pass of the gate. */
  async function pass<T>(
    gate: UploadLimiter,
    work: (enter: UploadPass['enter']) => Promise<T>,
    waitMs?: number,
  ): Promise<T> {
    await using opened = gate.open(waitMs);
    return await work(opened.enter);
  }

  /** A request that has entered and stays until it is told to end. */
  function staying(gate: UploadLimiter) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = pass(gate, (enter) => {
      enter().catch(() => undefined);
      return promise;
    });
    done.catch(() => undefined);
    return { done, end: resolve, fail: reject };
  }

  const entering = (gate: UploadLimiter) => pass(gate, async (enter) => enter());

  test('one more than there may be is refused until another has ended, however it ends', async () => {
    const gate = new UploadLimiter(2);
    const [first, second] = [staying(gate), staying(gate)];
    const refused = entering(gate);
    await expect(refused).rejects.toThrow(HttpError);
    await expect(refused).rejects.toMatchObject({
      status: 503,
      message: 'The maximum number of concurrent uploads (2) is reached. Try again later.',
      headers: { Connection: 'close', 'Retry-After': '30' },
    });
    first.end();
    await first.done;
    await entering(gate);
    second.fail(new Error('broken'));
    await expect(second.done).rejects.toThrow('broken');
    staying(gate);
    staying(gate);
    await expect(entering(gate)).rejects.toThrow(HttpError);
  });

  test('a request counts once, and not before it enters', async () => {
    const gate = new UploadLimiter(1);
    await pass(gate, async (enter) => {
      await entering(gate);
      await enter();
      await enter();
      await expect(entering(gate)).rejects.toThrow(HttpError);
    });
    await entering(gate);
  });

  test('without a number all that come are received', async () => {
    const gate = new UploadLimiter();
    const many = Array.from({ length: 1000 }, () => staying(gate));
    await entering(gate);
    for (const { end } of many) end();
  });

  test('those that wait have their turns in the order in which they came', async () => {
    const gate = new UploadLimiter(1);
    const first = staying(gate);
    const order: number[] = [];
    const waiting = [1, 2, 3].map((n) =>
      pass(
        gate,
        async (enter) => {
          await enter();
          order.push(n);
        },
        60_000,
      ),
    );
    expect(gate.full).toBe(true);
    await expect(entering(gate)).rejects.toThrow(HttpError);
    first.end();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    expect(gate.full).toBe(false);
  });

  test('who has waited too long is refused, and takes nobody a place', async () => {
    const gate = new UploadLimiter(1);
    const first = staying(gate);
    const waited = pass(gate, (enter) => enter(), 5);
    await expect(waited).rejects.toMatchObject({ status: 503 });
    first.end();
    await first.done;
    await entering(gate);
  });
});

describe('the fields of a track', () => {
  const parse = (fields: Record<string, string>) => parseTrackRequest(new Map(Object.entries(fields)));

  test('the fields of a track are read, blanks around them and repeated tags do not count', () => {
    const sent = { flavor: ' captions/source ', tags: ' a , ,lang:de,a', overwriteExisting: 'TRUE' };
    const read = { flavor: 'captions/source', tags: ['a', 'lang:de'], overwriteExisting: true };
    expect(parse(sent)).toEqual(read);
    expect(parse({ flavor: 'a/b' })).toEqual({ flavor: 'a/b', tags: [], overwriteExisting: false });
  });

  test.each(['1', 'yes', 'false', ''])('overwriteExisting=%s is not true', (overwriteExisting) => {
    expect(parse({ flavor: 'a/b', overwriteExisting })).toMatchObject({ overwriteExisting: false });
  });

  test.each([
    ...['', 'captions', 'a/b/c', 'a/', '/b', 'a b/c', `a/${'b'.repeat(200)}`].map((flavor) => [flavor, flavor]),
    ['a/b\u0000', 'a/b'],
    ['a/\ud800', 'a/'],
  ])('the flavor %j is refused', (flavor = '', shown = '') => {
    expect(() => parse({ flavor })).toThrow(`Could not parse flavor ${shown}; `);
    expect(() => parse({})).toThrow('Could not parse flavor ; ');
  });

  test.each([
    ['with a NUL', 'x\u0000'],
    ['with half a character', '\ud800'],
    ['too long', 'x'.repeat(256)],
    ['too many', Array.from({ length: 10_000 }, (_, i) => i).join()],
  ])('tags %s are refused', (_what, tags) => {
    expect(() => parse({ flavor: 'a/b', tags })).toThrow(/^Could not add track: /);
  });
});
