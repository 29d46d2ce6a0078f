import { isReaderAddress } from '../storage/range-reader.ts';
import { isPlayable } from './delivery-plan.ts';
import { safeguards } from './ffmpeg-command.ts';
import { type Scan, scanPackets } from './packets.ts';
import { type Recording, recognize } from './recording.ts';
import { type Span, type StreamSpans, spanOf } from './stream-spans.ts';
import {
  type AudioStream,
  isEncrypted,
  type MediaStream,
  mediaStreams,
  playedStreams,
  Report,
  tickOf,
  type VideoStream,
} from './streams.ts';
import type { MediaTools } from './tools/locate-tools.ts';
import { ENCRYPTED, MediaFailure, NOTHING_FOLLOWS } from './tools/media-failure.ts';
import { type RunLimits, runTool } from './tools/run-tool.ts';

const HEADER_TIME_LIMIT_MS = 60_000;
/** Enough for a hundred streams with long titles. */
const HEADER_BYTES = 4 * 2 ** 20;
const SCAN_TIME_LIMIT_MS = 3_600_000;
const LARGE_BYTES = 32 * 2 ** 20;
/** In seconds. Files that begin later count their duration from 0 or from the first packet, depending on their writer. */
const LATE_START = 1;

/** Formats without a duration in the header, for which ffprobe only guesses it. */
const WITHOUT_DURATION = ['mpegts', 'mpeg', 'mp3', 'aac', 'ac3', 'eac3', 'amr'];
/** Formats that give no times of single streams. */
const UNTIMED = ['matroska', 'flv'];

/** The content of a recording. */
export interface MediaInfo {
  recording: Recording;
  /** Milliseconds. */
  duration: number;
  /** Bytes. */
  size: number;
  hasAudio: boolean;
  hasVideo: boolean;
  streams: MediaStream[];
  /** The streams that a player would choose. */
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
  /** True if the file has an index, so that seeking is cheap. */
  indexed: boolean;
  /** True if all packets have been read, so that counts and rates are measured. */
  measured: boolean;
  /** The first time in the file, in seconds. */
  start: number;
  /** The unit of the times of the sound, in seconds. */
  soundTick: number | null;
  spans: StreamSpans;
}

/** The facts of an inspection that are kept beside the duration and the streams of a file. Stored as JSON. */
export type Inspection = Pick<MediaInfo, 'size' | 'indexed' | 'measured' | 'start' | 'soundTick' | 'spans'> & {
  recording: Omit<Recording, 'path'>;
};

/** `timeLimitMs` applies to each run of a tool, with a generous default. */
export type ProbeOptions = Partial<RunLimits>;

/**
 * Reads the content of a file. Measures a duration that the header does not give exactly by reading all packets.
 *
 * @param path a path, or an address of a `RangeReader`
 * @throws {MediaFailure} permanent when the file is not a recording, damaged, incomplete or without sound and picture
 */
export async function probe(tools: MediaTools, path: string, options: ProbeOptions = {}): Promise<MediaInfo> {
  const { signal, timeLimitMs } = options;
  const recording = await recognize(path);
  const args = [...safeguards(recording), '-show_format', '-show_streams', '-print_format', 'json'];
  const { output, log } = await runTool(tools.ffprobe, ['-hide_banner', '-v', 'warning', ...args, '-i', path], {
    signal,
    timeLimitMs: timeLimitMs ?? HEADER_TIME_LIMIT_MS,
    maxOutputBytes: HEADER_BYTES,
  });
  const report = reportOf(output);
  if (isEncrypted(report)) throw new MediaFailure(ENCRYPTED, { permanent: true, log });
  const streams = mediaStreams(report);
  if (streams.length === 0) {
    throw new MediaFailure('The file has neither sound nor moving pictures.', { permanent: true, log });
  }
  const declared = Number(report.format?.duration ?? 0) * 1000;
  const indexed = declared > 0 && !WITHOUT_DURATION.includes(recording.demuxer);
  const indexes = streams.map(({ index }) => index);
  const limits = { signal, timeLimitMs: timeLimitMs ?? SCAN_TIME_LIMIT_MS };
  const start = Number(report.format?.start_time ?? 0) || 0;
  const isExact = indexed && start < LATE_START && !hasUnseen(report, recording.demuxer, indexes);
  const scan = isExact ? undefined : await scanPackets(tools, recording, indexes, limits);
  const found = summary(scan ? streamsWithPackets(streams, scan, log) : streams);
  return {
    recording,
    duration: scan?.duration ?? Math.round(declared),
    size: recording.size,
    ...found,
    indexed,
    measured: scan !== undefined,
    start,
    soundTick: tickOf(report, found.audio?.index),
    spans: scan
      ? measuredSpans(found, start, scan)
      : { video: spanOf(report, found.video?.index), audio: spanOf(report, found.audio?.index) },
  };
}

/**
 * Counts the frames of a recording that will be encoded and measures their rate, by reading all of it: the header may be
 * wrong, and the time that everything takes depends on the number. Frames whose rate does not vary by the header are not
 * counted in a large object in a bucket, nor in an MP4 of which the best rendition is copied. Leaves out streams without
 * packets.
 *
 * @throws {MediaFailure} when it cannot be read now; if it can never be read to its end, the header's number stays
 */
