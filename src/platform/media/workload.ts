import { type Deliverable, planDelivery } from './delivery-plan.ts';
import type { VideoStream } from './streams.ts';
import { MediaFailure } from './tools/failure.ts';

/** What of an inspected recording tells how much work it is. */
export interface Inspected extends Deliverable {
  /** Milliseconds. */
  duration: number;
  /** Bytes. */
  size: number;
  /** Whether parts of it are kept, so that nothing can be taken over. */
  cut?: boolean;
}

/** A second of sound is about as much work as so many pixels of moving pictures. */
const PIXELS_A_SECOND_OF_SOUND = 1_000_000;
/** An encoder needs that much to say that a picture is like the one before. */
const SMALLEST_FRAME_BYTES = 8;
const USUAL_RATE = 25;
/** Four hours in 1080p with 30 frames a second, or one in 4K: about two hours of two cores. */
const LONG_PIXELS = 1e12;
/** Ordinary recordings have a byte for some hundred pixels, screens on which nothing moves for some thousand. */
const PLAUSIBLE_PIXELS_A_BYTE = 10_000;
/** Up to here nobody looks at how plausible it is: about five minutes of two cores. */
const SHORT_PIXELS = 5e10;
/** What is slower than this does not get anywhere: 1080p at one frame a second. */
const SLOWEST_PIXELS_A_SECOND = 2_000_000;
const SHORTEST_LIMIT_MS = 15 * 60_000;
/** Where sound is missing silence is filled in, so its times alone can ask for any amount of it. */
const LONGEST_HOURS = 7 * 24;

/**
 * The work of making a recording playable, in pixels to be decoded and encoded; what is taken over is none.
 *
 * @param anew when nothing is taken over
 */
export function encodingWork(inspected: Inspected, anew = false): number {
  const { video, audio } = planDelivery(inspected, undefined, anew || inspected.cut);
  const sound = audio && !audio.copy ? (inspected.duration / 1000) * PIXELS_A_SECOND_OF_SOUND : 0;
  const pictures = video && !video.copy && inspected.video ? pixelsOf(inspected.video, inspected) : 0;
  return sound + pictures;
}

function pixelsOf(video: VideoStream, { duration, size }: Inspected): number {
  const declared = (duration / 1000) * (video.frameRate ?? video.peakFrameRate ?? USUAL_RATE);
  const frames = Math.min(video.frameCount ?? declared, size / SMALLEST_FRAME_BYTES);
  return Math.ceil(frames) * video.width * video.height;
}

/**
 * Whether a recording is so much work that others should not have to wait for it: for its length and size, or since so
 * few bytes should not be so much work.
 */
export function isLongWork(inspected: Inspected): boolean {
  const work = encodingWork(inspected);
  return work > LONG_PIXELS || (work > SHORT_PIXELS && work > inspected.size * PLAUSIBLE_PIXELS_A_BYTE);
}

/** @throws {MediaFailure} permanent, for a duration that no recording has */
export function assertPlausible({ duration }: Pick<Inspected, 'duration'>): void {
  const hours = Math.round(duration / 3_600_000);
  if (hours <= LONGEST_HOURS) return;
  throw new MediaFailure(`The file says that it lasts ${hours} hours; ${LONGEST_HOURS} hours are allowed.`, {
    permanent: true,
  });
}

/**
 * How long making it playable may take, in milliseconds: its work on a very slow machine, were all of it encoded, as it is
 * when it cannot be taken over after all; and its duration.
 */
export function encodingLimit(inspected: Inspected): number {
  const work = encodingWork(inspected, true) / SLOWEST_PIXELS_A_SECOND;
  return Math.round(SHORTEST_LIMIT_MS + inspected.duration + work * 1000);
}
