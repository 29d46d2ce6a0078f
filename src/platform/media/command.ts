import ffmpeg from 'fluent-ffmpeg';
import type { Recording } from './recording.ts';
import { MAX_STREAMS } from './tools/failure.ts';
import type { VideoStream } from './streams.ts';

/** Limits what a crafted file can make a decoder allocate: a picture of 8192 by 8192. */
const MAX_PIXELS = '67108864';

/** Tables of a file may say that they have thousands of millions of entries; for 20 hours they take a fifth of this. */
const MAX_BLOCK_BYTES = String(512 * 2 ** 20);

/** Some streams begin late; looking further costs nothing where they do not. */
const PROBING = ['-analyzeduration', '20000000', '-probesize', '20000000'];

/** Results carry no metadata of the source: it names people, places and devices. */
const ANONYMOUS = ['-map_metadata', '-1', '-map_chapters', '-1'] as const;

/** Options ahead of the file to be read; `options` go between the safeguards and the file. */
export interface Input {
  path: string;
  options: string[];
}

/** What to write: a path, or `pipe:1` for standard output. */
export interface Output {
  target: string;
  options: string[];
}

/** The safeguards every tool gets for a file that came from outside: no other file or host, no other demuxer. */
export function safeguards(recording: Recording): string[] {
  const guards = ['-protocol_whitelist', 'file,pipe', '-f', recording.demuxer, ...PROBING];
  const limits = ['-max_pixels', MAX_PIXELS, '-max_streams', String(MAX_STREAMS), '-max_alloc', MAX_BLOCK_BYTES];
  return [...guards, ...limits];
}

/** A recording as ffmpeg's input. */
export function recordingInput(recording: Recording, options: string[] = []): Input {
  return { path: recording.path, options: [...safeguards(recording), ...options] };
}

/**
 * The arguments of an ffmpeg command.
 *
 * fluent-ffmpeg only composes them. Its own running of processes hands on the whole environment, which Deno's
 * permissions refuse, asks ffprobe about the input without safeguards as soon as progress is wanted, and cannot end
 * ffprobe at all; `runTool` does that part.
 */
export function ffmpegArguments(input: Input, outputs: readonly Output[]): string[] {
  const command = ffmpeg()
    .input(input.path)
    .inputOptions('-hide_banner', '-v', 'warning', '-nostats', ...input.options);
  for (const { target, options } of outputs) command.output(target).outputOptions(...ANONYMOUS, ...options);
  return command._getArguments();
}

/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The size that fits into a box with the picture's proportions, never enlarged, with even sides. */
export function fitInto(video: VideoStream, box: Size): Size {
  const shown = { width: video.width * video.pixelAspect, height: video.height };
  const factor = Math.min(1, box.width / shown.width, box.height / shown.height);
  return { width: even(shown.width * factor), height: even(shown.height * factor) };
}

function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}

/** Filters that bring a picture to a size with square pixels and without interlacing. */
export function pictureFilters(video: VideoStream, { width, height }: Size): string[] {
  const deinterlace = video.interlaced ? ['yadif=deint=interlaced'] : [];
  return [...deinterlace, `scale=${width}:${height}`, 'setsar=1'];
}
