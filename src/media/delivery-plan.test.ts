import { describe, expect, it } from 'vitest';
import { AUDIO, VIDEO } from '../../test/support/streams.ts';
import { largestResult } from './delivery.ts';
import { deliveryRate, planDelivery, threadsFor } from './delivery-plan.ts';
import type { MediaInfo } from './probe.ts';
import type { AudioStream, VideoStream } from './streams.ts';

const QUALITY = { preset: 'veryfast', crf: 23 };

function plan(video: Partial<VideoStream> | null, audio: Partial<AudioStream> | null, demuxer = 'mov') {
  const info: MediaInfo = {
    recording: { path: '/recording', size: 1, mediatype: 'video/mp4', demuxer, warnings: [] },
    duration: 10_000,
    size: 1,
    hasAudio: audio !== null,
    hasVideo: video !== null,
    streams: [],
    video: video ? { ...VIDEO, ...video } : undefined,
    audio: audio ? { ...AUDIO, ...audio } : undefined,
    indexed: true,
  };
  return planDelivery(info, QUALITY);
}

describe('planDelivery', () => {
  it.each(['mov', 'matroska', 'mpegts', 'flv'])('takes over what browsers play from %s', (demuxer) => {
    const { format, video, audio } = plan({}, {}, demuxer);
    expect([format, video?.copy, audio?.copy]).toEqual(['mp4', true, true]);
  });

  it.each<[string, Partial<VideoStream>]>([
    ['another codec', { codec: 'hevc', profile: 'Main' }],
    ['ten bits', { profile: 'High 10', pixelFormat: 'yuv420p10le' }],
    ['full colour resolution', { profile: 'High 4:4:4 Predictive', pixelFormat: 'yuv444p' }],
    ['interlacing', { interlaced: true }],
    ['a picture larger than decoders take', { width: 7680, height: 4320 }],
  ])('encodes pictures with %s and takes over the sound', (_what, video) => {
    const made = plan(video, {});
    expect([made.video?.copy, made.audio?.copy]).toEqual([false, true]);
  });

  it.each<[string, Partial<AudioStream>]>([
    ['another codec', { codec: 'opus', profile: null }],
    ['surround channels', { channels: 6 }],
    ['a profile that browsers lack', { profile: 'LTP' }],
  ])('encodes sound with %s and takes over the pictures', (_what, audio) => {
    const made = plan({}, audio);
    expect([made.video?.copy, made.audio?.copy]).toEqual([true, false]);
  });

  it('takes over nothing from containers with vague times', () => {
    const { video, audio } = plan({}, {}, 'avi');
    expect([video?.copy, audio?.copy]).toEqual([false, false]);
  });

  it('makes an audio file of what has no picture, and leaves sound out where there is none', () => {
    expect(plan(null, {})).toMatchObject({ format: 'ipod', mediatype: 'audio/mp4', video: undefined });
    expect(plan({}, null)).toMatchObject({ format: 'mp4', mediatype: 'video/mp4', audio: undefined });
  });

  it('brings odd sizes, oblong pixels and large pictures to what can be encoded', () => {
    const scaled = (video: Partial<VideoStream>) =>
      plan({ codec: 'vp9', ...video }, null).video?.options.join(' ');
    expect(scaled({ width: 321, height: 241 })).toContain('scale=322:242,');
    expect(scaled({ width: 720, height: 576, pixelAspect: 64 / 45 })).toContain('scale=1024:576,');
    expect(scaled({ width: 4320, height: 7680 })).toContain('scale=2160:3840,');
    expect(scaled({ width: 1, height: 1 })).toContain('scale=2:2,');
  });
});

describe('the times of pictures', () => {
  const options = (video: Partial<VideoStream>) =>
    plan({ codec: 'vp9', ...video }, null).video?.options.join(' ');

  it('are kept, so that no picture is repeated', () => {
    expect(options({})).toContain('-vsync vfr -enc_time_base 1000:25000');
    expect(options({})).not.toContain('-r ');
  });

  it('keep the order of irregular pictures, which would begin too early otherwise', () => {
    expect(options({ frameRate: 3, peakFrameRate: 30 })).toContain('-bf 0');
    expect(options({ frameRate: 25, peakFrameRate: 50 })).not.toContain('-bf');
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
    ['keeps the rate of interlaced pictures', 25, 50, 25],
    ['halves a high rate', 120, 120, 60],
    ['halves until screens can show it', 240, 240, 60],
    ['keeps the moments of a slow one', 7.3, 30, 30],
    ['does not believe an absurd one', 22, 1000, 30],
    ['is generous to lively recordings', 48, 1000, 60],
    ['has a usual one for unknown rates', null, null, 25],
    ['has a usual one where pictures are hours apart', 1 / 36_000, 1 / 36_000, 25],
    ['is never lower than what times can be told by', 0.2, 2.5, 25],
  ])('%s', (_what, frameRate, peakFrameRate, expected) => {
    expect(deliveryRate({ ...VIDEO, frameRate, peakFrameRate })).toBe(expected);
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
