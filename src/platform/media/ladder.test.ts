import { describe, expect, it } from 'vitest';
import { AUDIO, VIDEO } from '#test/support/streams.ts';
import { parseHeights, planLadder, USUAL_LADDER } from './ladder.ts';
import type { AudioStream, VideoStream } from './streams.ts';

const { quality } = USUAL_LADDER;

function ladder(video: Partial<VideoStream> | undefined, heights = 'source,720,360', audio: AudioStream = AUDIO) {
  const info = { recording: { demuxer: 'mov' }, duration: 60_000, video: video && { ...VIDEO, ...video }, audio };
  return planLadder(info, { quality, heights: parseHeights(heights) ?? [] }).renditions;
}

const sizes = (video: Partial<VideoStream>, heights?: string) =>
  ladder(video, heights).map(({ size }) => `${size?.width}x${size?.height}`);

describe('a ladder', () => {
  it.each<[string, Partial<VideoStream>, string | undefined, string[]]>([
    ['the usual heights below the source', {}, undefined, ['1920x1080', '1280x720', '640x360']],
    ['the chosen heights, largest first', {}, '480,1080', ['1920x1080', '854x480']],
    ['no height above the source', { width: 854, height: 480 }, '2160,1080,480', ['854x480']],
    ['the source where all heights are larger', { width: 320, height: 240 }, '720,360', ['320x240']],
    ['one rendition of a height that is named twice', {}, 'source,1080', ['1920x1080']],
    ['a portrait by its width', { width: 1080, height: 1920 }, '720', ['720x1280']],
    ['the shape of odd sizes', { width: 1001, height: 751 }, 'source,360', ['1002x752', '480x360']],
  ])('has %s', (_, video, heights, expected) => {
    expect(sizes(video, heights)).toEqual(expected);
  });

  it('copies only the rendition of the size of the source', () => {
    const copied = (heights: string) => ladder({}, heights).map(({ video }) => video?.copy);
    expect(copied('source,720,360')).toEqual([true, false, false]);
    expect(copied('720,360')).toEqual([false, false]);
  });

  it('encodes sound that begins later than the pictures', () => {
    const copied = (begin: number) => {
      const spans = { video: { begin: 0, end: 60 }, audio: { begin, end: 60 } };
      const info = { recording: { demuxer: 'mov' }, duration: 60_000, video: VIDEO, audio: AUDIO, spans };
      return planLadder(info, USUAL_LADDER).renditions[0]?.audio?.copy;
    };
    expect([0.04, 0.7].map(copied)).toEqual([true, false]);
  });

  it('fits lower renditions for slow lines into 1 Mbit/s, but not the best of a small source', () => {
    const rates = (video: Partial<VideoStream>, heights?: string) =>
      ladder({ codec: 'vp9', ...video }, heights).map((rendition) => rendition.video?.bitRate ?? 0);
    const [best = 0, middle = 0, lowest = 0] = rates({});
    expect(best).toBeGreaterThan(middle);
    expect([middle, lowest]).toEqual([2_764_800, 350_000]);
    expect(rates({ width: 480, height: 360 })).toEqual([1_000_000]);
    expect(rates({ width: 1080, height: 1920 }, 'source,360').at(-1)).toBe(350_000);
  });

  it('has two rates of sound alone, unless the source has the lower one', () => {
    const rates = (bitRate: number, codec: string) =>
      ladder(undefined, undefined, { ...AUDIO, codec, bitRate }).map(({ audio }) => audio?.bitRate);
    expect(rates(700_000, 'flac')).toEqual([128_000, 64_000]);
    expect(rates(192_000, 'aac')).toEqual([null, 64_000]);
    expect(rates(64_000, 'aac')).toEqual([null]);
  });

  it('takes no other heights', () => {
    expect(parseHeights(' 1080, source')).toEqual([1080, 'source']);
    for (const text of ['', '1080,', '1081', '0x438', 'all', '1e3']) expect(parseHeights(text)).toBeUndefined();
  });
});