export async function countFrames(
  tools: MediaTools,
  info: MediaInfo,
  { signal, timeLimitMs = SCAN_TIME_LIMIT_MS }: ProbeOptions = {},
): Promise<MediaInfo> {
  const { recording, video } = info;
  if (info.measured || !video) return info;
  const isExpensive = isReaderAddress(recording.path) && info.size >= LARGE_BYTES;
  // The header of an MP4 gives the times of all frames unless it is fragmented, that of Matroska only claims a rate.
  const isCopied = isPlayable(video, recording.demuxer) && recording.demuxer === 'mov' && video.frameCount !== null;
  if (isSteady(video) && (isExpensive || isCopied)) return info;
  const indexes = info.streams.map(({ index }) => index);
  const scan = await scanPackets(tools, recording, indexes, { signal, timeLimitMs }).catch((error) => {
    if (error instanceof MediaFailure && error.permanent) return undefined;
    throw error;
  });
  if (!scan) return info;
  const found = summary(streamsWithPackets(info.streams, scan));
  return { ...info, ...found, spans: measuredSpans(found, info.start, scan), measured: true };
}

function isSteady({ frameRate, peakFrameRate }: VideoStream): boolean {
  return frameRate !== null && peakFrameRate !== null && Math.abs(peakFrameRate / frameRate - 1) < 0.01;
}

/** Returns what is to be kept of an inspection. */
export function inspectionOf(info: MediaInfo): Inspection {
  const { size, indexed, measured, start, soundTick, spans } = info;
  const { path: _, ...recording } = info.recording;
  return { size, indexed, measured, start, soundTick, spans, recording };
}

/** Returns the content of a file that has been inspected, which is now at `path`. */
export function inspected(
  { recording, ...facts }: Inspection,
  { duration, streams }: Pick<MediaInfo, 'duration' | 'streams'>,
  path: string,
): MediaInfo {
  return { ...facts, duration, recording: { ...recording, path }, ...summary(streams) };
}

/** Leaves out streams of these kinds. */
export function withoutStreams(info: MediaInfo, hidden: readonly string[]): MediaInfo {
  if (hidden.length === 0) return info;
  return { ...info, ...summary(info.streams.filter(({ type }) => !hidden.includes(type))) };
}

/** Returns true if the beginning of a file has no packet of one of these streams, to which ffprobe gives the file's times. */
function hasUnseen({ streams }: Report, demuxer: string, indexes: readonly number[]): boolean {
  return UNTIMED.includes(demuxer) && streams.some(({ index, duration }) => indexes.includes(index) && duration);
}

function reportOf(output: Buffer): Report {
  try {
    return Report.parse(JSON.parse(output.toString('utf8')));
  } catch (cause) {
    throw new MediaFailure('The file is damaged: its header cannot be read.', {
      permanent: true,
      log: output.toString('utf8', 0, 4096),
      cause,
    });
  }
}

function summary(streams: MediaStream[]) {
  const { video, audio } = playedStreams(streams);
  return { streams, video, audio, hasVideo: video !== undefined, hasAudio: audio !== undefined };
}

/**
 * Begins a stream with its first key frame, before which players show nothing, and ends it with its last packet, which may
 * be shown for long.
 */
function measuredSpans({ video, audio }: Pick<MediaInfo, 'video' | 'audio'>, start: number, { spans }: Scan) {
  const spanIn = (stream: MediaStream | undefined): Span => {
    const span = spans.get(stream?.index ?? -1);
    return span ? { begin: span.begin - start, end: span.end - start } : { begin: 0, end: null };
  };
  return { video: spanIn(video), audio: spanIn(audio) };
}

/**
 * Returns the streams that have packets. A recorder may declare one for an input without a signal.
 *
 * @throws {MediaFailure} permanent when none has
 */
function streamsWithPackets(streams: readonly MediaStream[], scan: Scan, log = ''): MediaStream[] {
  if (scan.duration === null) throw new MediaFailure(NOTHING_FOLLOWS, { permanent: true, log });
  return streams.filter(({ index }) => scan.packets.get(index)).map((stream) => counted(stream, scan));
}

/**
 * Sets the counted frames, and corrects declared frame rates that are far off. Cameras and recorders write one frame
 * per packet.
 */
function counted(stream: MediaStream, scan: Scan): MediaStream {
  const frameCount = scan.packets.get(stream.index) || null;
  if (stream.type === 'audio') return { ...stream, frameCount };
  const { first, end } = scan.spans.get(stream.index) ?? { first: 0, end: 0 };
  const seconds = end - first;
  const counted = frameCount && frameCount > 1 && seconds > 0 ? (frameCount - 1) / seconds : null;
  const frameRate = corrected(stream.frameRate, counted, 0.05);
  const peakFrameRate = corrected(stream.peakFrameRate, scan.rates.get(stream.index) ?? null, 0.02);
  return { ...stream, frameCount, frameRate, peakFrameRate };
}

function corrected(declared: number | null, measured: number | null, tolerance: number): number | null {
  const agrees = declared && measured && Math.abs(declared / measured - 1) < tolerance;
  return agrees ? declared : (measured ?? declared);
}
