import type { PlannedRecording } from '#capture/schedules/timetable.queries.ts';
import { addDays, type Day, localTime } from './local-days.ts';

const MINUTE = 60_000;
const MINUTES_OF_DAY = 1440;
/** Shorter recordings are drawn as long as this, to be visible. */
const SHORTEST = 15 * MINUTE;
/** Most that are drawn beside one another; more of them lie over the last one. */
const MOST_LANES = 4;

/** The place of a recording, or of its part on one day, in the plan of that day. In minutes after midnight. */
export interface Block {
  recording: PlannedRecording;
  from: number;
  length: number;
  /** Those that overlap stand beside one another: in which lane this one does, and how many there are. */
  lane: number;
  lanes: number;
}

/**
 * The recordings of an agent on a day, as the clocks of its zone show them. Where clocks are set back while it records,
 * a recording is drawn shorter than it is, or as the shortest there are.
 */
export function blocksOf(recordings: readonly PlannedRecording[], day: Day, timeZone: string): Block[] {
  const blocks = recordings.flatMap((recording) => {
    const start = localTime(recording.start, timeZone);
    const end = Math.max(localTime(recording.end, timeZone), start + SHORTEST);
    const from = Math.max(0, Math.floor((start - day) / MINUTE));
    const to = Math.min(MINUTES_OF_DAY, Math.ceil((end - day) / MINUTE));
    const isOnDay = start < addDays(day, 1) && localTime(recording.end, timeZone) > day;
    return isOnDay && to > from ? [{ recording, from, length: to - from, lane: 0, lanes: 1 }] : [];
  });
  return inLanes(blocks.sort((a, b) => a.from - b.from || b.length - a.length));
}

/** Gives those that overlap, directly or by others between them, lanes of their own. @param blocks by their beginning */
function inLanes(blocks: readonly Block[]): Block[] {
  const placed: Block[] = [];
  let together: Block[] = [];
  let ends: number[] = [];
  const finish = () => {
    for (const block of together) placed.push({ ...block, lanes: ends.length });
    [together, ends] = [[], []];
  };
  for (const block of blocks) {
    if (ends.every((end) => end <= block.from)) finish();
    const free = ends.findIndex((end) => end <= block.from);
    const lane = free >= 0 ? free : Math.min(ends.length, MOST_LANES - 1);
    ends[lane] = Math.max(ends[lane] ?? 0, block.from + block.length);
    together.push({ ...block, lane });
  }
  finish();
  return placed;
}

/** The hours that a plan shows of each day. */
export interface Hours {
  first: number;
  last: number;
}

/** The usual hours of a day, and those in which something stands. */
export function hoursOf(blocks: readonly Block[]): Hours {
  return {
    first: blocks.reduce((first, { from }) => Math.min(first, Math.floor(from / 60)), 8),
    last: blocks.reduce((last, { from, length }) => Math.max(last, Math.ceil((from + length) / 60)), 18),
  };
}
