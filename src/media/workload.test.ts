import { describe, expect, it } from 'vitest';
import { AUDIO, VIDEO } from '../../test/support/streams.ts';
import type { VideoStream } from './streams.ts';
import { assertPlausible, encodingLimit, encodingWork, type Inspected, isLongWork } from './workload.ts';

const HOUR = 3_600_000;

/** A recording in VP9, which has to be encoded. */
function recording(hours: number, megabytes: number, video: Partial<VideoStream> | null): Inspected {
  return {
    recording: { demuxer: 'matroska' },
    duration: hours * HOUR,
    size: megabytes * 1e6,
    video: video ? { ...VIDEO, codec: 'vp9', profile: null, ...video } : undefined,
    audio: undefined,
  };
}

const FOUR_K = { width: 3840, height: 2160 };

describe('encodingWork', () => {
  it('goes by the frames that were counted, else by the rate, and never beyond what the bytes can hold', () => {
    expect(encodingWork(recording(1, 1000, { frameCount: 1000 }))).toBe(1000 * 1920 * 1080);
    expect(encodingWork(recording(1, 1000, {}))).toBe(90_000 * 1920 * 1080);
    expect(encodingWork(recording(1, 0.008, {}))).toBe(1000 * 1920 * 1080);
  });

  it('is nothing for what is taken over', () => {
    expect(encodingWork(recording(20, 9000, { codec: 'h264', profile: 'High' }))).toBe(0);
  });
});

describe('isLongWork', () => {
  it.each([
    ['a lecture', recording(1.5, 700, {})],
    ['a short recording in 4K', recording(0.75, 3000, FOUR_K)],
    ['a screen on which little moves', recording(1, 30, {})],
    ['a day that is only taken over', recording(24, 20_000, { codec: 'h264', profile: 'High' })],
    ['two pictures ten hours apart', recording(10, 0.65, { ...FOUR_K, frameCount: 2 })],
    ['a short flood of pictures', recording(0.001, 0.1, { ...FOUR_K, frameCount: 1000 })],
  ])('does not send %s to the lane of the long ones', (_what, inspected) => {
    expect(isLongWork(inspected)).toBe(false);
  });

  it.each([
    ['a day in 1080p', recording(24, 10_000, {})],
    ['hours in 4K', recording(3, 10_000, FOUR_K)],
    [
      'a small file full of large pictures',
      recording(0.1, 2, { width: 8192, height: 8192, frameCount: 10_000 }),
    ],
    [
      'two weeks of sound',
      { ...recording(336, 5000, null), audio: { ...AUDIO, codec: 'flac', profile: null } },
    ],
  ])('sends %s there', (_what, inspected) => {
    expect(isLongWork(inspected)).toBe(true);
  });
});

describe('assertPlausible', () => {
  it('refuses for good what says that it lasts for weeks, and says what is allowed', () => {
    expect(() => assertPlausible(recording(150, 1, null))).not.toThrow();
    expect(() => assertPlausible(recording(10_000, 1, null))).toThrow(
      expect.objectContaining({ permanent: true, message: expect.stringMatching(/10000 hours.*168 hours/) }),
    );
  });
});

describe('encodingLimit', () => {
  it('grows with the work and not only with the duration', () => {
    expect(encodingLimit(recording(10, 0.65, { ...FOUR_K, frameCount: 2 }))).toBeLessThan(11 * HOUR);
    expect(encodingLimit(recording(1.5, 700, {}))).toBeGreaterThan(30 * HOUR);
    expect(encodingLimit(recording(0, 1, { frameCount: 1 }))).toBeGreaterThan(10 * 60_000);
  });

  it('has time for what cannot be taken over after all', () => {
    const h264 = { ...FOUR_K, codec: 'h264', profile: 'High', frameRate: 30, peakFrameRate: 30 };
    expect(encodingLimit(recording(2, 9000, h264))).toBeGreaterThan(100 * HOUR);
  });
});
