import { expect, test } from 'vitest';
import { RequestPace, Slots } from './request-limits.ts';

const { signal } = new AbortController();
const aborted = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('stopped')) };
};

test('requests are spaced, also when they come together', async () => {
  const pace = new RequestPace(50);
  const begun = performance.now();
  await Promise.all(Array.from({ length: 6 }, () => pace.take(signal)));
  // A busy machine can only make it later.
  expect(performance.now() - begun).toBeGreaterThan(99);
});

test('a request that is aborted does not wait for its turn, and takes none', async () => {
  const pace = new RequestPace(1);
  pace.hold(60_000);
  const first = aborted();
  const second = aborted();
  const turns = [pace.take(first.signal), pace.take(second.signal)];
  second.abort();
  await expect(turns[1]).rejects.toThrow('stopped');
  first.abort();
  await expect(turns[0]).rejects.toThrow('stopped');
});

test('slots are handed over in order, and past those that gave up', async () => {
  const slots = new Slots(1);
  const release = await slots.acquire(signal);
  const { signal: stopped, abort } = aborted();
  const order: string[] = [];
  const take = async (name: string, until = signal) => {
    const done = await slots.acquire(until);
    order.push(name);
    done();
  };
  const gone = take('gone', stopped).catch((error) => expect(error.message).toBe('stopped'));
  const rest = [take('next'), take('last')];
  abort();
  // Once only.
  release();
  release();
  await Promise.all([gone, ...rest]);
  expect(order).toEqual(['next', 'last']);
});
