import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { lookLate } from '#test/support/busy.ts';
import { runAfter, startClock, withTimeout } from './timeout.ts';

const HOUR = 3_600_000;
/** Longer than the runtimes' timers, which fire at once from 2^31 ms on. */
const LONG = 900 * HOUR;

describe('on a clock of the test', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  describe('runAfter', () => {
    it.each([1, 2 ** 31 - 1, 2 ** 31, LONG])('calls back once after %d ms and not before', (ms) => {
      const run = vi.fn();
      runAfter(ms, run);
      vi.advanceTimersByTime(ms - 1);
      expect(run).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(run).toHaveBeenCalledOnce();
      expect(vi.getTimerCount()).toBe(0);
    });

    it('is stopped at any time, and never calls back without an end', () => {
      const run = vi.fn();
      const stop = runAfter(LONG, run);
      runAfter(Number.POSITIVE_INFINITY, run);
      vi.advanceTimersByTime(700 * HOUR);
      stop();
      vi.advanceTimersByTime(LONG);
      expect(run).not.toHaveBeenCalled();
    });
  });

  describe('startClock', () => {
    it('runs out when it has gone for so many milliseconds, however often it was held', () => {
      const run = vi.fn();
      const clock = startClock(LONG, run);
      for (let times = 0; times < 3; times += 1) {
        vi.advanceTimersByTime(LONG / 4);
        for (const _twice of [1, 2]) clock.hold();
        vi.advanceTimersByTime(LONG);
        for (const _twice of [1, 2]) clock.resume();
      }
      vi.advanceTimersByTime(LONG / 4 - 1);
      expect(run).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(run).toHaveBeenCalledOnce();
    });

    it('stops for good', () => {
      const run = vi.fn();
      const clock = startClock(1000, run);
      clock.hold();
      clock.stop();
      clock.resume();
      vi.advanceTimersByTime(LONG);
      expect(run).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  it.each([1_999, LONG])('withTimeout gives up what never settles after %d ms and not before', async (ms) => {
    const late = withTimeout(new Promise(() => undefined), ms, 'too late');
    const failed = vi.fn();
    late.catch(failed);
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(failed).toHaveBeenCalledWith(new Error('too late'));
  });
});

test('what is there, but not looked at since the process had no time for it, is not late', async () => {
  // One thing to do, which another thread has done long before this one looks, however busy the machine is.
  expect(await withTimeout(lookLate(), 20, 'Too late.')).toBeUndefined();
});
