import { expect, test, vi } from 'vitest';
import { Pulse } from '../src/pulse.ts';
import { silentLogger } from '../src/telemetry.ts';
import { periodically } from './periodically.ts';

test('a run that hangs shows, one that fails or has ended does not', async () => {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  const loop = periodically(
    'loop',
    0,
    silentLogger,
    () => new Promise<void>((end, fail) => runs.push({ end, fail })),
  );
  const pulse = new Pulse();
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
