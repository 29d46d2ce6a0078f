import { describe, expect, it } from 'vitest';
import { mediaStreams, Report } from './streams.ts';

const streamsOf = (...streams: object[]) => mediaStreams(Report.parse({ streams }));

const VIDEO = {
  ...{ index: 0, codec_type: 'video', codec_name: 'h264', codec_tag_string: 'avc1' },
  ...{ profile: 'High', pix_fmt: 'yuv420p' },
  ...{ width: 1920, height: 1080, sample_aspect_ratio: '1:1', field_order: 'progressive' },
  ...{ r_frame_rate: '30000/1001', avg_frame_rate: '30000/1001', nb_frames: '300', bit_rate: '2500000' },
};
const AUDIO = { index: 1, codec_type: 'audio', codec_name: 'aac', channels: 2, sample_rate: '48000' };

describe('mediaStreams', () => {
  it('reads numbers out of the texts that ffprobe gives', () => {
    expect(streamsOf(VIDEO, AUDIO)).toEqual([
      {
        ...{
          type: 'video',
          index: 0,
          codec: 'h264',
          profile: 'High',
          pixelFormat: 'yuv420p',
          tag: 'avc1',
          transfer: null,
        },
        ...{ width: 1920, height: 1080, pixelAspect: 1, rotation: 0, interlaced: false },
        ...{ frameRate: 30_000 / 1001, peakFrameRate: 30_000 / 1001, frameCount: 300, bitRate: 2_500_000 },
      },
      {
        ...{ type: 'audio', index: 1, codec: 'aac', profile: null, channels: 2, samplingRate: 48_000 },
        ...{ bitDepth: null, frameCount: null, bitRate: null, preferred: false },
      },
    ]);
  });

  it('leaves out cover pictures, subtitles and data', () => {
    const cover = { ...VIDEO, index: 2, codec_name: 'mjpeg', disposition: { attached_pic: 1 } };
    const data = { index: 3, codec_type: 'data' };
    const subtitle = { index: 4, codec_type: 'subtitle' };
    expect(streamsOf(AUDIO, cover, data, subtitle, { index: 5 }).map(({ index }) => index)).toEqual([1]);
  });

  it.each([
    ['a display matrix', { side_data_list: [{ side_data_type: 'Display Matrix', rotation: -90 }] }],
    ['a tag', { tags: { rotate: '90' } }],
  ])('turns the size of a picture that is shown sideways by %s', (_what, rotated) => {
    const [stream] = streamsOf({ ...VIDEO, ...rotated, sample_aspect_ratio: '4:3' });
    expect(stream).toMatchObject({ width: 1080, height: 1920, rotation: -90, pixelAspect: 0.75 });
  });

  it('has null for what a file does not say', () => {
    const vague = { avg_frame_rate: '0/0', r_frame_rate: 'N/A', nb_frames: undefined, profile: 'unknown' };
    const [stream] = streamsOf({ ...VIDEO, ...vague, sample_aspect_ratio: '0:1' });
    const nothing = { frameRate: null, peakFrameRate: null, frameCount: null, profile: null };
    expect(stream).toMatchObject({ ...nothing, pixelAspect: 1 });
  });

  it('takes the counts of Matroska from its tags', () => {
    const tags = { 'NUMBER_OF_FRAMES-eng': '1234', BPS: '640000' };
    const [stream] = streamsOf({ ...VIDEO, nb_frames: undefined, bit_rate: undefined, tags });
    expect(stream).toMatchObject({ frameCount: 1234, bitRate: 640_000 });
  });
});
