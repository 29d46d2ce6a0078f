import { describe, expect, it } from 'vitest';
import { AUDIO, VIDEO } from '#test/support/streams.ts';
import { deliveryRate, threadsFor } from './delivery-plan.ts';
import { fragmentOptions, largestResult } from './encode-delivery.ts';
import { planLadder } from './ladder.ts';
import type { MediaInfo } from './probe.ts';
import type { AudioStream, VideoStream } from './streams.ts';
import { assertPlausible, encodingLimit, encodingWork, type Inspected, isLongWork } from './workload.ts';

const HOUR = 3_600_000;
const QUALITY = { preset: 'veryfast', crf: 23 };

function plan(
  video: Partial<VideoStream> | null,
  audio: Partial<AudioStream> | null,
  demuxer = 'mov',
  duration = 10_000,
) {
  const info: MediaInfo = {
    recording: { path: '/recording', size: 1, mediatype: 'video/mp4', demuxer, warnings: [] },
    duration,
    size: 1,
    hasAudio: audio !== null,
    hasVideo: video !== null,
    streams: [],
    video: video ? { ...VIDEO, ...video } : undefined,
    audio: audio ? { ...AUDIO, ...audio } : undefined,
    indexed: true,
    measured: false,
    start: 0,
    soundTick: 1 / 48_000,
    spans: { video: { begin: 0, end: null }, audio: { begin: 0, end: null } },
  };
  const { renditions, ...ladder } = planLadder(info, { quality: QUALITY, heights: ['source'] });
  const { video: pictures, audio: sound } = renditions[0] ?? {};
  return { ...ladder, video: pictures, audio: sound };
}

/** How ffmpeg is told to encode such pictures. */
const options = (video: Partial<VideoStream>, duration?: number) =>
  plan({ codec: 'vp9', ...video }, null, 'mov', duration).video?.options.join(' ');

describe('the best rendition', () => {
  it.each(['mov', 'matroska', 'mpegts', 'flv'])('takes over what browsers play from %s', (demuxer) => {
    const { format, video, audio } = plan({}, {}, demuxer);
    expect([format, video?.copy, audio?.copy]).toEqual(['mp4', true, true]);
  });

  it.each<[string, Partial<VideoStream>, Partial<AudioStream>, [boolean, boolean], string?]>([
    ['pictures of another codec', { codec: 'hevc', profile: 'Main' }, {}, [false, true]],
    ['ten bits', { profile: 'High 10', pixelFormat: 'yuv420p10le' }, {}, [false, true]],
    ['full colours', { profile: 'High 4:4:4 Predictive', pixelFormat: 'yuv444p' }, {}, [false, true]],
    ['a high dynamic range', { transfer: 'arib-std-b67' }, {}, [false, true]],
    ['parameter sets among the pictures', { tag: 'avc3' }, {}, [false, true]],
    ['interlacing', { interlaced: true }, {}, [false, true]],
    ['a picture larger than decoders take', { width: 7680, height: 4320 }, {}, [false, true]],
    ['sound of another codec', {}, { codec: 'opus', profile: null }, [true, false]],
    ['surround channels', {}, { channels: 6 }, [true, false]],
    ['a profile that browsers lack', {}, { profile: 'LTP' }, [true, false]],
    ['everything from containers with vague times', {}, {}, [false, false], 'avi'],
  ])('encodes %s, and takes over the rest', (_what, video, audio, copied, demuxer) => {
    const made = plan(video, audio, demuxer);
    expect([made.video?.copy, made.audio?.copy]).toEqual(copied);
  });

  it('makes an audio file of what has no picture, and leaves sound out where there is none', () => {
    expect(plan(null, {})).toMatchObject({ format: 'ipod', mediatype: 'audio/mp4', video: undefined });
    expect(plan({}, null)).toMatchObject({ format: 'mp4', mediatype: 'video/mp4', audio: undefined });
  });

  it('brings odd sizes, oblong pixels and large pictures to what can be encoded', () => {
    expect(options({ width: 321, height: 241 })).toContain('scale=322:242,');
    expect(options({ width: 720, height: 576, pixelAspect: 64 / 45 })).toContain('scale=1024:576,');
    expect(options({ width: 4320, height: 7680 })).toContain('scale=2160:3840,');
    expect(options({ width: 1, height: 1 })).toContain('scale=2:2,');
  });

  it('keeps the times of pictures, so that none is repeated or begins too early', () => {
    expect(options({})).toContain('-vsync vfr -enc_time_base:v 1000:25000');
    expect(options({})).not.toContain('-r ');
    expect(options({ frameRate: 3, peakFrameRate: 30 })).toContain('-bf 0');
    expect(options({ frameRate: 25, peakFrameRate: 25 })).not.toContain('-bf');
    // A tenth of a second is missing, or more than one.
    expect(options({ frameRate: 24.75, peakFrameRate: 25 })).not.toContain('-bf');
    expect(options({ frameRate: 24.75, peakFrameRate: 25 }, 110_000)).toContain('-bf 0');
  });
});

