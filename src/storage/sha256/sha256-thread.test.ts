import { expect, test } from 'vitest';
import { Sha256Thread } from './sha256-thread.ts';

test('nobody waits for a thread that has ended', async () => {
  const thread = new Sha256Thread();
  const stream = thread.nextStream();
  // It ends with what it cannot look at.
  const beyond = { memory: new SharedArrayBuffer(1), from: 5, bytes: 1 };
  const asked = [thread.ask({ stream, more: beyond }), thread.ask({ stream, end: 'sum' })];
  for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected');
  expect(thread.works).toBe(false);
  await expect(thread.ask({ stream, end: 'sum' })).rejects.toThrow('has ended');
});
