import {
  type Cut,
  type Deliverable,
  planSound,
  planVideo,
  type StreamPlan,
  USUAL_QUALITY,
  type VideoQuality,
} from './delivery-plan.ts';
import { fitInto, type Size } from './ffmpeg-command.ts';
import { beginsLate, picturesEndEarly, silenceEnd } from './stream-spans.ts';
import type { VideoStream } from './streams.ts';

/** The heights that a site or a client may choose, in pixels of the shorter side of the picture. */
export const HEIGHTS = [2160, 1440, 1080, 720, 480, 360] as const;

/** A chosen height; `source` is the height of the source, whatever it is. */
type Height = number | 'source';

/** The qualities of a ladder. */
export interface LadderSettings {
  quality: VideoQuality;
  heights: readonly Height[];
}

/** The ladder of a workflow that chooses nothing. */
export const USUAL_LADDER: LadderSettings = { quality: USUAL_QUALITY, heights: ['source', 720, 360] };

/** One quality of a track: a picture of one size with its sound, or sound alone. */
export interface Rendition {
  /** The place in the ladder; 0 is the best. */
  rank: number;
  /** The shown size in pixels; undefined for sound alone. */
  size: Size | undefined;
  video: StreamPlan | undefined;
  audio: StreamPlan | undefined;
}

/** All renditions of a track, the best one first. Never empty. */
export interface Ladder {
  format: 'mp4' | 'ipod';
  mediatype: 'video/mp4' | 'audio/mp4';
  extension: 'mp4' | 'm4a';
  renditions: readonly Rendition[];
}

/** The bit rates of sound without pictures, in bits per second. */
const SOUND_RATES = [128_000, 64_000];
/** Two tracks of this bit rate, one with sound, play on a line of 1 Mbit/s without a pause, whatever they show. */
const SLOW_LINE = { height: 360, maxBitRate: 350_000 };
const LARGEST = { width: 3840, height: 3840 };

/**
 * Parses a list of heights such as `1080,720,source`.
 *
 * @returns undefined for any other text
 */
export function parseHeights(text: string): Height[] | undefined {
  const heights = text.split(',').map((word) => word.trim());
  const known = heights.map((word) => (word === 'source' ? word : HEIGHTS.find((height) => String(height) === word)));
  return known.every((height) => height !== undefined) ? known : undefined;
}

/**
 * Plans the renditions of a track: the chosen heights up to that of the source, and the source's if all are larger. The
 * rendition of the source's size is copied where browsers can play it.
 *
 * @param encodeAll encodes even streams that could be copied
 * @param cut keeps only parts, which are always encoded
 */
export function planLadder(
  info: Deliverable,
  { quality, heights }: LadderSettings,
  encodeAll = false,
  cut?: Cut,
): Ladder {
  const { video, audio, spans, duration } = info;
  const canCopy = !encodeAll && !cut && !picturesEndEarly(info);
  const how = { canCopy, demuxer: info.recording.demuxer, duration, cut };
  if (video) {
    // Players ignore that the sound of a stream begins later than the pictures. The encoder begins with silence.
    const treatment = { ...how, canCopy: canCopy && !beginsLate(spans?.audio), silenceEnd: silenceEnd(info) };
    const sound = audio && planSound(audio, treatment);
    const renditions = sizesOf(video, heights).map((size, rank) => ({
      ...{ rank, size },
      video: planVideo(video, quality, size, {
        ...how,
        canCopy: canCopy && rank === 0 && isWhole(video, size),
        maxBitRate: rank > 0 && shortOf(size) <= SLOW_LINE.height ? SLOW_LINE.maxBitRate : undefined,
      }),
      audio: sound,
    }));
    return { format: 'mp4', mediatype: 'video/mp4', extension: 'mp4', renditions };
  }
  const rates = SOUND_RATES.filter((rate, rank) => rank === 0 || (audio?.bitRate ?? Infinity) > rate * 1.25);
  const renditions = rates.map((bitRate, rank) => ({
    ...{ rank, size: undefined },
    video: undefined,
    audio: audio && planSound(audio, { ...how, canCopy: canCopy && rank === 0, bitRate }),
  }));
  return { format: 'ipod', mediatype: 'audio/mp4', extension: 'm4a', renditions };
}

/** Returns the sizes of the pictures, largest first, in the proportions of the source. */
function sizesOf(video: VideoStream, heights: readonly Height[]): Size[] {
  const whole = fitInto(video, LARGEST);
  const short = shortOf(whole);
  const chosen = new Set(heights.map((height) => (height === 'source' ? short : height)));
  const fitting = [...chosen].filter((height) => height <= short).sort((a, b) => b - a);
  return (fitting.length > 0 ? fitting : [short]).map((height) =>
    height === short ? whole : fitInto(video, boxOf(whole, height / short)),
  );
}

function shortOf({ width, height }: Size): number {
  return Math.min(width, height);
}

function boxOf({ width, height }: Size, factor: number): Size {
  return { width: Math.round(width * factor), height: Math.round(height * factor) };
}

function isWhole(video: VideoStream, { width, height }: Size): boolean {
  const whole = fitInto(video, LARGEST);
  return width === whole.width && height === whole.height;
}
