import type { Deliverable } from './delivery-plan.ts';
import { planLadder, type Rendition, USUAL_LADDER } from './ladder.ts';
import type { VideoStream } from './streams.ts';
import { MediaFailure } from './tools/media-failure.ts';

/** The facts of an inspected recording that determine the work. */
export interface Inspected extends Deliverable {
  /** Bytes. */
  size: number;
  /** True if only parts are kept, so that no stream can be copied. */
  cut?: boolean;
}

/** The work of a second of sound, in pixels. */
const PIXELS_A_SECOND_OF_SOUND = 1_000_000;
/** The least an encoder needs to say that a picture equals the one before. */
const SMALLEST_FRAME_BYTES = 8;
const USUAL_RATE = 25;
/** Four hours of 1080p at 30 frames a second, or one of 4K: about two hours on two cores. */
const LONG_PIXELS = 1e12;
/** Ordinary recordings have some hundred pixels per byte; still screens have some thousand. */
const PLAUSIBLE_PIXELS_A_BYTE = 10_000;
/** Below this, plausibility does not matter: about five minutes on two cores. */
const SHORT_PIXELS = 5e10;
/** The slowest useful speed: 1080p at one frame a second. */
const SLOWEST_PIXELS_A_SECOND = 2_000_000;
const SHORTEST_LIMIT_MS = 15 * 60_000;
/** Gaps are filled with silence, so the times of a file alone could ask for any amount of work. */
const LONGEST_HOURS = 7 * 24;

/**
 * Returns the work of encoding a recording, in pixels to decode and encode. Copied streams cost nothing.
 *
 * @param encodeAll assumes that no stream is copied
 */
export function encodingWork(inspected: Inspected, encodeAll = false): number {
  return workOf(planLadder(inspected, USUAL_LADDER, encodeAll || inspected.cut).renditions, inspected);
}

/** Returns the work of making renditions, in pixels. */
export function workOf(renditions: readonly Rendition[], inspected: Inspected): number {
  return renditions.reduce((sum, rendition) => sum + renditionWork(rendition, inspected), 0);
}

function renditionWork({ size, video, audio }: Rendition, inspected: Inspected): number {
  const sound = audio && !audio.copy ? (inspected.duration / 1000) * PIXELS_A_SECOND_OF_SOUND : 0;
  const pictures =
    video && !video.copy && inspected.video && size
      ? framesOf(inspected.video, inspected) * size.width * size.height
      : 0;
  return sound + pictures;
}

function framesOf(video: VideoStream, { duration, size }: Inspected): number {
  const declared = (duration / 1000) * (video.frameRate ?? video.peakFrameRate ?? USUAL_RATE);
  return Math.ceil(Math.min(video.frameCount ?? declared, size / SMALLEST_FRAME_BYTES));
}

/**
 * Returns true if other recordings should not wait for this one: it is long and large, or its few bytes ask for
 * implausibly much work.
 */
export function isLongWork(inspected: Inspected): boolean {
  const work = encodingWork(inspected);
  return work > LONG_PIXELS || (work > SHORT_PIXELS && work > inspected.size * PLAUSIBLE_PIXELS_A_BYTE);
}

/** Rejects a duration that no recording has. @throws {MediaFailure} permanent */
export function assertPlausible({ duration }: Pick<Inspected, 'duration'>): void {
  const hours = Math.round(duration / 3_600_000);
  if (hours <= LONGEST_HOURS) return;
  const message = `The file claims to last ${hours} hours; at most ${LONGEST_HOURS} hours are allowed.`;
  throw new MediaFailure(message, { permanent: true });
}

/**
 * Returns the time limit for encoding, in milliseconds: the duration, plus the work on a very slow machine as if every
 * stream were encoded, because copying may turn out to be impossible.
 */
export function encodingLimit(inspected: Inspected): number {
  const work = encodingWork(inspected, true) / SLOWEST_PIXELS_A_SECOND;
  return Math.round(SHORTEST_LIMIT_MS + inspected.duration + work * 1000);
}
