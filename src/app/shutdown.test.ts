import { afterEach, expect, test, vi } from 'vitest';
import { silentLogger } from '#platform/telemetry/log.ts';
import { Shutdown } from './shutdown.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const before = SIGNALS.map((signal) => process.listeners(signal));

afterEach(() => {
  vi.useRealTimers();
  for (const [i, signal] of SIGNALS.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!before[i]?.includes(listener)) process.off(signal, listener);
    }
  }
});

function shutdown(deadlineMs = 1_000) {
  const exits: number[] = [];
  const subject = new Shutdown({ log: silentLogger, deadlineMs, exit: (code) => exits.push(code) });
  return { subject, exits };
}

const never = () => new Promise<void>(() => undefined);

test('parts finish at the same time, and resources are released after that, one after the other', async () => {
  const { subject } = shutdown();
  const order: string[] = [];
  const takingATurn = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
  };
  subject.release('c', takingATurn('c'));
  subject.release('d', takingATurn('d'));
  subject.finish('a', takingATurn('a'));
  subject.finish('b', takingATurn('b'));
  await subject.run();
  expect(order.slice(0, 2)).toEqual(['a begins', 'b begins']);
  expect(order.slice(4)).toEqual(['c begins', 'c ends', 'd begins', 'd ends']);
});

test('a part that fails, at once or later, does not keep the others from running', async () => {
  const { subject } = shutdown();
  const last = vi.fn(async () => undefined);
  subject.finish('rejects', () => Promise.reject(new Error('broken')));
  subject.finish('throws', () => {
    throw new Error('broken');
  });
  subject.release('throws', () => {
    throw new Error('broken');
  });
  subject.release('last', last);
  await subject.run();
  expect(last).toHaveBeenCalledOnce();
});

test('however many parts and resources hang, all is over at the deadline', async () => {
  vi.useFakeTimers();
  const { subject } = shutdown(30_000);
  const released = vi.fn(never);
  const last = vi.fn(never);
  subject.finish('hangs', never);
  subject.finish('hangs as well', never);
  subject.release('hangs', released);
  subject.release('last', last);
  const over = vi.fn();
  void subject.run().then(over);
  await vi.advanceTimersByTimeAsync(26_999);
  expect(released).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(released).toHaveBeenCalledWith(3_000);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(last).toHaveBeenCalledOnce();
  // One who has no time left has a few turns of the event loop.
  await vi.advanceTimersByTimeAsync(20);
  expect(over).toHaveBeenCalledOnce();
});

test('the first signal runs the phases and exits with 0', async () => {
  const { subject, exits } = shutdown();
  const phase = vi.fn(async () => undefined);
  subject.finish('only', phase);
  subject.listen();
  process.emit('SIGTERM', 'SIGTERM');
  await vi.waitFor(() => expect(exits).toEqual([0]));
  expect(phase).toHaveBeenCalledOnce();
});

/** What a process exits with that hangs while it is asked to stop, and gets a second signal. */
function exitsAfter(first: NodeJS.Signals, second: NodeJS.Signals, pauseMs: number): number[] {
  vi.useFakeTimers();
  const { subject, exits } = shutdown();
  subject.finish('hangs', never);
  subject.listen();
  process.emit(first, first);
  vi.advanceTimersByTime(pauseMs);
  process.emit(second, second);
  return exits;
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second signal, %s, exits immediately with %i', (signal, code) => {
  expect(exitsAfter('SIGTERM', signal, 600)).toEqual([code]);
});

test('the echo of a signal that npm passes on is no second signal', () => {
  expect(exitsAfter('SIGINT', 'SIGINT', 0)).toEqual([]);
});
