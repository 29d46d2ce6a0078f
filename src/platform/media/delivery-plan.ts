import { availableParallelism } from 'node:os';
import { cutSound } from './cut-filters.ts';
import type { KeptPart } from './cutting.ts';
import { isHdr, pictureFilters, type Size } from './ffmpeg-command.ts';
import type { StreamSpans } from './stream-spans.ts';
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
  /**
   * True for sound that silence continues. It must be read apart from the pictures: its end is otherwise known only when
   * all of the file has been read, and the silence is written behind all pictures.
   */
  isContinued?: boolean;
}

/** The facts of a recording that determine its plan. */
export interface Deliverable {
  recording: { demuxer: string };
  /** The streams that a player would choose. */
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
  /** Undefined before the file is read. */
  spans?: StreamSpans | undefined;
  /** Milliseconds. */
  duration: number;
}

/** The kept parts of a recording, and the filters that keep their pictures. */
export interface Cut {
  parts: readonly KeptPart[];
  pictureFilters: readonly string[];
  /** True if the last picture stays on screen for long. */
  holdsLast: boolean;
}

/** The permitted treatment of the streams of a recording. */
export interface Treatment {
  /** False if even playable streams are encoded. */
  canCopy: boolean;
  demuxer: string;
  /** That of the recording, in milliseconds. */
  duration: number;
  cut?: Cut | undefined;
  /** The maximum bit rate of encoded pictures, in bits per second; by default, by their size. */
  maxBitRate?: number | undefined;
}

export const USUAL_QUALITY: VideoQuality = { preset: 'veryfast', crf: 23 };

/** Players of streams take a segment to belong where it is decoded. They accept one that is shown up to this much later. */
export const LONGEST_LEAD_SECONDS = 1;
const LARGEST_COPIED = 4096;
/** A peak may be rounded, such as 30 for 29.97. Further above the average, it shows that the recording has pauses. */
const ROUNDED_PEAK = 1.0015;
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
/** The tags of SDR (ITU-R BT.709). */
const SDR = ['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv'];
const H264_PROFILES = ['Constrained Baseline', 'Baseline', 'Main', 'High', 'Constrained High'];
const AAC_PROFILES = ['LC', 'HE-AAC', 'HE-AACv2'];
const AAC_RATES = [32_000, 44_100, 48_000];

/** Plans the pictures of a rendition: a copy where it is allowed and browsers can play it, otherwise an encoder. */
export function planVideo(
  video: VideoStream,
  quality: VideoQuality,
  size: Size,
  { canCopy, demuxer, duration, cut, maxBitRate }: Treatment,
): StreamPlan {
  const { index } = video;
  if (canCopy && isPlayable(video, demuxer)) {
    return { index, copy: true, bitRate: null, options: ['-c:v', 'copy'] };
  }
  const rate = deliveryRate(video);
  const cap = maxBitRate ?? Math.max(1_000_000, Math.round(size.width * size.height * rate * 0.12));
  // Cuts after deinterlacing, which builds pictures from their neighbours.
  const filters = [...pictureFilters(video, size), ...(cut?.pictureFilters ?? []), 'format=yuv420p'];
  const codec = [
    ...['-c:v', 'libx264', '-preset', quality.preset, '-crf', String(quality.crf)],
    ...['-threads', String(threadsFor(size))],
  ];
  const limits = ['-maxrate', String(cap), '-bufsize', String(cap * 2), '-profile:v', 'high'];
  const isEven = isRegular(video) && !cut?.holdsLast && missingSeconds(video, duration / 1000) < LONGEST_LEAD_SECONDS;
  return {
    index,
    copy: false,
    bitRate: cap,
    options: [...codec, ...limits, ...timing(rate, isEven), ...(isHdr(video) ? SDR : []), '-vf', filters.join(',')],
  };
}

/**
 * Keeps the times of pictures and repeats none: two pictures ten hours apart stay two. Drops pictures that come faster
 * than the rate.
 */
function timing(rate: number, isEven: boolean): string[] {
  const fps = `${Math.round(rate * 1000)}/1000`;
  // -vsync has a newer name, which the ffmpeg from npm does not know.
  const times = ['-vsync', 'vfr', '-enc_time_base:v', `1000:${Math.round(rate * 1000)}`, '-x264-params', `fps=${fps}`];
  const due = `expr:isnan(prev_forced_t)+gte(t-prev_forced_t,${KEYFRAME_SECONDS})`;
  // Only at these times, so that segments of all renditions begin together.
  const keyframes = ['-g', String(Math.round(rate * KEYFRAME_SECONDS)), '-sc_threshold', '0', '-force_key_frames', due];
  // With B-frames, irregular pictures would begin too early by the distance of the first ones, and a picture after a
  // pause would be decoded before the pause.
  return [...times, ...keyframes, ...(isEven ? [] : ['-bf', '0'])];
}

