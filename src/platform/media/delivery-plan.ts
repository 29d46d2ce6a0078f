import { availableParallelism } from 'node:os';
import { cutSound } from './cut-filters.ts';
import type { KeptPart } from './cutting.ts';
import { fitInto, pictureFilters, type Size } from './ffmpeg-command.ts';
import type { AudioStream, VideoStream } from './streams.ts';

/** The compression of pictures: constant quality; a lower `crf` is better. */
export interface VideoQuality {
  preset: string;
  crf: number;
}

/** The treatment of one stream. */
export interface StreamPlan {
  index: number;
  /** True if the stream is copied without encoding. */
  copy: boolean;
  /** The maximum bit rate of the encoder, in bits per second averaged over seconds; null for a copied stream. */
  bitRate: number | null;
  options: string[];
}

/** The facts of a recording that determine its plan. */
export interface Deliverable {
  recording: { demuxer: string };
  /** The streams that a player would choose. */
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
}

/** The kept parts of a recording, and the filters that keep their pictures. */
export interface Cut {
  parts: readonly KeptPart[];
  pictureFilters: readonly string[];
}

/** The plan for a file that plays everywhere. */
export type DeliveryPlan = ReturnType<typeof planDelivery>;

export const USUAL_QUALITY: VideoQuality = { preset: 'veryfast', crf: 23 };

const LARGEST = { width: 3840, height: 3840 };
const LARGEST_COPIED = 4096;
const FASTEST_RATE = 60;
const USUAL_RATE = 25;
/** Below this, the rate says little about when the next picture comes. */
const SLOWEST_RATE = 5;
const KEYFRAME_SECONDS = 2;

/** The memory for the pictures that threads work on at the same time, in bytes. A thread of x264 holds about five. */
const THREADS_MEMORY = 512 * 2 ** 20;
const BYTES_A_PIXEL = 8;

/** Containers with exact times. In others, times are missing or vague. */
const TIMED = ['mov', 'matroska', 'mpegts', 'flv'];
const H264_PROFILES = ['Constrained Baseline', 'Baseline', 'Main', 'High', 'Constrained High'];
const AAC_PROFILES = ['LC', 'HE-AAC', 'HE-AACv2'];
const AAC_RATES = [32_000, 44_100, 48_000];

/**
 * Decides for each stream whether browsers can play it. It is encoded if not.
 *
 * @param encodeAll encodes even streams that could be copied
 * @param cut keeps only parts, which are always encoded
 */
export function planDelivery(info: Deliverable, quality = USUAL_QUALITY, encodeAll = false, cut?: Cut) {
  const copying = !encodeAll && !cut;
  const timed = copying && TIMED.includes(info.recording.demuxer);
  const video = info.video && videoPlan(info.video, quality, timed, cut);
  const audio = info.audio && audioPlan(info.audio, timed || (copying && info.recording.demuxer === 'aac'), cut);
  const file = info.video
    ? ({ format: 'mp4', mediatype: 'video/mp4', extension: 'mp4' } as const)
    : ({ format: 'ipod', mediatype: 'audio/mp4', extension: 'm4a' } as const);
  return { ...file, video, audio };
}

function videoPlan(video: VideoStream, quality: VideoQuality, timed: boolean, cut?: Cut): StreamPlan {
  const { index } = video;
  if (timed && playable(video)) return { index, copy: true, bitRate: null, options: ['-c:v', 'copy'] };
  const rate = deliveryRate(video);
  const size = fitInto(video, LARGEST);
  const cap = Math.max(1_000_000, Math.round(size.width * size.height * rate * 0.12));
  // Cuts after deinterlacing, which builds pictures from their neighbours.
  const filters = [...pictureFilters(video, size), ...(cut?.pictureFilters ?? []), 'format=yuv420p'];
  const codec = [
    ...['-c:v', 'libx264', '-preset', quality.preset, '-crf', String(quality.crf)],
    ...['-threads', String(threadsFor(size))],
  ];
  const limits = ['-maxrate', String(cap), '-bufsize', String(cap * 2), '-profile:v', 'high'];
  return {
    index,
    copy: false,
    bitRate: cap,
    options: [...codec, ...limits, ...timing(video, rate), '-vf', filters.join(',')],
  };
}

