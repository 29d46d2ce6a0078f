import { ffmpegArguments, type Output, recordingInput } from './command.ts';
import {
  type DeliveryPlan,
  planDelivery,
  type StreamPlan,
  threadsFor,
  type VideoQuality,
} from './delivery-plan.ts';
import { MediaFailure } from './failure.ts';
import { watched } from './output-watch.ts';
import { PacketProgress } from './packet-progress.ts';
import type { MediaInfo } from './probe.ts';
import { type RunLimits, runTool } from './process.ts';
import type { MediaTools } from './tools.ts';

/** What is about the streams, and short recordings, which say little about the rate. */
const SLACK_BYTES = 64 * 2 ** 20;

export interface DeliveryOptions extends RunLimits {
  quality: VideoQuality;
  /** How much is done, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/**
 * Writes a recording as a file that browsers play and can start before all of it has arrived. Streams that can be
 * taken over are; when that fails because they are not what they seem, they are encoded.
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
  const args = ffmpegArguments(recordingInput(info.recording, decoder), [file, ...paced]);
  await watched({ path: target, maxBytes: largestResult(info, streams) }, options.signal, (signal) =>
    runTool(tools.ffmpeg, args, {
      signal,
      timeLimitMs: options.timeLimitMs,
      onOutput: (chunk) => progress.add(chunk.toString('latin1')),
    }),
  );
  options.onProgress(1);
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
