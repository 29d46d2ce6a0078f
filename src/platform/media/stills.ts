import { ffmpegArguments, type Input, recordingInput } from './command.ts';
import { fitInto, pictureFilters, type Size } from './command.ts';
import type { MediaInfo } from './probe.ts';
import type { VideoStream } from './streams.ts';
import { MediaFailure } from './tools/failure.ts';
import { type RunLimits, runTool } from './tools/process.ts';
import type { MediaTools } from './tools/tools.ts';

const JPEG = ['-c:v', 'mjpeg', '-q:v', '4', '-frames:v', '1', '-update', '1', '-f', 'image2'];
/** How many frames the most typical one is chosen from. */
const CHOICE = 24;
/** A tiny grey copy of the frame tells whether anything is to be seen on it. */
const SAMPLE = { width: 32, height: 18 };
/** Below this standard deviation of its brightness (0 to 127), a frame shows next to nothing. */
const PLAIN = 10;
/** Where in the recording to look, of its first half hour at most: further on is no better. */
const PLACES = [0.1, 0.35, 0.6];
const LATEST_SECONDS = 1800;
const SHORT_SECONDS = 2;
const EXACT_MS = 60_000;

/** A picture to be made: at most as large as the box. */
export interface Still {
  target: string;
  box: Size;
}

/**
 * Writes JPEG pictures that show what a recording is about: all of the same frame, which is not black or blank if
 * another can be found cheaply.
 *
 * @throws {MediaFailure} permanent when no picture can be decoded
 */
export async function takeStills(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  stills: readonly Still[],
  limits: RunLimits,
): Promise<void> {
  const at = await tellingPlace(tools, info, video, limits);
  const outputs = stills.map(({ target, box }) => {
    const filters = filterChain(video, fitInto(video, box), 'yuvj420p');
    return { target, options: ['-map', `0:${video.index}`, '-vf', filters, ...JPEG] };
  });
  await runTool(tools.ffmpeg, ffmpegArguments(inputAt(info, at), outputs), limits);
}

/** Seconds into the recording where something is to be seen. */
async function tellingPlace(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  limits: RunLimits,
): Promise<number> {
  let best: { at: number; contrast: number } | undefined;
  for (const at of placesToLook(info.duration)) {
    const contrast = await contrastAt(tools, info, video, at, limits);
    if (contrast !== undefined && contrast > (best?.contrast ?? -1)) best = { at, contrast };
    if (best && best.contrast >= PLAIN) break;
  }
  if (best) return best.at;
  throw new MediaFailure('The file is damaged: no picture in it can be decoded.', { permanent: true });
}

/** Where to look for a picture, in seconds, best first; the very start comes last. */
export function placesToLook(durationMs: number): number[] {
  const seconds = durationMs / 1000;
  if (seconds < SHORT_SECONDS) return [0];
  return [...PLACES.map((place) => place * Math.min(seconds, LATEST_SECONDS)), 0];
}

async function contrastAt(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  at: number,
  limits: RunLimits,
): Promise<number | undefined> {
  const filters = filterChain(video, SAMPLE, 'gray');
  const options = ['-map', `0:${video.index}`, '-vf', filters, '-frames:v', '1', '-f', 'rawvideo'];
  const args = ffmpegArguments(inputAt(info, at), [{ target: 'pipe:1', options }]);
  const { output } = await runTool(tools.ffmpeg, args, limits);
  return output.length === SAMPLE.width * SAMPLE.height ? deviation(output) : undefined;
}

function filterChain(video: VideoStream, size: Size, format: string): string {
  return [...pictureFilters(video, size), `thumbnail=${CHOICE}`, `format=${format}`].join(',');
}

function inputAt(info: MediaInfo, at: number): Input {
  if (at === 0) return recordingInput(info.recording);
  // Exact seeking decodes all from the keyframe before, which may be hours away.
  const inexact = info.duration > EXACT_MS ? ['-noaccurate_seek'] : [];
  return recordingInput(info.recording, [...inexact, '-ss', at.toFixed(3)]);
}

function deviation(values: Uint8Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
