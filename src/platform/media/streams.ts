import { z } from 'zod';

/** A video stream. Sizes are those of the picture as shown, after rotation. */
export type VideoStream = ReturnType<typeof videoStream>;
export type AudioStream = ReturnType<typeof audioStream>;
export type MediaStream = VideoStream | AudioStream;

const text = z.string().optional();
const flag = z.number().optional();

const StreamReport = z.object({
  index: z.number(),
  codec_type: text,
  codec_name: text,
  codec_tag_string: text,
  profile: z.union([z.string(), z.number()]).optional(),
  pix_fmt: text,
  color_transfer: text,
  width: z.number().optional(),
  height: z.number().optional(),
  sample_aspect_ratio: text,
  field_order: text,
  r_frame_rate: text,
  avg_frame_rate: text,
  time_base: text,
  nb_frames: text,
  start_time: text,
  duration: text,
  bit_rate: text,
  channels: z.number().optional(),
  sample_rate: text,
  bits_per_sample: z.number().optional(),
  bits_per_raw_sample: text,
  disposition: z.object({ default: flag, attached_pic: flag, timed_thumbnails: flag }).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
});
type StreamReport = z.infer<typeof StreamReport>;

/** The output of ffprobe with `-show_format -show_streams -print_format json`, as far as it is used. */
export const Report = z.object({
  format: z.object({ duration: text, bit_rate: text, start_time: text }).optional(),
  streams: z.array(StreamReport).default([]),
});
export type Report = z.infer<typeof Report>;

/** Returns the audio and video streams in file order, without cover pictures and data. */
export function mediaStreams(report: Report): MediaStream[] {
  return report.streams.flatMap((stream): MediaStream[] => {
    if (stream.codec_type === 'audio') return [audioStream(stream)];
    const cover = stream.disposition?.attached_pic || stream.disposition?.timed_thumbnails;
    return stream.codec_type === 'video' && !cover ? [videoStream(stream)] : [];
  });
}

/** Returns the streams that a player would choose. */
export function playedStreams(streams: readonly MediaStream[]) {
  const videos = streams.filter((stream) => stream.type === 'video');
  const audible = streams.filter((stream) => stream.type === 'audio').filter(({ channels }) => channels > 0);
  return {
    video: videos.find(({ width, height }) => width > 0 && height > 0) ?? videos[0],
    audio: audible.find(({ preferred }) => preferred) ?? audible[0],
  };
}

/** Tags by which MP4 (common encryption, and Apple's older scheme) marks encrypted streams. */
const PROTECTED: readonly string[] = ['encv', 'enca', 'drmi', 'drms', 'drmt'];

/** Returns true if a stream is copy-protected. */
export function isEncrypted(report: Report): boolean {
  return report.streams.some((stream) => PROTECTED.includes(stream.codec_tag_string ?? ''));
}

function videoStream(stream: StreamReport) {
  const rotation = rotationOf(stream);
  const sideways = Math.abs(rotation) % 180 === 90;
  const [width, height] = [stream.width ?? 0, stream.height ?? 0];
  const aspect = fraction(stream.sample_aspect_ratio?.replace(':', '/')) ?? 1;
  return {
    type: 'video' as const,
    index: stream.index,
    codec: stream.codec_name ?? 'unknown',
    profile: profileOf(stream),
    pixelFormat: stream.pix_fmt ?? null,
    /** The tag by which the container names the codec. */
    tag: stream.codec_tag_string ?? null,
    /** The transfer characteristics, such as `bt709`. */
    transfer: stream.color_transfer ?? null,
    width: sideways ? height : width,
    height: sideways ? width : height,
    /** Width of a pixel divided by its height. */
    pixelAspect: sideways ? 1 / aspect : aspect,
    /** Degrees by which players rotate the picture. */
    rotation,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order ?? ''),
    /** Average frames per second. */
    frameRate: fraction(stream.avg_frame_rate),
    /** The lowest rate that loses no frame. Differs from the average if frames come irregularly. */
    peakFrameRate: fraction(stream.r_frame_rate),
    frameCount: count(stream.nb_frames ?? statistics(stream, 'NUMBER_OF_FRAMES')),
    /** Bits per second. */
    bitRate: count(stream.bit_rate ?? statistics(stream, 'BPS')),
  };
}

function audioStream(stream: StreamReport) {
  return {
    type: 'audio' as const,
    index: stream.index,
    codec: stream.codec_name ?? 'unknown',
    profile: profileOf(stream),
    channels: stream.channels ?? 0,
    /** Samples per second. */
    samplingRate: count(stream.sample_rate),
    bitDepth: count(stream.bits_per_raw_sample) ?? (stream.bits_per_sample || null),
    frameCount: count(stream.nb_frames ?? statistics(stream, 'NUMBER_OF_FRAMES')),
    bitRate: count(stream.bit_rate ?? statistics(stream, 'BPS')),
    /** True if the file asks players to choose this stream. */
    preferred: stream.disposition?.default === 1,
  };
}

function profileOf({ profile }: StreamReport): string | null {
  return profile === undefined || profile === 'unknown' ? null : String(profile);
}

function rotationOf(stream: StreamReport): number {
  const matrix = stream.side_data_list?.find((data) => data.rotation !== undefined)?.rotation;
  const degrees = matrix ?? -Number(stream.tags?.rotate ?? 0);
  return Number.isFinite(degrees) ? Math.round(degrees) % 360 || 0 : 0;
}

/** Matroska keeps counts in tags, to which mkvmerge adds a language. */
function statistics(stream: StreamReport, name: string): string | undefined {
  return stream.tags?.[name] ?? stream.tags?.[`${name}-eng`];
}

/** Returns the unit of the times of a stream in its container, in seconds; null if unknown. */
export function tickOf(report: Report, index: number | undefined): number | null {
  return fraction(report.streams.find((stream) => stream.index === index)?.time_base);
}

/** Parses a fraction such as "30000/1001"; null for "0/0". */
function fraction(value: string | undefined): number | null {
  const [numerator, denominator = 1] = (value ?? '').split('/').map(Number);
  const result = (numerator ?? 0) / denominator;
  return Number.isFinite(result) && result > 0 ? result : null;
}

function count(value: string | undefined): number | null {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? Math.round(number) : null;
}
