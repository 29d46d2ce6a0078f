import { ffmpegArguments, type Output, recordingInput } from './command.ts';
import { PictureCut } from './cut-pictures.ts';
import {
  type Cut,
  type DeliveryPlan,
  deliveryRate,
  planDelivery,
  type StreamPlan,
  threadsFor,
  type VideoQuality,
} from './delivery-plan.ts';
import { endOf, type KeptPart, readFor } from './cutting.ts';
import { PacketProgress } from './packet-progress.ts';
import { readPictureTimes } from './picture-times.ts';
import type { MediaInfo } from './probe.ts';
import { MediaFailure } from './tools/failure.ts';
import { watched } from './tools/output-watch.ts';
import { type RunLimits, runTool } from './tools/process.ts';
import type { MediaTools } from './tools/tools.ts';

/** What is about the streams, and short recordings, which say little about the rate. */
const SLACK_BYTES = 64 * 2 ** 20;
/** Reading goes on for a second, for what is stored out of order. */
const READ_ON_MS = 1000;

export interface DeliveryOptions extends RunLimits {
  quality: VideoQuality;
  /** What of the recording is kept; without them, all of it. */
  parts?: readonly KeptPart[] | undefined;
  /** How much is done, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/**
 * Writes a recording as a file that browsers play and can start before all of it has arrived. Streams that can be
 * taken over are; when that fails because they are not what they seem, they are encoded. What is cut is encoded always, in
 * one go from the source.
 *
 * @returns the plan that was carried out
 * @throws {MediaFailure}
 */
export async function deliver(
  tools: MediaTools,
  info: MediaInfo,
  target: string,
  options: DeliveryOptions,
): Promise<DeliveryPlan> {
  if (options.parts) return deliverParts(tools, info, options.parts, target, options);
  const plan = planDelivery(info, options.quality);
  try {
    await carryOut(tools, info, plan, target, options);
    return plan;
  } catch (error) {
    const copied = plan.video?.copy || plan.audio?.copy;
    if (!copied || !(error instanceof MediaFailure) || !error.permanent) throw error;
  }
  const anew = planDelivery(info, options.quality, true);
  await carryOut(tools, info, anew, target, options);
  return anew;
}

async function deliverParts(
  tools: MediaTools,
  info: MediaInfo,
  parts: readonly KeptPart[],
  target: string,
  options: DeliveryOptions,
): Promise<DeliveryPlan> {
  const cut: Cut = { parts, pictureFilters: await cutPictures(tools, info, parts, options) };
  const plan = planDelivery(info, options.quality, true, cut);
  await carryOut(tools, readFor(info, parts), plan, target, options);
  return plan;
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

async function carryOut(
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
  const progress = new PacketProgress({ duration: info.duration, packets }, options.onProgress);
  const paced = streams.slice(0, 1).map(pace);
  const decoder = info.video ? ['-threads', String(threadsFor(info.video))] : [];
  const input = recordingInput(info.recording, [...decoder, ...readingLimit(options.parts)]);
  const args = ffmpegArguments(input, [file, ...paced]);
  await watched({ path: target, maxBytes: largestResult(info, streams) }, options.signal, (signal) =>
    runTool(tools.ffmpeg, args, {
      signal,
      timeLimitMs: options.timeLimitMs,
      onOutput: (chunk) => progress.add(chunk.toString('latin1')),
    }),
  );
  options.onProgress(1);
}

/** Nothing behind the last part is read. */
function readingLimit(parts: readonly KeptPart[] | undefined): string[] {
  return parts ? ['-t', ((endOf(parts) + READ_ON_MS) / 1000).toFixed(3)] : [];
}

/**
 * Bytes that a result can have: twice what the encoders are told, for they do not hit it, and what there is already, which
 * may be taken over, and last longer than its header says.
 */
export function largestResult(
  { size, duration }: Pick<MediaInfo, 'size' | 'duration'>,
  streams: readonly Pick<StreamPlan, 'bitRate'>[],
): number {
  const encoded = streams.reduce((sum, { bitRate }) => sum + ((bitRate ?? 0) / 8) * (duration / 1000), 0);
  return 2 * (encoded + size) + SLACK_BYTES;
}

/**
 * A second output: one line on standard output for each packet read. It tells the progress, and it ends ffmpeg when
 * nobody reads the lines any more: a worker that was killed must not leave an encoder running for hours. What is
 * only taken over goes too fast for a line at a time.
 */
function pace({ index, copy }: StreamPlan): Output {
  const lines = ['-flush_packets', copy ? '0' : '1', '-f', 'framecrc'];
  return { target: 'pipe:1', options: ['-map', `0:${index}`, '-c', 'copy', ...lines] };
}
