import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PictureCut } from './cut-filters.ts';
import { endOf, type KeptPart, readFor } from './cutting.ts';
import { type Cut, deliveryRate, LONGEST_LEAD_SECONDS, type StreamPlan, threadsFor } from './delivery-plan.ts';
import { ffmpegArguments, type Output, recordingInput } from './ffmpeg-command.ts';
import { type Ladder, type LadderSettings, planLadder, type Rendition } from './ladder.ts';
import { PacketProgress, readPictureTimes } from './packets.ts';
import type { MediaInfo } from './probe.ts';
import { beginsLate, picturesEndEarly } from './stream-spans.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { MediaFailure } from './tools/media-failure.ts';
import { watched } from './tools/output-watch.ts';
import { type RunLimits, runTool } from './tools/run-tool.ts';

/** Room for container overhead and for short recordings, whose rate says little. */
const SLACK_BYTES = 64 * 2 ** 20;
/** Reads another second, for pictures stored out of order. */
const READ_ON_MS = 1000;
/** Streaming must be able to start again so often; pictures with fewer key frames are encoded. */
const MAX_KEYFRAME_SECONDS = 10;
/** In seconds. Files that were trimmed without encoding hide what lies between a key frame and their beginning. */
const MAX_HIDDEN_SECONDS = 0.05;
/** The progress of all renditions when the best one has been copied. */
const COPIED_SHARE = 0.1;

const FRAGMENT_SECONDS = 1.5;
/** Without pictures, the duration alone ends a fragment; with copied pictures, it limits the memory of the writer. */
const LONGEST_FRAGMENT = { sound: 6, copied: 15 };
/** An index has room for 65,535, and a recording may last longer than its header says. */
const MOST_FRAGMENTS = 60_000;

/** Facts that show whether a copy can be streamed. */
type ReadFacts = Pick<PacketProgress, 'keyframeSeconds' | 'hiddenSeconds' | 'leadSeconds' | 'hasOpenGop'>;

export interface DeliveryOptions extends RunLimits {
  settings: LadderSettings;
  /** The folder of the results, which has no other files. */
  folder: string;
  /** The kept parts; undefined for the whole recording. */
  parts?: readonly KeptPart[] | undefined;
  onProgress: (fraction: number) => void;
}

/** The renditions of a track that were made, each in a file. */
export interface Delivery extends Ladder {
  renditions: readonly (Rendition & { path: string })[];
}

/**
 * Copies the streams of a recording to a file that browsers play, as the best rendition.
 *
 * @returns undefined if browsers cannot play them, if key frames are too far apart for streaming, if pictures refer across
 *   key frames, if the file hides pictures at its beginning, which players of streams would show, or if pictures after a
 *   pause are decoded long before they are shown
 * @throws {MediaFailure}
 */
export async function deliverCopy(
  tools: MediaTools,
  info: MediaInfo,
  options: DeliveryOptions,
): Promise<Delivery | undefined> {
  const ladder = planLadder(info, options.settings);
  const renditions = ladder.renditions.slice(0, 1);
  if (options.parts || !isCopied(renditions[0])) return undefined;
  try {
    const facts = await runPlan(tools, info, { ...ladder, renditions }, options);
    const delivery = deliveryOf({ ...ladder, renditions }, options.folder);
    if (!info.video || canStream(facts)) return delivery;
    for (const { path } of delivery.renditions) await rm(path);
    return undefined;
  } catch (error) {
    if (!(error instanceof MediaFailure) || !error.permanent) throw error;
    return undefined;
  }
}

function canStream({ keyframeSeconds, hiddenSeconds, leadSeconds, hasOpenGop }: ReadFacts): boolean {
  const isPlaced = hiddenSeconds <= MAX_HIDDEN_SECONDS && leadSeconds < LONGEST_LEAD_SECONDS;
  return keyframeSeconds <= MAX_KEYFRAME_SECONDS && isPlaced && !hasOpenGop;
}

/**
 * Makes all renditions of a recording, as files that browsers play, stream and seek in. Copies the best one if that is
 * possible, and decodes the source once for all other renditions. A cut is always encoded, in one pass from the source;
 * so is a recording whose pictures end early, as a cut that keeps all of it: that shows the last picture to the end.
 *
 * @param options.hasCopy true if `deliverCopy` has already made the best rendition
 * @throws {MediaFailure}
 */
export async function deliver(
  tools: MediaTools,
  info: MediaInfo,
  options: DeliveryOptions & { hasCopy?: boolean },
): Promise<Delivery> {
  const { settings, onProgress, hasCopy = false } = options;
  const parts = options.parts ?? (picturesEndEarly(info) ? [{ begin: 0, end: info.duration }] : undefined);
  if (parts) {
    const cut = { parts, ...(await cutPictures(tools, info, parts, options)) };
    return encode(tools, readFor(info, parts), planLadder(info, settings, true, cut), options);
  }
  let done = 0;
  const copying = {
    ...options,
    onProgress: (fraction: number) => {
      done = fraction * COPIED_SHARE;
      onProgress(done);
    },
  };
  const copy = hasCopy ? undefined : await deliverCopy(tools, info, copying);
  const encoding = { ...options, onProgress: (fraction: number) => onProgress(done + fraction * (1 - done)) };
  const ladderOf = (encodeAll: boolean) => {
    const ladder = planLadder(info, settings, encodeAll);
    return copy || hasCopy ? { ...ladder, renditions: ladder.renditions.slice(1) } : ladder;
  };
  const first = ladderOf(!copy && !hasCopy && isCopied(planLadder(info, settings).renditions[0]));
  const encoded = await encode(tools, info, first, encoding).catch((error) => {
    const copies = first.renditions.some(({ audio }) => audio?.copy);
    if (!copies || !(error instanceof MediaFailure) || !error.permanent) throw error;
    return encode(tools, info, ladderOf(true), encoding);
  });
  return { ...encoded, renditions: [...(copy?.renditions ?? []), ...encoded.renditions] };
}

