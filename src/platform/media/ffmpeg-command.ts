import ffmpeg from 'fluent-ffmpeg';
import { isReaderAddress } from '../storage/range-reader.ts';
import type { Recording } from './recording.ts';
import type { VideoStream } from './streams.ts';
import { MAX_STREAMS } from './tools/media-failure.ts';

/** Limits the memory that a crafted file can make a decoder allocate: a picture of 8192 by 8192. */
const MAX_PIXELS = '67108864';

/** A file may declare tables with billions of entries. The tables of 20 hours need a fifth of this. */
const MAX_BLOCK_BYTES = String(512 * 2 ** 20);

/** Some streams begin late. For other files, a longer analysis costs nothing. */
const PROBING = ['-analyzeduration', '20000000', '-probesize', '20000000'];

/**
 * The reader answers with parts of an object. A reader that is gone was killed with its worker: without a limit, ffmpeg
 * would retry for two minutes.
 */
const RECONNECTING = ['-reconnect', '1', '-reconnect_delay_max', '1'];

/** Results carry no metadata of the source, which may name people, places and devices. */
const ANONYMOUS = ['-map_metadata', '-1', '-map_chapters', '-1'] as const;

/** An input file with the options in front of it. */
export interface Input {
  path: string;
  options: string[];
}

/** An output: a path, or `pipe:1` for standard output. */
export interface Output {
  target: string;
  options: string[];
}

/** Returns the options that protect a tool from an untrusted file: no other files or hosts, no other demuxer. */
export function safeguards(recording: Pick<Recording, 'path' | 'demuxer'>): string[] {
  const protocols = isReaderAddress(recording.path) ? ['http,tcp', ...RECONNECTING] : ['file,pipe'];
  const guards = ['-protocol_whitelist', ...protocols, '-f', recording.demuxer, ...PROBING];
  const limits = ['-max_pixels', MAX_PIXELS, '-max_streams', String(MAX_STREAMS), '-max_alloc', MAX_BLOCK_BYTES];
  return [...guards, ...limits];
}

/** Returns a recording as ffmpeg's input; `options` follow the safeguards. */
export function recordingInput(recording: Recording, options: string[] = []): Input {
  return { path: recording.path, options: [...safeguards(recording), ...options] };
}

/**
 * Returns the arguments of an ffmpeg command.
 *
 * fluent-ffmpeg only builds them, and `runTool` runs ffmpeg. fluent-ffmpeg would pass on the whole environment, which
 * Deno's permissions refuse, probe the input without safeguards to report progress, and be unable to stop ffprobe.
 */
export function ffmpegArguments(inputs: Input | readonly Input[], outputs: readonly Output[]): string[] {
  const command = ffmpeg();
  const quiet = ['-hide_banner', '-v', 'warning', '-nostats'];
  for (const [place, { path, options }] of [inputs].flat().entries())
    command.input(path).inputOptions(...(place === 0 ? quiet : []), ...options);
  for (const { target, options } of outputs) command.output(target).outputOptions(...ANONYMOUS, ...options);
  return command._getArguments();
}

export interface Size {
  width: number;
  height: number;
}

/** Returns the size of a picture as shown, with square pixels. */
export function shownSize({ width, height, pixelAspect }: VideoStream): Size {
  return { width: Math.round(width * pixelAspect), height };
}

/** Returns the largest size that fits into a box with the picture's proportions, never enlarged and with even sides. */
export function fitInto(video: VideoStream, box: Size): Size {
  const shown = { width: video.width * video.pixelAspect, height: video.height };
  const factor = Math.min(1, box.width / shown.width, box.height / shown.height);
  return { width: even(shown.width * factor), height: even(shown.height * factor) };
}

function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}

/** The transfer characteristics of HDR: PQ and HLG (ITU-R BT.2100). */
const HDR_TRANSFERS: readonly (string | null)[] = ['smpte2084', 'arib-std-b67'];
/** The reference white of HDR in cd/m2 (ITU-R BT.2408). */
const HDR_WHITE = 203;

/** Returns true if a picture has a high dynamic range, which screens and players show in different ways. */
export function isHdr({ transfer }: Pick<VideoStream, 'transfer'>): boolean {
  return HDR_TRANSFERS.includes(transfer);
}

/**
 * Returns filters that scale a picture to a size with square pixels, remove interlacing, and turn HDR into SDR
 * (ITU-R BT.709).
 */
export function pictureFilters(video: VideoStream, { width, height }: Size): string[] {
  const deinterlace = video.interlaced ? ['yadif=deint=interlaced'] : [];
  return [...deinterlace, `scale=${width}:${height}`, 'setsar=1', ...(isHdr(video) ? toneMapping(video) : [])];
}

/** Keeps the light below the reference white, and compresses what is brighter. */
function toneMapping({ transfer }: VideoStream): string[] {
  return [
    ...['format=yuv420p10le', `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:t=linear:p=bt709:npl=${HDR_WHITE}`],
    ...['format=gbrpf32le', 'tonemap=mobius:desat=0', 'zscale=t=bt709:m=bt709:r=tv'],
  ];
}
