import type { AudioStream, VideoStream } from '#platform/media/streams.ts';

/** Ordinary pictures, as a probe tells of them. */
export const VIDEO: VideoStream = {
  type: 'video',
  index: 0,
  codec: 'h264',
  profile: 'High',
  pixelFormat: 'yuv420p',
  tag: 'avc1',
  transfer: 'bt709',
  width: 1920,
  height: 1080,
  pixelAspect: 1,
  rotation: 0,
  interlaced: false,
  frameRate: 25,
  peakFrameRate: 25,
  frameCount: null,
  bitRate: null,
};

/** Ordinary sound. */
export const AUDIO: AudioStream = {
  type: 'audio',
  index: 1,
  codec: 'aac',
  profile: 'LC',
  channels: 2,
  samplingRate: 48_000,
  bitDepth: null,
  frameCount: null,
  bitRate: null,
  preferred: true,
};
