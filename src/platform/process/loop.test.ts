import { expect, test, vi } from 'vitest';
import { silentLogger } from '../telemetry/log.ts';
import { LoopMonitor } from '../telemetry/pulse.ts';
import { startLoop } from './loop.ts';

test('a run that hangs shows, one that fails or has ended does not', async () => {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  const loop = startLoop(
    'loop',
    { pauseMs: 0 },
    silentLogger,
    () => new Promise<void>((end, fail) => runs.push({ end, fail })),
  );
  const pulse = new LoopMonitor();
  pulse.watch(loop);
  await vi.waitFor(() => expect(pulse.stuck(10)).toEqual(['loop']));
  expect(pulse.stuck(60_000)).toEqual([]);
  runs[0]?.fail(new Error('as asked'));
  await vi.waitFor(() => expect(runs).toHaveLength(2));
  const closed = loop.close();
  runs[1]?.end();
  await closed;
  expect(loop.runningMs()).toBe(0);
  expect(pulse.stuck(0)).toEqual([]);
});

test('many wakes make one run, after a rest', async ({ onTestFinished }) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const began = performance.now();
  const times: number[] = [];
  const pace = { pauseMs: 60_000, restMs: 50 };
  const loop = startLoop('loop', pace, silentLogger, async () => times.push(performance.now() - began));
  for (let i = 0; i < 20; i += 1) {
    loop.wake();
    await vi.advanceTimersByTimeAsync(1);
  }
  await vi.advanceTimersByTimeAsync(1_000);
  await loop.close();
  loop.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(times).toEqual([0, 50]);
});