describe('threadsFor', () => {
  it.each([
    [1920, 1080, 2, 3],
    [1920, 1080, 64, 32],
    [3840, 2160, 64, 8],
    [8192, 8192, 64, 1],
    [2, 2, 64, 96],
  ])('for %d by %d on %d processors', (width, height, processors, expected) => {
    expect(threadsFor({ width, height }, processors)).toBe(expected);
  });
});

describe('deliveryRate', () => {
  it.each([
    ['keeps a usual rate', 29.97, 29.97, 29.97],
    ['keeps the average below a rounded peak', 29.97, 30, 29.97],
    ['keeps the rate of pictures with a short pause', 24.6, 25, 25],
    ['keeps the rate of pictures with a pause as long as they are', 12.5, 25, 25],
    ['keeps the rate before a long pause', 8.3, 25, 25],
    ['halves a high rate', 120, 120, 60],
    ['halves until screens can show it', 240, 240, 60],
    ['keeps the moments of a slow one', 7.3, 30, 30],
    ['has a limit for pictures that come closely', 22, 1000, 60],
    ['is not lower than the average', 48, 30, 48],
    ['is generous to lively recordings', 48, 1000, 60],
    ['has a usual one for unknown rates', null, null, 25],
    ['has a usual one where pictures are hours apart', 1 / 36_000, 1 / 36_000, 25],
    ['is never lower than what times can be told by', 0.2, 2.5, 25],
  ])('%s', (_what, frameRate, peakFrameRate, expected) => {
    expect(deliveryRate({ ...VIDEO, frameRate, peakFrameRate })).toBe(expected);
  });
});

describe('fragmentOptions', () => {
  const seconds = (option: string, hours: number, longest?: number) => {
    const options = fragmentOptions(hours * HOUR, longest);
    return Number(options[options.indexOf(option) + 1]) / 1e6;
  };

  it('has short fragments, and longer ones only where an index has no room for their number', () => {
    expect([seconds('-min_frag_duration', 3), seconds('-frag_duration', 3, 6)]).toEqual([1.5, 6]);
    expect((36 * 3600) / seconds('-min_frag_duration', 36)).toBeLessThan(65_535);
    expect((168 * 3600) / seconds('-min_frag_duration', 168)).toBeLessThan(65_535);
    expect((168 * 3600) / seconds('-frag_duration', 168, 6)).toBeLessThan(65_535);
  });
});

describe('largestResult', () => {
  it('has room for an hour of moving pictures, which a browser recorded', () => {
    const { video, audio } = plan({ codec: 'vp9' }, { codec: 'opus' }, 'matroska');
    const streams = [video, audio].filter((stream) => stream !== undefined);
    const hour = largestResult({ size: 500_000_000, duration: 3_600_000 }, streams);
    // What x264 is told in -maxrate, and the sound.
    expect(hour).toBeGreaterThan(((1920 * 1080 * 25 * 0.12 + 160_000) / 8) * 3600);
  });
});

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
    const lower = 1280 * 720 + 640 * 360;
    const all = 1920 * 1080 + lower;
    expect(encodingWork(recording(1, 1000, { frameCount: 1000 }))).toBe(1000 * all);
    expect(encodingWork(recording(1, 1000, {}))).toBe(90_000 * all);
    expect(encodingWork(recording(1, 0.008, {}))).toBe(1000 * all);
    // A stream that is copied is not encoded.
    expect(encodingWork(recording(1, 1000, { codec: 'h264', profile: 'High' }))).toBe(90_000 * lower);
  });
});

const FLAC = { ...AUDIO, codec: 'flac', profile: null };
const HUGE = { width: 8192, height: 8192, frameCount: 10_000 };
it.each<[string, Inspected, boolean]>([
  ['a lecture', recording(1.5, 700, {}), false],
  ['a short recording in 4K', recording(0.75, 3000, FOUR_K), false],
  ['a screen on which little moves', recording(1, 30, {}), false],
  [
    'a morning of which the best rendition is taken over',
    recording(8, 20_000, { codec: 'h264', profile: 'High' }),
    false,
  ],
  ['two pictures ten hours apart', recording(10, 0.65, { ...FOUR_K, frameCount: 2 }), false],
  ['a short flood of pictures', recording(0.001, 0.1, { ...FOUR_K, frameCount: 1000 }), false],
  ['a day in 1080p', recording(24, 10_000, {}), true],
  ['hours in 4K', recording(3, 10_000, FOUR_K), true],
  ['a small file full of large pictures', recording(0.1, 2, HUGE), true],
  ['two weeks of sound', { ...recording(336, 5000, null), audio: FLAC }, true],
])('%s is long work or not', (_what, inspected, isLong) => {
  expect(isLongWork(inspected)).toBe(isLong);
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
