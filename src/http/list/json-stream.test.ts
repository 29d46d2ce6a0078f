import { expect, test } from 'vitest';
import { streamedArray } from './json-stream.ts';

async function* batches(...values: unknown[][]) {
  yield* values;
}
const unexpected = (error: unknown) => {
  throw error;
};

test.each([
  [[], '[]'],
  [[[]], '[]'],
  [[[1, { a: 'ä' }], [], ['x']], '[1,{"a":"ä"},"x"]'],
])('%j becomes %s', async (values, text) => {
  expect(await new Response(streamedArray(batches(...(values as unknown[][])), unexpected)).text()).toBe(
    text,
  );
});

test('nothing is read ahead of the client, and nothing after it has gone', async () => {
  let read = 0;
  let stopped = false;
  const stream = streamedArray(
    (async function* () {
      try {
        for (;;) yield [++read];
      } finally {
        stopped = true;
      }
    })(),
    unexpected,
  );
  expect(read).toBe(0);
  const reader = stream.getReader();
  await reader.read();
  await reader.read();
  expect(read).toBe(2);
  await reader.cancel();
  expect([read, stopped]).toEqual([2, true]);
});

test('a failure breaks the stream instead of closing the array', async () => {
  const told: unknown[] = [];
  const failure = new Error('gone');
  const stream = streamedArray(
    (async function* () {
      yield [1];
      throw failure;
    })(),
    (error) => told.push(error),
  );
  await expect(new Response(stream).text()).rejects.toThrow();
  expect(told).toEqual([failure]);
});

test('a client that leaves while a batch is being read is no failure', async () => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const told: unknown[] = [];
  const stream = streamedArray(
    (async function* () {
      await arrived;
      yield [1];
    })(),
    (error) => told.push(error),
  );
  const reader = stream.getReader();
  const reading = reader.read();
  const left = reader.cancel();
  arrive();
  await Promise.all([reading, left]);
  expect(told).toEqual([]);
});
