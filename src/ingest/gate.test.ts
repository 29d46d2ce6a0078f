import { expect, test } from 'vitest';
import { HttpError } from '../http/errors.ts';
import { UploadGate } from './gate.ts';

/** A request that has entered and stays until it is told to end. */
function staying(gate: UploadGate) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const done = gate.pass((enter) => {
    enter().catch(() => undefined);
    return promise;
  });
  done.catch(() => undefined);
  return { done, end: resolve, fail: reject };
}

const entering = (gate: UploadGate) => gate.pass(async (enter) => enter());

test('one more than there may be is refused until another has ended, however it ends', async () => {
  const gate = new UploadGate(2);
  const [first, second] = [staying(gate), staying(gate)];
  const refused = entering(gate);
  await expect(refused).rejects.toThrow(HttpError);
  await expect(refused).rejects.toMatchObject({
    status: 503,
    message: 'As many uploads are under way as there may be at once (2). Try again later.',
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
  const gate = new UploadGate(1);
  await gate.pass(async (enter) => {
    await entering(gate);
    await enter();
    await enter();
    await expect(entering(gate)).rejects.toThrow(HttpError);
  });
  await entering(gate);
});

test('without a number all that come are received', async () => {
  const gate = new UploadGate();
  const many = Array.from({ length: 1000 }, () => staying(gate));
  await entering(gate);
  for (const { end } of many) end();
});

test('those that wait have their turns in the order in which they came', async () => {
  const gate = new UploadGate(1);
  const first = staying(gate);
  const order: number[] = [];
  const waiting = [1, 2, 3].map((n) =>
    gate.pass(
      async (enter) => {
        await enter();
        order.push(n);
      },
      { waitMs: 60_000 },
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
  const gate = new UploadGate(1);
  const first = staying(gate);
  const waited = gate.pass((enter) => enter(), { waitMs: 5 });
  await expect(waited).rejects.toMatchObject({ status: 503 });
  first.end();
  await first.done;
  await entering(gate);
});
