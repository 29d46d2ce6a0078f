import { afterEach, expect, test, vi } from 'vitest';
import { Shutdown } from './shutdown.ts';
import { silentLogger } from './telemetry.ts';

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

test('phases run one after the other, in the order they were added', async () => {
  const { subject } = shutdown();
  const order: string[] = [];
  subject.phase('first', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push('first');
  });
  subject.phase('second', async () => void order.push('second'));
  await subject.run();
  expect(order).toEqual(['first', 'second']);
});

test('a phase that fails, at once or later, does not keep the next one from running', async () => {
  const { subject } = shutdown();
  const last = vi.fn(async () => undefined);
  subject.phase('rejects', () => Promise.reject(new Error('broken')));
  subject.phase('throws', () => {
    throw new Error('broken');
  });
  subject.phase('last', last);
  await subject.run();
  expect(last).toHaveBeenCalledOnce();
});

test('a phase that never ends is left behind at its deadline', async () => {
  vi.useFakeTimers();
  const { subject } = shutdown(30_000);
  const last = vi.fn(async () => undefined);
  subject.phase('hangs', () => new Promise(() => undefined));
  subject.phase('last', last);
  const run = subject.run();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(last).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await run;
  expect(last).toHaveBeenCalledOnce();
});

test('the first signal runs the phases and exits with 0', async () => {
  const { subject, exits } = shutdown();
  const phase = vi.fn(async () => undefined);
  subject.phase('only', phase);
  subject.listen();
  process.emit('SIGTERM', 'SIGTERM');
  await vi.waitFor(() => expect(exits).toEqual([0]));
  expect(phase).toHaveBeenCalledOnce();
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second signal, %s, exits at once with %i', (signal, code) => {
  vi.useFakeTimers();
  const { subject, exits } = shutdown();
  subject.phase('hangs', () => new Promise(() => undefined));
  subject.listen();
  process.emit('SIGTERM', 'SIGTERM');
  vi.advanceTimersByTime(600);
  process.emit(signal, signal);
  expect(exits).toEqual([code]);
});

test('the echo of a signal that npm passes on is no second signal', () => {
  vi.useFakeTimers();
  const { subject, exits } = shutdown();
  subject.phase('hangs', () => new Promise(() => undefined));
  subject.listen();
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGINT', 'SIGINT');
  expect(exits).toEqual([]);
});
