import { availableParallelism } from 'node:os';
import { piecewise, plain } from './cut-pictures.ts';
import type { KeptPart } from './cutting.ts';
import { fitInto, pictureFilters, type Size } from './command.ts';
import type { AudioStream, VideoStream } from './streams.ts';

const BLOCKS_A_SECOND = 1000;

/**
 * Filters that keep parts of a sound without gaps, to a millisecond: no rounding adds up over the parts.
 *
 * @param rate samples per second of what comes in, which begins at 0
 */
export function cutSound(parts: readonly KeptPart[], rate: number): string[] {
  const block = Math.max(1, Math.round(rate / BLOCKS_A_SECOND));
  const samples = (ms: number) => Math.round(((ms / 1000) * rate) / block) * block;
  let length = 0;
  const places = parts.map(({ begin, end }) => {
    const [from, to] = [samples(length), samples(length + end - begin)];
    length += end - begin;
    const first = samples(begin);
    return { first, until: first + to - from, shift: first - from };
  });
  const last = places.at(-1)?.until ?? 0;
  const begun = piecewise(
    'pts',
    places.map(({ first, until }) => ({ until, value: `gte(pts,${first})` })),
  );
  const shift = piecewise(
    'PTS',
    places.map((place) => ({ until: place.until, value: plain(place.shift) })),
  );
  return [`asetnsamples=n=${block}:p=0`, `aselect='lt(pts,${last})*${begun}'`, `asetpts='PTS-${shift}'`];
}

/** How pictures are compressed; constant quality, lower `crf` is better. */
export interface VideoQuality {
  preset: string;
  crf: number;
}

/** What is to be done with one stream. */
export interface StreamPlan {
  index: number;
  /** Taken over bit by bit. */
  copy: boolean;
  /** Bits per second that it is encoded to at most, over seconds; null for what is taken over. */
  bitRate: number | null;
  options: string[];
}

/** What of a recording decides how it is made playable. */
export interface Deliverable {
  recording: { demuxer: string };
  /** The streams a player would choose. */
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
}

/** What is left of a recording: its parts, and the filters that leave their pictures. */
export interface Cut {
  parts: readonly KeptPart[];
  pictureFilters: readonly string[];
}

/** How to make a recording playable everywhere. */
export interface DeliveryPlan {
  format: 'mp4' | 'ipod';
  mediatype: 'video/mp4' | 'audio/mp4';
  extension: 'mp4' | 'm4a';
  video: StreamPlan | undefined;
  audio: StreamPlan | undefined;
}

/** What is chosen unless somebody says otherwise. */
export const USUAL_QUALITY: VideoQuality = { preset: 'veryfast', crf: 23 };

const LARGEST = { width: 3840, height: 3840 };
const LARGEST_COPIED = 4096;
const FASTEST = 60;
const USUAL_RATE = 25;
/** Of slower ones the rate says little about when the next picture comes. */
const SLOWEST = 5;
const KEYFRAME_SECONDS = 2;

/** What the pictures that threads work on at the same time may take, in bytes; a thread of x264 holds about five. */
const THREADS_MEMORY = 512 * 2 ** 20;
const BYTES_A_PIXEL = 8;

/** Containers whose times can be taken over; in others they are missing or vague. */
const TIMED = ['mov', 'matroska', 'mpegts', 'flv'];
const H264_PROFILES = ['Constrained Baseline', 'Baseline', 'Main', 'High', 'Constrained High'];
const AAC_PROFILES = ['LC', 'HE-AAC', 'HE-AACv2'];
const AAC_RATES = [32_000, 44_100, 48_000];

/**
 * Decides for each stream whether browsers play it as it is; what they may not play is encoded again.
 *
 * @param anew encodes even what could be taken over
 * @param cut leaves parts only, which can never be taken over
 */