/**
 * Returns the options of a file with fragments of about two seconds that begin with key frames, and an index of them at
 * the front. On a slow line, a picture appears when the first fragment has been loaded. Recordings of more than a day have
 * longer fragments.
 *
 * @param duration milliseconds
 * @param longest the length of a fragment without key frames, in seconds
 */
export function fragmentOptions(duration: number, longest?: number): string[] {
  const shortest = duration / 1000 / MOST_FRAGMENTS;
  const microseconds = (seconds: number) => String(Math.round(Math.max(seconds, shortest) * 1e6));
  return [
    ...['-movflags', '+frag_keyframe+delay_moov+default_base_moof+global_sidx'],
    ...['-min_frag_duration', microseconds(FRAGMENT_SECONDS)],
    ...(longest ? ['-frag_duration', microseconds(longest)] : []),
  ];
}

export function isCopied(rendition: Rendition | undefined): boolean {
  return (rendition?.video ?? rendition?.audio)?.copy === true;
}

async function encode(tools: MediaTools, info: MediaInfo, ladder: Ladder, options: DeliveryOptions): Promise<Delivery> {
  if (ladder.renditions.length > 0) await runPlan(tools, info, ladder, options);
  options.onProgress(1);
  return deliveryOf(ladder, options.folder);
}

function deliveryOf({ renditions, ...ladder }: Ladder, folder: string): Delivery {
  return { ...ladder, renditions: renditions.map((rendition) => ({ ...rendition, path: pathOf(rendition, folder) })) };
}

export function pathOf({ rank }: Rendition, folder: string): string {
  return join(folder, `rendition-${rank}`);
}

async function cutPictures(
  tools: MediaTools,
  info: MediaInfo,
  parts: readonly KeptPart[],
  { signal, timeLimitMs }: RunLimits,
): Promise<Omit<Cut, 'parts'>> {
  if (!info.video) return { pictureFilters: [], holdsLast: false };
  const pictures = new PictureCut(parts, deliveryRate(info.video));
  const limits = { signal, timeLimitMs, inputOptions: readingLimit(parts) };
  await readPictureTimes(tools, info, (time) => pictures.add(time), limits);
  return { pictureFilters: pictures.filters(), holdsLast: pictures.holdsLast };
}

/** Makes renditions in one run. @returns facts of what was read */
async function runPlan(
  tools: MediaTools,
  info: MediaInfo,
  { format, renditions }: Ladder,
  options: DeliveryOptions,
): Promise<ReadFacts> {
  const start = startOptions(info, options.parts);
  const files = renditions.map((rendition) => outputOf(rendition, format, options.folder, info.duration, start));
  const streams = renditions.flatMap(streamsOf);
  const packets = (info.video ?? info.audio)?.frameCount ?? null;
  const progress = new PacketProgress({ duration: info.duration, packets }, options.onProgress);
  const paced = streams.slice(0, 1).map(pace);
  const decoder = info.video ? ['-threads', String(threadsFor(info.video))] : [];
  const input = recordingInput(info.recording, [...decoder, ...readingLimit(options.parts)]);
  const inputs = streams.some(({ isContinued }) => isContinued) ? [input, input] : [input];
  const args = ffmpegArguments(inputs, [...files, ...paced]);
  await watched({ path: options.folder, maxBytes: largestResult(info, streams) }, options.signal, (signal) =>
    runTool(tools.ffmpeg, args, {
      signal,
      timeLimitMs: options.timeLimitMs,
      onOutput: (chunk) => progress.lines.add(chunk),
    }),
  );
  return progress;
}

export function streamsOf({ video, audio }: Rendition): StreamPlan[] {
  return [video, audio].filter((stream) => stream !== undefined);
}

/**
 * Returns the options that make pictures begin with the sound. Players of streams ignore edit lists, by which a file says
 * that a stream begins later. Without one, ffmpeg shows the first picture from the start.
 */
export function startOptions({ spans }: Pick<MediaInfo, 'spans'>, parts?: readonly KeptPart[]): string[] {
  return beginsLate(spans.video, (parts?.[0]?.begin ?? 0) / 1000) ? ['-use_editlist', '0'] : [];
}

function outputOf(
  rendition: Rendition,
  format: Ladder['format'],
  folder: string,
  duration: number,
  start: readonly string[],
): Output {
  const streams = streamsOf(rendition);
  const copied = rendition.video?.copy ? LONGEST_FRAGMENT.copied : undefined;
  const fragments = fragmentOptions(duration, rendition.video ? copied : LONGEST_FRAGMENT.sound);
  return {
    target: pathOf(rendition, folder),
    options: [
      ...streams.flatMap(({ index, isContinued }) => ['-map', `${isContinued ? 1 : 0}:${index}`]),
      ...streams.flatMap((stream) => stream.options),
      // The header may claim more than there is: the silence ends with the last picture.
      ...(streams.some(({ isContinued }) => isContinued) ? ['-shortest'] : []),
      ...['-max_muxing_queue_size', '4096', ...fragments, ...start, '-f', format],
    ],
  };
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
export function pace({ index, copy }: Pick<StreamPlan, 'index' | 'copy'>): Output {
  const lines = ['-flush_packets', copy ? '0' : '1', '-f', 'framecrc'];
  return { target: 'pipe:1', options: ['-map', `0:${index}`, '-c', 'copy', ...lines] };
}
