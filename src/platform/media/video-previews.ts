import { readFile, writeFile } from 'node:fs/promises';
import {
  ffmpegArguments,
  fitInto,
  type Input,
  pictureFilters,
  recordingInput,
  type Size,
  safeguards,
} from './ffmpeg-command.ts';
import type { MediaInfo } from './probe.ts';
import type { VideoStream } from './streams.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { MediaFailure } from './tools/media-failure.ts';
import { type RunLimits, runTool } from './tools/run-tool.ts';

const JPEG = ['-frames:v', '1', '-c:v', 'mjpeg', '-update', '1', '-f', 'image2'];
const FRAMES_TO_CHOOSE_FROM = 24;
/** A tiny grey copy of the frame shows whether there is anything to see. */
const SAMPLE = { width: 32, height: 18 };
/** Below this standard deviation of its brightness (0 to 127), a frame is nearly blank. */
const BLANK = 10;
/** Places to look for a frame, within the first half hour: later ones are no better. */
const PLACES = [0.1, 0.35, 0.6];
const LATEST_SECONDS = 1800;
const SHORT_SECONDS = 2;
const EXACT_MS = 60_000;

/** A video stream and the tools to read it. */
export interface VideoSource {
  tools: MediaTools;
  info: MediaInfo;
  video: VideoStream;
}

/** A picture to write, at most as large as the box. */
export interface Still {
  target: string;
  box: Size;
}

/**
 * Writes JPEG pictures that show what a recording is about, all of the same frame. The frame is not black or blank if
 * a better one can be found cheaply.
 *
 * @throws {MediaFailure} permanent when no picture can be decoded
 */
export async function takeStills(source: VideoSource, stills: readonly Still[], limits: RunLimits): Promise<void> {
  let best: { at: number; contrast: number } | undefined;
  let taken: number | undefined;
  for (const at of placesToLook(source.info.duration)) {
    const contrast = await takeAt(at, source, stills, limits);
    taken = at;
    if (contrast !== undefined && contrast > (best?.contrast ?? -1)) best = { at, contrast };
    if (best && best.contrast >= BLANK) break;
  }
  if (!best) throw nothingDecoded();
  if (best.at !== taken) await takeAt(best.at, source, stills, limits);
}

/** Takes the stills at a second of a recording. @returns the contrast of the frame; undefined if there is none */
async function takeAt(
  at: number,
  { tools, info, video }: VideoSource,
  stills: readonly Still[],
  limits: RunLimits,
): Promise<number | undefined> {
  const sizes = stills.map(({ box }) => fitInto(video, box));
  const largest = sizes.reduce((a, b) => (b.width > a.width ? b : a));
  const scaled = ({ width, height }: Size, format: string) => `scale=${width}:${height},setsar=1,format=${format}`;
  const copies = [scaled(SAMPLE, 'gray'), ...sizes.map((size) => scaled(size, 'yuvj420p'))];
  const frame = [...pictureFilters(video, largest), `thumbnail=${FRAMES_TO_CHOOSE_FROM}`, `split=${copies.length}`];
  const graph = [
    `[0:${video.index}]${frame.join(',')}${copies.map((_, i) => `[frame${i}]`).join('')}`,
    ...copies.map((filters, i) => `[frame${i}]${filters}[copy${i}]`),
  ];
  const sample = ['-filter_complex', graph.join(';'), '-map', '[copy0]', '-frames:v', '1', '-f', 'rawvideo'];
  const outputs = stills.map(({ target }, i) => ({
    target,
    options: ['-map', `[copy${i + 1}]`, '-q:v', '4', ...JPEG],
  }));
  const args = ffmpegArguments(inputAt(info, at), [{ target: 'pipe:1', options: sample }, ...outputs]);
  const { output } = await runTool(tools.ffmpeg, args, limits);
  return output.length === SAMPLE.width * SAMPLE.height ? deviation(output) : undefined;
}

/** The demuxers of pictures from clients, by media type. */
const PICTURE_DEMUXERS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg_pipe',
  'image/png': 'png_pipe',
  'image/gif': 'gif',
  'image/webp': 'webp_pipe',
};

/** Writes JPEG copies of a picture from a client. @throws {MediaFailure} when it is damaged */
export async function scalePicture(
  tools: MediaTools,
  { path, mediatype }: { path: string; mediatype: string },
  stills: readonly Still[],
  limits: RunLimits,
): Promise<void> {
  const outputs = stills.map(({ target, box: { width, height } }) => {
    const fit = `scale='min(${width},iw)':'min(${height},ih)':force_original_aspect_ratio=decrease`;
    return { target, options: ['-vf', `${fit},format=yuvj420p`, '-q:v', '4', ...JPEG] };
  });
  const input = { path, options: safeguards({ path, demuxer: PICTURE_DEMUXERS[mediatype] ?? 'none' }) };
  await runTool(tools.ffmpeg, ffmpegArguments(input, outputs), limits);
}

/** Returns the places to look for a picture, in seconds, best first and the very start last. */
export function placesToLook(durationMs: number): number[] {
  const seconds = durationMs / 1000;
  if (seconds < SHORT_SECONDS) return [0];
  return [...PLACES.map((place) => place * Math.min(seconds, LATEST_SECONDS)), 0];
}

function inputAt(info: MediaInfo, at: number): Input {
  if (at === 0) return recordingInput(info.recording);
  // Exact seeking decodes from the previous keyframe on, which may be hours before.
  const inexact = info.duration > EXACT_MS ? ['-noaccurate_seek'] : [];
  return recordingInput(info.recording, [...inexact, '-ss', at.toFixed(3)]);
}

