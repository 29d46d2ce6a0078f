import { writeFile } from 'node:fs/promises';
import { ffmpegArguments, recordingInput, type Size } from './ffmpeg-command.ts';
import type { MediaInfo } from './probe.ts';
import type { AudioStream } from './streams.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { runTool } from './tools/run-tool.ts';
import type { PreviewOptions } from './video-previews.ts';

const SIZE: Size = { width: 1920, height: 240 };
const SAMPLING_RATE = 8000;
const COLOUR = [0x3b, 0x6e, 0xa5, 0xff];
/** Quiet recordings are amplified, but silence is not amplified to noise. */
const QUIETEST_PEAK = 0.05;

/** Writes a PNG with a transparent background that shows the loudness of a recording over time. */
export async function writeWaveform(
  tools: MediaTools,
  info: MediaInfo,
  audio: AudioStream,
  target: string,
  options: PreviewOptions,
): Promise<void> {
  // ffmpeg's own filter keeps every sample in memory: gigabytes for a long lecture.
  const peaks = new Peaks(SIZE.width, (info.duration / 1000) * SAMPLING_RATE);
  const samples = ['-map', `0:${audio.index}`, '-ac', '1', '-ar', String(SAMPLING_RATE), '-f', 's16le'];
  const decode = ffmpegArguments(recordingInput(info.recording), [{ target: 'pipe:1', options: samples }]);
  await runTool(tools.ffmpeg, decode, {
    signal: options.signal,
    timeLimitMs: options.timeLimitMs,
    onOutput: (chunk) => {
      peaks.add(chunk);
      options.onProgress(Math.min(1, peaks.done));
    },
  });
  await writeFile(options.scratch, draw(peaks.columns, SIZE.height));
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgba', '-s', `${SIZE.width}x${SIZE.height}`];
  const png = ['-frames:v', '1', '-c:v', 'png', '-update', '1', '-f', 'image2'];
  const input = { path: options.scratch, options: raw };
  await runTool(tools.ffmpeg, ffmpegArguments(input, [{ target, options: png }]), options);
}

/** Finds the loudest sample of each part of a recording that arrives in chunks. */
export class Peaks {
  /** The peaks, from 0 to 1. */
  readonly columns: Float64Array;
  readonly #samplesPerColumn: number;
  #samples = 0;
  #half: number | undefined;

  /** @param samples the expected number of samples */
  constructor(columns: number, samples: number) {
    this.columns = new Float64Array(columns);
    this.#samplesPerColumn = Math.max(1, samples / columns);
  }

  /** The fraction of the expected samples that has arrived. */
  get done(): number {
    return this.#samples / (this.#samplesPerColumn * this.columns.length);
  }

  /** @param chunk signed 16-bit little-endian samples, split anywhere */
  add(chunk: Uint8Array): void {
    let at = 0;
    if (this.#half !== undefined && chunk.length > 0) {
      this.#sample(this.#half, chunk[0] ?? 0);
      this.#half = undefined;
      at = 1;
    }
    for (; at + 1 < chunk.length; at += 2) this.#sample(chunk[at] ?? 0, chunk[at + 1] ?? 0);
    if (at < chunk.length) this.#half = chunk[at];
  }

  #sample(low: number, high: number): void {
    const value = Math.abs(((high << 24) >> 16) | low) / 32_768;
    const column = Math.min(this.columns.length - 1, Math.floor(this.#samples / this.#samplesPerColumn));
    if (value > (this.columns[column] ?? 0)) this.columns[column] = value;
    this.#samples += 1;
  }
}

/** Draws a centred bar for each column, with four bytes a pixel. */
function draw(columns: Float64Array, height: number): Buffer {
  const width = columns.length;
  const pixels = Buffer.alloc(width * height * 4);
  const loudest = columns.reduce((a, b) => Math.max(a, b), QUIETEST_PEAK);
  columns.forEach((peak, x) => {
    const half = Math.max(1, Math.round(((peak / loudest) * height) / 2));
    for (let y = height / 2 - half; y < height / 2 + half; y++) pixels.set(COLOUR, (y * width + x) * 4);
  });
  return pixels;
}
