import { PictureCut } from './cut-filters.ts';
import { endOf, type KeptPart, readFor } from './cutting.ts';
import {
  type DeliveryPlan,
  deliveryRate,
  planDelivery,
  type StreamPlan,
  threadsFor,
  type VideoQuality,
} from './delivery-plan.ts';
import { ffmpegArguments, type Output, recordingInput } from './ffmpeg-command.ts';
import { progressLines, readPictureTimes } from './packets.ts';
import type { MediaInfo } from './probe.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { MediaFailure } from './tools/media-failure.ts';
import { watched } from './tools/output-watch.ts';
import { type RunLimits, runTool } from './tools/run-tool.ts';

/** Room for container overhead and for short recordings, whose rate says little. */
const SLACK_BYTES = 64 * 2 ** 20;
/** Reads another second, for pictures stored out of order. */
const READ_ON_MS = 1000;

export interface DeliveryOptions extends RunLimits {
  quality: VideoQuality;
  /** The kept parts; undefined for the whole recording. */
  parts?: readonly KeptPart[] | undefined;
  onProgress: (fraction: number) => void;
}

/**
 * Writes a file that browsers play and can start before all of it has arrived. Copies the streams that allow it. If
 * that fails because they are not what they claim to be, encodes them. A cut is always encoded, in one pass from the
 * source.
 *
 * @returns the plan that was executed
 * @throws {MediaFailure}
 */
export async function deliver(
  tools: MediaTools,
  info: MediaInfo,
  target: string,
  options: DeliveryOptions,
): Promise<DeliveryPlan> {
  const { parts, quality } = options;
  if (parts) {
    const cut = { parts, pictureFilters: await cutPictures(tools, info, parts, options) };
    const plan = planDelivery(info, quality, true, cut);
    await runPlan(tools, readFor(info, parts), plan, target, options);
    return plan;
  }
  const plan = planDelivery(info, quality);
  try {
    await runPlan(tools, info, plan, target, options);
    return plan;
  } catch (error) {
    const copied = plan.video?.copy || plan.audio?.copy;
    if (!copied || !(error instanceof MediaFailure) || !error.permanent) throw error;
  }
  const encoded = planDelivery(info, quality, true);
  await runPlan(tools, info, encoded, target, options);
  return encoded;
}

async function cutPictures(
  tools: MediaTools,
  info: MediaInfo,
  parts: readonly KeptPart[],
  { signal, timeLimitMs }: RunLimits,
): Promise<string[]> {
  if (!info.video) return [];
  const pictures = new PictureCut(parts, deliveryRate(info.video));
  const limits = { signal, timeLimitMs, inputOptions: readingLimit(parts) };
  await readPictureTimes(tools, info, (time) => pictures.add(time), limits);
  return pictures.filters();
}

async function runPlan(
  tools: MediaTools,
  info: MediaInfo,
  plan: DeliveryPlan,
  target: string,
  options: DeliveryOptions,
): Promise<void> {
  const streams = [plan.video, plan.audio].filter((stream) => stream !== undefined);
  const file: Output = {
    target,
    options: [
      ...streams.flatMap(({ index }) => ['-map', `0:${index}`]),
      ...streams.flatMap((stream) => stream.options),
      ...['-max_muxing_queue_size', '4096', '-movflags', '+faststart', '-f', plan.format],
    ],
  };
  const packets = (info.video ?? info.audio)?.frameCount ?? null;
  const progress = progressLines({ duration: info.duration, packets }, options.onProgress);
  const paced = streams.slice(0, 1).map(pace);
  const decoder = info.video ? ['-threads', String(threadsFor(info.video))] : [];
  const input = recordingInput(info.recording, [...decoder, ...readingLimit(options.parts)]);
  const args = ffmpegArguments(input, [file, ...paced]);
  await watched({ path: target, maxBytes: largestResult(info, streams) }, options.signal, (signal) =>
    runTool(tools.ffmpeg, args, {
      signal,
      timeLimitMs: options.timeLimitMs,
      onOutput: (chunk) => progress.add(chunk),
    }),
  );
  options.onProgress(1);
}

function readingLimit(parts: readonly KeptPart[] | undefined): string[] {
  return parts ? ['-t', ((endOf(parts) + READ_ON_MS) / 1000).toFixed(3)] : [];
}

/**
 * Returns the maximum size of a result in bytes: twice the rate of the encoders, which they may miss, plus the size of
 * the source, which may be copied and last longer than its header says.
 */
export function largestResult(
  { size, duration }: Pick<MediaInfo, 'size' | 'duration'>,
  streams: readonly Pick<StreamPlan, 'bitRate'>[],
): number {
  const encoded = streams.reduce((sum, { bitRate }) => sum + ((bitRate ?? 0) / 8) * (duration / 1000), 0);
  return 2 * (encoded + size) + SLACK_BYTES;
}

/**
 * Returns a second output, which prints a line for each packet read. It reports progress, and it stops ffmpeg when
 * nobody reads the lines: a killed worker must not leave an encoder running for hours. Copying is too fast for a flush
 * after each line.
 */
function pace({ index, copy }: StreamPlan): Output {
  const lines = ['-flush_packets', copy ? '0' : '1', '-f', 'framecrc'];
  return { target: 'pipe:1', options: ['-map', `0:${index}`, '-c', 'copy', ...lines] };
}