/**
 * Keeps the times of pictures and repeats none: two pictures ten hours apart stay two. Drops pictures that come faster
 * than the rate.
 */
function timing(video: VideoStream, rate: number): string[] {
  const fps = `${Math.round(rate * 1000)}/1000`;
  // -vsync has a newer name, which the ffmpeg from npm does not know.
  const times = ['-vsync', 'vfr', '-enc_time_base', `1000:${Math.round(rate * 1000)}`, '-x264-params', `fps=${fps}`];
  const due = `expr:isnan(prev_forced_t)+gte(t-prev_forced_t,${KEYFRAME_SECONDS})`;
  const keyframes = ['-g', String(Math.round(rate * KEYFRAME_SECONDS)), '-force_key_frames', due];
  // With B-frames, irregular pictures would begin too early by the distance of the first ones.
  return [...times, ...keyframes, ...(isRegular(video) ? [] : ['-bf', '0'])];
}

/** Returns the number of threads for the processors, limited by the memory that pictures of this size take. */
export function threadsFor({ width, height }: Size, processors = availableParallelism()): number {
  const affordable = Math.floor(THREADS_MEMORY / (width * height * BYTES_A_PIXEL));
  return Math.max(1, Math.min(affordable, Math.ceil(processors * 1.5)));
}

function playable(video: VideoStream): boolean {
  return (
    video.codec === 'h264' &&
    ['yuv420p', 'yuvj420p'].includes(video.pixelFormat ?? '') &&
    H264_PROFILES.includes(video.profile ?? '') &&
    !video.interlaced &&
    video.width <= LARGEST_COPIED &&
    video.height <= LARGEST_COPIED
  );
}

/**
 * Returns the highest frame rate of the result: that of the source, halved while it exceeds what screens show, or a
 * common rate if frames come rarely, or irregularly and often.
 */
export function deliveryRate(video: VideoStream): number {
  const { average, peak } = rates(video);
  if (peak < SLOWEST_RATE && average < SLOWEST_RATE) return USUAL_RATE;
  if (isRegular(video)) {
    let rate = average;
    while (rate > FASTEST_RATE * 1.01) rate /= 2;
    return round(rate);
  }
  if (peak <= FASTEST_RATE) return round(Math.max(peak, SLOWEST_RATE));
  return average > 31 ? FASTEST_RATE : 30;
}

function isRegular(video: VideoStream): boolean {
  const { average, peak } = rates(video);
  // Interlaced and some other regular streams are reported with a peak of twice the average.
  return Math.abs(peak / average - 1) < 0.02 || Math.abs(peak / average - 2) < 0.04;
}

function rates({ frameRate, peakFrameRate }: VideoStream): { average: number; peak: number } {
  const average = frameRate ?? peakFrameRate ?? USUAL_RATE;
  return { average, peak: peakFrameRate ?? average };
}

function round(rate: number): number {
  return Math.round(rate * 1000) / 1000;
}

function audioPlan(audio: AudioStream, timed: boolean, cut?: Cut): StreamPlan {
  const { index, channels } = audio;
  const known = audio.codec === 'aac' && AAC_PROFILES.includes(audio.profile ?? '');
  if (timed && known && channels <= 2) return { index, copy: true, bitRate: null, options: ['-c:a', 'copy'] };
  const rate = AAC_RATES.find((usual) => usual === audio.samplingRate) ?? 48_000;
  // No layout of more than eight channels can be mixed down, so the first two are used.
  const mix = channels > 8 ? ['pan=stereo|c0=c0|c1=c1'] : [];
  const gapless = 'async=1:first_pts=0';
  const kept = cut ? [`aresample=${rate}:${gapless}`, ...cutSound(cut.parts, rate)] : [`aresample=${gapless}`];
  const filters = [...mix, ...kept];
  const [outputs, bitRate] = channels === 1 ? [1, 96_000] : [2, 160_000];
  const target = ['-ac', String(outputs), '-b:a', String(bitRate)];
  const options = ['-c:a', 'aac', ...target, '-ar', String(rate), '-af', filters.join(',')];
  return { index, copy: false, bitRate, options };
}