export function planDelivery(info: Deliverable, quality = USUAL_QUALITY, anew = false, cut?: Cut): DeliveryPlan {
  const copying = !anew && !cut;
  const timed = copying && TIMED.includes(info.recording.demuxer);
  const video = info.video && videoPlan(info.video, quality, timed, cut);
  const audio = info.audio && audioPlan(info.audio, timed || (copying && info.recording.demuxer === 'aac'), cut);
  return info.video
    ? { format: 'mp4', mediatype: 'video/mp4', extension: 'mp4', video, audio }
    : { format: 'ipod', mediatype: 'audio/mp4', extension: 'm4a', video, audio };
}

function videoPlan(video: VideoStream, quality: VideoQuality, timed: boolean, cut?: Cut): StreamPlan {
  const { index } = video;
  if (timed && playable(video)) return { index, copy: true, bitRate: null, options: ['-c:v', 'copy'] };
  const rate = deliveryRate(video);
  const size = fitInto(video, LARGEST);
  const cap = Math.max(1_000_000, Math.round(size.width * size.height * rate * 0.12));
  // Interlaced pictures are put together from their neighbours, so cutting comes behind that.
  const filters = [...pictureFilters(video, size), ...(cut?.pictureFilters ?? []), 'format=yuv420p'];
  const codec = [
    '-c:v',
    'libx264',
    '-preset',
    quality.preset,
    '-crf',
    String(quality.crf),
    '-threads',
    String(threadsFor(size)),
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
 * Pictures keep their times and none is repeated: two of them ten hours apart stay two. Those that come faster than
 * the rate are left out.
 */
function timing(video: VideoStream, rate: number): string[] {
  const fps = `${Math.round(rate * 1000)}/1000`;
  // A newer name of -vsync is unknown to the ffmpeg that comes with the packages.
  const times = ['-vsync', 'vfr', '-enc_time_base', `1000:${Math.round(rate * 1000)}`, '-x264-params', `fps=${fps}`];
  const due = `expr:isnan(prev_forced_t)+gte(t-prev_forced_t,${KEYFRAME_SECONDS})`;
  const keyframes = ['-g', String(Math.round(rate * KEYFRAME_SECONDS)), '-force_key_frames', due];
  // Pictures that are stored out of order begin as much too early as the first ones are apart.
  return [...times, ...keyframes, ...(isRegular(video) ? [] : ['-bf', '0'])];
}

/** As many threads as there are processors for, unless pictures of this size would take too much memory. */
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
 * The highest frame rate of the result: that of the source, halved while it is higher than screens show, and a usual one
 * where frames come rarely, or irregularly and often.
 */
export function deliveryRate(video: VideoStream): number {
  const { average, peak } = rates(video);
  if (peak < SLOWEST && average < SLOWEST) return USUAL_RATE;
  if (isRegular(video)) {
    let rate = average;
    while (rate > FASTEST * 1.01) rate /= 2;
    return round(rate);
  }
  if (peak <= FASTEST) return round(Math.max(peak, SLOWEST));
  return average > 31 ? FASTEST : 30;
}

function isRegular(video: VideoStream): boolean {
  const { average, peak } = rates(video);
  // A peak of twice the average is how interlaced and some other regular streams are reported.
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
  // Beyond eight channels there is no layout to mix down from; the first two are what was meant.
  const mix = channels > 8 ? ['pan=stereo|c0=c0|c1=c1'] : [];
  const gapless = 'async=1:first_pts=0';
  const kept = cut ? [`aresample=${rate}:${gapless}`, ...cutSound(cut.parts, rate)] : [`aresample=${gapless}`];
  const filters = [...mix, ...kept];
  const [outputs, bitRate] = channels === 1 ? [1, 96_000] : [2, 160_000];
  const target = ['-ac', String(outputs), '-b:a', String(bitRate)];
  const options = ['-c:a', 'aac', ...target, '-ar', String(rate), '-af', filters.join(',')];
  return { index, copy: false, bitRate, options };
}
