import { writeFile } from 'node:fs/promises';
import { ffmpegArguments, type Output, recordingInput } from './command.ts';
import { fitInto, pictureFilters, type Size } from './command.ts';
import type { MediaInfo } from './probe.ts';
import type { VideoStream } from './streams.ts';
import { MediaFailure } from './tools/failure.ts';
import { type RunLimits, runTool } from './tools/process.ts';
import type { MediaTools } from './tools/tools.ts';

const MAX_TILES = 100;
const MAX_COLUMNS = 10;
const SHORTEST_INTERVAL_MS = 1000;
const TILE = { width: 160, height: 120 };
/** Up to here, decoding everything costs little and is exact; beyond, only keyframes are. */
const DECODED_MS = 15_000;
/** From here on, a hundred seeks cost less than reading all of the file. */
const READ_MS = 600_000;
/** Fewer frames than these cost less to read than a hundred seeks, however long they last. */
const FEW_FRAMES = 500;

/** How to find the picture for a moment: tile `floor(t / intervalMs)`, counted in rows. */
export interface Timeline {
  imageCount: number;
  columns: number;
  rows: number;
  tileWidth: number;
  tileHeight: number;
  intervalMs: number;
}

export interface TimelineOptions extends RunLimits {
  /** Scratch file for the uncompressed tiles; left behind. */
  scratch: string;
  onProgress: (fraction: number) => void;
}

/** The layout of a timeline for a recording of so many milliseconds. */
export function timelineLayout(durationMs: number, tile: Size): Timeline {
  const intervalMs = Math.max(SHORTEST_INTERVAL_MS, Math.ceil(durationMs / MAX_TILES));
  const imageCount = Math.min(MAX_TILES, Math.max(1, Math.ceil(durationMs / intervalMs)));
  const columns = Math.min(MAX_COLUMNS, imageCount);
  const rows = Math.ceil(imageCount / columns);
  return { imageCount, columns, rows, tileWidth: tile.width, tileHeight: tile.height, intervalMs };
}

/**
 * Writes one JPEG sheet of small pictures, each from the middle of its interval or, but for very short recordings, the
 * keyframe before that. Nothing is decoded as a whole that takes long.
 *
 * @throws {MediaFailure}
 */
export async function writeTimeline(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  target: string,
  options: TimelineOptions,
): Promise<Timeline> {
  const tile = fitInto(video, TILE);
  const layout = timelineLayout(info.duration, tile);
  const many = (video.frameCount ?? Number.POSITIVE_INFINITY) > FEW_FRAMES;
  const tiles =
    info.duration > READ_MS && info.indexed && many
      ? await soughtTiles(tools, info, video, layout, options)
      : await decodedTiles(tools, info, video, layout, options);
  await writeFile(options.scratch, evenOut(tiles, layout, bytesOf(tile)));
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${tile.width}x${tile.height}`];
  const sheet = `tile=${layout.columns}x${layout.rows},format=yuvj420p`;
  const jpeg = ['-vf', sheet, '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '5', '-update', '1', '-f', 'image2'];
  const input = { path: options.scratch, options: raw };
  await runTool(tools.ffmpeg, ffmpegArguments(input, [{ target, options: jpeg }]), options);
  options.onProgress(1);
  return layout;
}

/** All tiles in one pass. */
async function decodedTiles(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  layout: Timeline,
  limits: RunLimits,
): Promise<(Buffer | undefined)[]> {
  const rate = `fps=fps=1000/${layout.intervalMs}:start_time=0:eof_action=pass`;
  const output = tileOutput(video, layout, [rate], layout.imageCount);
  const skipping = info.duration > DECODED_MS ? ['-skip_frame', 'nokey'] : [];
  const input = recordingInput(info.recording, skipping);
  const { output: tiles } = await runTool(tools.ffmpeg, ffmpegArguments(input, [output]), limits);
  const size = bytesOf({ width: layout.tileWidth, height: layout.tileHeight });
  return Array.from({ length: Math.floor(tiles.length / size) }, (_, i) => tiles.subarray(i * size, (i + 1) * size));
}

async function soughtTiles(
  tools: MediaTools,
  info: MediaInfo,
  video: VideoStream,
  layout: Timeline,
  options: TimelineOptions,
): Promise<(Buffer | undefined)[]> {
  const tiles: (Buffer | undefined)[] = [];
  for (let i = 0; i < layout.imageCount; i++) {
    const seconds = (((i + 0.5) * layout.intervalMs) / 1000).toFixed(3);
    const input = recordingInput(info.recording, ['-skip_frame', 'nokey', '-noaccurate_seek', '-ss', seconds]);
    const args = ffmpegArguments(input, [tileOutput(video, layout, [], 1)]);
    const { output } = await runTool(tools.ffmpeg, args, options);
    tiles.push(output.length > 0 ? output : undefined);
    options.onProgress(i / layout.imageCount);
  }
  return tiles;
}

function tileOutput(video: VideoStream, layout: Timeline, first: string[], frames: number): Output {
  const size = { width: layout.tileWidth, height: layout.tileHeight };
  const filters = [...first, ...pictureFilters(video, size), 'format=yuv420p'].join(',');
  const options = ['-map', `0:${video.index}`, '-vf', filters, '-frames:v', String(frames), '-f', 'rawvideo'];
  return { target: 'pipe:1', options };
}

/** Exactly as many tiles as the layout has; where there is no picture, the one before stays. */
function evenOut(tiles: readonly (Buffer | undefined)[], layout: Timeline, size: number): Buffer {
  let shown = tiles.find((tile) => tile?.length === size);
  if (!shown) {
    throw new MediaFailure('The file is damaged: no picture in it can be decoded.', { permanent: true });
  }
  const sheet: Buffer[] = [];
  for (let i = 0; i < layout.imageCount; i++) {
    const tile = tiles[i];
    if (tile?.length === size) shown = tile;
    sheet.push(shown);
  }
  return Buffer.concat(sheet);
}

function bytesOf({ width, height }: Size): number {
  return (width * height * 3) / 2;
}