/** Returns the number of threads for the processors, limited by the memory that pictures of this size take. */
export function threadsFor({ width, height }: Size, processors = availableParallelism()): number {
  const affordable = Math.floor(THREADS_MEMORY / (width * height * BYTES_A_PIXEL));
  return Math.max(1, Math.min(affordable, Math.ceil(processors * 1.5)));
}

/** Returns true if browsers play these pictures as they are. @param demuxer of their file */
export function isPlayable(video: VideoStream, demuxer: string): boolean {
  return (
    TIMED.includes(demuxer) &&
    video.codec === 'h264' &&
    ['yuv420p', 'yuvj420p'].includes(video.pixelFormat ?? '') &&
    H264_PROFILES.includes(video.profile ?? '') &&
    // Its parameter sets may change among the pictures; playlists name `avc1`, which has them in front.
    video.tag !== 'avc3' &&
    !isHdr(video) &&
    !video.interlaced &&
    video.width <= LARGEST_COPIED &&
    video.height <= LARGEST_COPIED
  );
}

/**
 * Returns the highest frame rate of the result: that of the source, halved while it exceeds what screens show; if frames
 * come irregularly, one that loses none, as far as screens show them; a common one if they come rarely.
 */
export function deliveryRate(video: VideoStream): number {
  const { average, peak } = rates(video);
  if (peak < SLOWEST_RATE && average < SLOWEST_RATE) return USUAL_RATE;
  if (isRegular(video)) {
    let rate = peak / average < ROUNDED_PEAK ? average : peak;
    while (rate > FASTEST_RATE * 1.01) rate /= 2;
    return round(rate);
  }
  return round(Math.min(Math.max(peak, average), FASTEST_RATE));
}

function isRegular(video: VideoStream): boolean {
  const { average, peak } = rates(video);
  return Math.abs(peak / average - 1) < 0.02;
}

/** Returns the seconds of a recording for which it has no pictures at its usual rate: the longest possible pause. */
function missingSeconds(video: VideoStream, seconds: number): number {
  const { average, peak } = rates(video);
  const frames = video.frameCount ?? average * seconds;
  return seconds - frames / peak;
}

function rates({ frameRate, peakFrameRate }: VideoStream): { average: number; peak: number } {
  const average = frameRate ?? peakFrameRate ?? USUAL_RATE;
  return { average, peak: peakFrameRate ?? average };
}

function round(rate: number): number {
  return Math.round(rate * 1000) / 1000;
}

/**
 * Plans the sound of a rendition.
 *
 * @param treatment.bitRate bits per second of encoded sound
 * @param treatment.silenceEnd the end of the silence that continues it, in seconds
 */
export function planSound(
  audio: AudioStream,
  treatment: Treatment & { bitRate?: number; silenceEnd?: number | undefined },
): StreamPlan {
  const { index, channels } = audio;
  const { canCopy, demuxer, cut, silenceEnd } = treatment;
  const timed = TIMED.includes(demuxer) || demuxer === 'aac';
  const known = audio.codec === 'aac' && AAC_PROFILES.includes(audio.profile ?? '');
  const isContinued = silenceEnd !== undefined;
  if (canCopy && timed && known && channels <= 2 && !isContinued) {
    // Transport streams and raw AAC repeat a header in each packet.
    return { index, copy: true, bitRate: null, options: ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc'] };
  }
  const rate = AAC_RATES.find((usual) => usual === audio.samplingRate) ?? 48_000;
  // No layout of more than eight channels can be mixed down, so the first two are used.
  const mix = channels > 8 ? ['pan=stereo|c0=c0|c1=c1'] : [];
  const gapless = 'async=1:first_pts=0';
  const silence = isContinued ? [`apad=whole_len=${Math.round(silenceEnd * rate)}`] : [];
  const counted = [`aresample=${rate}:${gapless}`, ...silence, ...(cut ? cutSound(cut.parts, rate) : [])];
  const filters = [...mix, ...(cut || isContinued ? counted : [`aresample=${gapless}`])];
  const bitRate = treatment.bitRate ?? (channels === 1 ? 96_000 : 160_000);
  const target = ['-ac', channels === 1 ? '1' : '2', '-b:a', String(bitRate)];
  const options = ['-c:a', 'aac', ...target, '-ar', String(rate), '-af', filters.join(',')];
  return { index, copy: false, bitRate, options, isContinued };
}