function deviation(values: Uint8Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

function nothingDecoded(): MediaFailure {
  return new MediaFailure('The file is damaged: none of its pictures can be decoded.', { permanent: true });
}

const MAX_TILES = 100;
const MAX_COLUMNS = 10;
const SHORTEST_INTERVAL_MS = 1000;
const TILE = { width: 160, height: 120 };
/** Up to this duration, all frames are decoded, which is exact; beyond it, only keyframes are. */
const DECODED_MS = 15_000;
/** From this duration on, a hundred seeks cost less than reading the whole file ... */
const READ_MS = 600_000;
/** ... unless the file has fewer frames than this. */
const FEW_FRAMES = 500;
/** Seeks of one run of ffmpeg, which takes longer to start than to seek. */
const SEEKS = 10;

/** The layout of a timeline sheet. The picture at time t is tile `floor(t / intervalMs)`, counted in rows. */
export type Timeline = ReturnType<typeof timelineLayout>;

export interface PreviewOptions extends RunLimits {
  /** Path for uncompressed pictures, which are not removed; some get a suffix. */
  scratch: string;
  onProgress: (fraction: number) => void;
}

/** Returns the layout of the timeline of a recording. */
export function timelineLayout(durationMs: number, tile: Size) {
  const intervalMs = Math.max(SHORTEST_INTERVAL_MS, Math.ceil(durationMs / MAX_TILES));
  const imageCount = Math.min(MAX_TILES, Math.max(1, Math.ceil(durationMs / intervalMs)));
  const columns = Math.min(MAX_COLUMNS, imageCount);
  const rows = Math.ceil(imageCount / columns);
  return { imageCount, columns, rows, tileWidth: tile.width, tileHeight: tile.height, intervalMs };
}

/**
 * Writes one JPEG sheet of small pictures, each from the middle of its interval or, except in very short recordings,
 * from the keyframe before it. Avoids long decoding.
 *
 * @throws {MediaFailure}
 */
export async function writeTimeline(source: VideoSource, target: string, options: PreviewOptions): Promise<Timeline> {
  const { tools, info, video } = source;
  const tile = fitInto(video, TILE);
  const layout = timelineLayout(info.duration, tile);
  const many = (video.frameCount ?? Number.POSITIVE_INFINITY) > FEW_FRAMES;
  const seek = info.duration > READ_MS && info.indexed && many;
  const tiles = await (seek ? seekTiles(source, layout, options) : decodeTiles(source, layout, options));
  await writeFile(options.scratch, sheetOf(tiles, layout.imageCount, bytesOf(tile)));
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${tile.width}x${tile.height}`];
  const sheet = ['-vf', `tile=${layout.columns}x${layout.rows},format=yuvj420p`, '-q:v', '5', ...JPEG];
  const input = { path: options.scratch, options: raw };
  await runTool(tools.ffmpeg, ffmpegArguments(input, [{ target, options: sheet }]), options);
  options.onProgress(1);
  return layout;
}

/** Decodes all tiles in one pass. */
async function decodeTiles({ tools, info, video }: VideoSource, layout: Timeline, limits: RunLimits) {
  const rate = `fps=fps=1000/${layout.intervalMs}:start_time=0:eof_action=pass`;
  const output = tileOutput(video, layout, [rate], { frames: layout.imageCount });
  const input = recordingInput(info.recording, info.duration > DECODED_MS ? ['-skip_frame', 'nokey'] : []);
  const { output: tiles } = await runTool(tools.ffmpeg, ffmpegArguments(input, [output]), limits);
  const size = bytesOf({ width: layout.tileWidth, height: layout.tileHeight });
  return Array.from({ length: Math.floor(tiles.length / size) }, (_, i) => tiles.subarray(i * size, (i + 1) * size));
}

/** Decodes each tile after a seek. */
async function seekTiles({ tools, info, video }: VideoSource, layout: Timeline, options: PreviewOptions) {
  const tiles: Buffer[] = [];
  while (tiles.length < layout.imageCount) {
    const first = tiles.length;
    const places = Array.from({ length: Math.min(SEEKS, layout.imageCount - first) }, (_, i) => first + i);
    const inputs = places.map((place) => {
      const seconds = (((place + 0.5) * layout.intervalMs) / 1000).toFixed(3);
      const seek = ['-threads', '1', '-skip_frame', 'nokey', '-noaccurate_seek', '-ss', seconds];
      return recordingInput(info.recording, seek);
    });
    const outputs = places.map((place, input) => tileOutput(video, layout, [], { input, target: tilePath(place) }));
    await runTool(tools.ffmpeg, ffmpegArguments(inputs, outputs), options);
    tiles.push(...(await Promise.all(places.map((place) => readFile(tilePath(place))))));
    options.onProgress(tiles.length / layout.imageCount);
  }
  return tiles;

  function tilePath(place: number): string {
    return `${options.scratch}-${place}`;
  }
}

function tileOutput(
  video: VideoStream,
  layout: Timeline,
  first: string[],
  { input = 0, frames = 1, target = 'pipe:1' },
) {
  const size = { width: layout.tileWidth, height: layout.tileHeight };
  const filters = [...first, ...pictureFilters(video, size), 'format=yuv420p'].join(',');
  const options = ['-map', `${input}:${video.index}`, '-vf', filters, '-frames:v', String(frames), '-f', 'rawvideo'];
  return { target, options };
}

/** Puts exactly `count` tiles together. Repeats the tile before a missing one. */
function sheetOf(tiles: readonly Buffer[], count: number, size: number): Buffer {
  let shown = tiles.find((tile) => tile.length === size);
  if (!shown) throw nothingDecoded();
  const sheet: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const tile = tiles[i];
    if (tile?.length === size) shown = tile;
    sheet.push(shown);
  }
  return Buffer.concat(sheet);
}

function bytesOf({ width, height }: Size): number {
  return (width * height * 3) / 2;
}
