import { deliveryRate } from '../delivery-plan.ts';
import { isCopied } from '../encode-delivery.ts';
import { type Ladder, type LadderSettings, planLadder } from '../ladder.ts';
import type { MediaInfo } from '../probe.ts';
import { picturesEndEarly } from '../stream-spans.ts';
import { type Inspected, workOf } from '../workload.ts';

/** The renditions to encode of a recording. */
export interface PictureWork {
  source: MediaInfo;
  settings: LadderSettings;
  /** True if no stream can be copied. */
  encodeAll: boolean;
  /** True if the best rendition is a copy, made before. */
  hasCopy: boolean;
}

/**
 * A stretch of a recording that is encoded alone. Its borders lie on the grid of times that the encoder uses: the
 * number of a picture at the frame rate of the result. Null is the beginning or the end of the recording.
 */
export interface Stretch {
  from: number | null;
  to: number | null;
}

/** The stretches of a recording, or the reason why it is encoded in one go, as a clause for people. */
export type PiecePlan = { stretches: readonly Stretch[] } | { whole: string };

/** Limits other than the usual ones, for short recordings in tests. */
export interface PieceLimits {
  /** The length of a piece, unless there would be too many. */
  seconds?: number;
  /** The least work that is divided, in pixels. */
  leastWork?: number;
}

/** In seconds. Multiples of the distance of key frames and of the length of segments. Longer pieces are multiples of them. */
const PIECE_SECONDS = 60;
/** For recordings of more than an hour, whose pieces would be too many. */
const LONG_PIECE_SECONDS = 120;
const LONG_SECONDS = 3600;
const MOST_PIECES = 500;
/** A last piece may be longer by this share of a piece. */
const LAST_SHARE = 0.5;
/** In pixels: about a minute on one core. Less work is not worth a second claim. */
const LEAST_WORK = 4e9;
/** So few that each has some seconds of work, even if the pictures of a recording are hours apart. */
const PIECES_OF_LEAST_WORK = 20;
/** Containers in which a seek always finds the key frame before a time. */
const SEEKABLE = ['mov', 'matroska'];
const NO_INDEX = 'its container has no index';
/** In seconds. Tools know times to a millionth; a border must lie between two packets of sound. */
const FINEST_TICK = 4e-6;

/** Returns why a recording is never divided, as far as its inspection tells; undefined if it may be. */
export function whyIndivisible({ recording, cut }: Pick<Inspected, 'recording' | 'cut'>): string | undefined {
  if (cut) return 'parts of it are cut out';
  return SEEKABLE.includes(recording.demuxer) ? undefined : NO_INDEX;
}

/** Returns the renditions that are not copied. */
export function encodedLadder({ source, settings, encodeAll, hasCopy }: PictureWork): Ladder {
  const ladder = planLadder(source, settings, encodeAll);
  return { ...ladder, renditions: ladder.renditions.slice(hasCopy ? 1 : 0) };
}

/**
 * Divides a recording into stretches of about a minute, if that is possible without a visible joint and worth it. They
 * are longer if there would be too many.
 */
export function planPieces(work: PictureWork, { seconds, leastWork = LEAST_WORK }: PieceLimits = {}): PiecePlan {
  const { source } = work;
  const { video, audio, soundTick, indexed, duration } = source;
  const indivisible = whyIndivisible(source);
  const { renditions } = encodedLadder(work);
  if (indivisible) return { whole: indivisible };
  if (!video) return { whole: 'it has no pictures' };
  if (renditions.length === 0) return { whole: 'nothing is encoded' };
  if (renditions.some(isCopied)) return { whole: 'its best rendition is copied' };
  if (!indexed) return { whole: NO_INDEX };
  if (picturesEndEarly(source)) return { whole: 'its pictures end before its sound' };
  if (audio && (soundTick === null || soundTick < FINEST_TICK)) return { whole: 'the times of its sound are too fine' };
  const pixels = workOf(renditions, source);
  const total = duration / 1000;
  const usual = seconds ?? (total > LONG_SECONDS ? LONG_PIECE_SECONDS : PIECE_SECONDS);
  const most = Math.min(MOST_PIECES, (pixels / leastWork) * PIECES_OF_LEAST_WORK);
  const length = usual * Math.max(1, Math.ceil(total / most / usual));
  const count = Math.floor(total / length + LAST_SHARE);
  if (count < 2 || pixels < leastWork) return { whole: 'it is short' };
  const rate = deliveryRate(video);
  const borders = Array.from({ length: count - 1 }, (_, i) => Math.round((i + 1) * length * rate));
  const edges = [null, ...borders, null];
  return { stretches: edges.slice(1).map((to, i) => ({ from: edges[i] ?? null, to })) };
}
