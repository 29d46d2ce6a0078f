import type { AudioStream, Report, VideoStream } from './streams.ts';

/** The time that a stream covers, in seconds after the start of its recording. */
export interface Span {
  /** 0 if unknown. */
  begin: number;
  /** Null if unknown. */
  end: number | null;
}

/** The times of the streams that a player would choose. */
export interface StreamSpans {
  video: Span;
  audio: Span;
}

/** The streams that a player would choose, and their times. */
interface Played {
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
  spans?: StreamSpans | undefined;
}

/** In seconds. Less is not noticed between pictures and sound. */
const LATE_SECONDS = 0.05;
/** In seconds. Players play as much of one stream behind the end of the other, whatever an index says. */
const EARLY_SECONDS = 2;
/** In seconds. Times that claim more are wrong, and making it would take minutes. */
const LONGEST_SILENCE = 4 * 3600;
const CLOCK = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/;

/** Returns the time of a stream as the header of its file gives it. */
export function spanOf({ format, streams }: Report, index: number | undefined): Span {
  const { start_time, duration, tags } = streams.find((stream) => stream.index === index) ?? {};
  const begin = Number(start_time) - Number(format?.start_time) || 0;
  const [, hours, minutes, seconds] = CLOCK.exec(tags?.DURATION ?? '') ?? [];
  // Matroska has tags instead.
  const end =
    duration === undefined ? Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) : begin + Number(duration);
  return { begin, end: Number.isFinite(end) ? end : null };
}

/** Returns true if a stream begins noticeably later than `from`, in seconds after the start of its recording. */
export function beginsLate(span: Span | undefined, from = 0): boolean {
  return span !== undefined && span.begin - from > LATE_SECONDS;
}

/** Returns true if the sound continues long after the last picture, as over a slide that stays. */
export function picturesEndEarly({ video, audio, spans }: Played): boolean {
  const [pictures = null, sound = null] = [spans?.video.end, spans?.audio.end];
  if (!video || !audio || pictures === null || sound === null) return false;
  return sound - pictures > EARLY_SECONDS;
}

/**
 * Returns when silence must end that continues the sound, in seconds: with the pictures, if they last much longer. Where
 * one of their tracks ends, players of streams stop. Undefined if the sound needs none.
 */
export function silenceEnd({ video, audio, spans }: Played): number | undefined {
  const pictures = spans?.video.end ?? 0;
  const sound = spans?.audio.end ?? pictures;
  const missing = pictures - sound;
  return video && audio && missing > EARLY_SECONDS && missing <= LONGEST_SILENCE ? pictures : undefined;
}
