import { html } from 'hono/html';
import { SILENT_SECONDS } from '#capture/reports/at-work.queries.ts';
import type { PlannedRecording } from '#capture/schedules/timetable.queries.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { titleOf } from '../frame/page-elements.ts';
import { addressOf } from './agents-query.ts';
import { addDays, clockOf, type Day, dateOf, dateShort, localTime, timesOf } from './local-days.ts';

const MINUTE = 60_000;
const MINUTES_OF_DAY = 1440;
/** Shorter recordings are drawn as long as this, to be visible. */
const SHORTEST = 15 * MINUTE;
/** Most that are drawn beside one another; more of them lie over the last one. */
const MOST_LANES = 4;

/** The place of a recording, or of its part on one day, in the plan of that day. In minutes after midnight. */
interface Block {
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
interface Hours {
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

/** States of a recording as the plan shows them, with their words. */
const LOOKS = {
  scheduled: 'scheduled',
  silent: 'nothing heard of it',
  recording: 'recording',
  ingesting: 'coming in',
  processing: 'being processed',
  published: 'published',
  done: 'processed, not published',
  failed: 'failed',
} as const;
type Look = keyof typeof LOOKS;

const BY_STATUS: Readonly<Record<string, Look>> = {
  RECORDING: 'recording',
  INGESTING: 'ingesting',
  PENDING: 'processing',
  PROCESSING: 'processing',
  PAUSED: 'processing',
  PROCESSING_FAILURE: 'failed',
  PROCESSING_CANCELLED: 'failed',
  RECORDING_FAILURE: 'failed',
};

function lookOf(
  { status, start, publicationId }: Pick<PlannedRecording, 'status' | 'start' | 'publicationId'>,
  now: Date,
): Look {
  if (status === 'SCHEDULED') {
    return now.getTime() - start.getTime() > SILENT_SECONDS * 1000 ? 'silent' : 'scheduled';
  }
  return BY_STATUS[status] ?? (publicationId === null ? 'done' : 'published');
}

/** A plan, and the rules by which its parts find their places: a page may give no element a style of its own. */
export interface Plan {
  content: Html;
  style: string;
}

/** With more hours than that, a ruler from left to right has no room for all of their names. */
const MOST_LABELS = 14;

/** Facts that both plans need. */
export interface Setting {
  now: Date;
  /** Returns the address of the page of a publication, relative to the page with the plan. */
  watchAddress(publicationId: string): string;
}

/** A week of one agent: days across, hours down. @param monday its first day */
export function weekPlan(
  { monday, timeZone, recordings }: { monday: Day; timeZone: string; recordings: readonly PlannedRecording[] },
  { now, watchAddress }: Setting,
): Plan {
  const days = Array.from({ length: 7 }, (_, i) => {
    const day = addDays(monday, i);
    return { day, minute: minuteOn(day, timeZone, now), blocks: blocksOf(recordings, day, timeZone) };
  });
  const hours = hoursOf(days.flatMap(({ blocks }) => blocks));
  const content = html`<div class="plan week">
${ruler(hours)}
${days.map(
  ({
    day,
    minute,
    blocks,
  }) => html`<section${minute === undefined ? '' : html` class="today"`}><h3><time datetime="${dateOf(day)}">${dateShort(day)}</time></h3>
${blockList(blocks, { timeZone, now, watchAddress, day })}${nowLine(minute, hours)}</section>
`,
)}</div>`;
  return { content, style: placesOf(days, hours) };
}

/** Recordings of one agent on a day. */
interface AgentDay {
  id: string;
  timeZone: string;
  recordings: readonly PlannedRecording[];
}

/** A day of several agents: agents down, hours across, each by the clock of its zone. */
export function dayPlan(
  { day, agents }: { day: Day; agents: readonly AgentDay[] },
  { now, watchAddress }: Setting,
): Plan {
  const rows = agents.map(({ id, timeZone, recordings }) => {
    const minute = minuteOn(day, timeZone, now);
    return { id, timeZone, minute, blocks: blocksOf(recordings, day, timeZone) };
  });
  const busy = rows.filter(({ blocks }) => blocks.length > 0);
  const free = rows.filter(({ blocks }) => blocks.length === 0);
  const hours = hoursOf(busy.flatMap(({ blocks }) => blocks));
  const link = (id: string) => html`<a href="${addressOf({ agent: id, week: dateOf(day) })}"><bdi>${id}</bdi></a>`;
  const content = html`${
    busy.length === 0
      ? ''
      : html`<div class="plan day">
${ruler(hours)}
${busy.map(
  ({ id, timeZone, minute, blocks }) => html`<section><h3>${link(id)}</h3>
${blockList(blocks, { timeZone, now, watchAddress, day })}${nowLine(minute, hours)}</section>
`,
)}</div>`
  }
${free.length === 0 ? '' : html`<p class="idle-agents">Nothing to record: ${free.map(({ id }, i) => html`${i === 0 ? '' : ', '}${link(id)}`)}.</p>`}`;
  return { content, style: placesOf(busy, hours) };
}

/** The key to the colours. */
export function legend(): Html {
  return html`<ul class="legend" aria-hidden="true">${Object.entries(LOOKS).map(([look, words]) => html`<li class="${look}">${words}</li>`)}</ul>`;
}

function blockList(
  blocks: readonly Block[],
  { timeZone, day, now, watchAddress }: Setting & { timeZone: string; day: Day },
): Html {
  if (blocks.length === 0) return html`<p class="none">Nothing to record.</p>`;
  return html`<ol>
${blocks.map(({ recording, from, length, lane, lanes }) => {
  const look = lookOf(recording, now);
  const times = timesOf(recording, timeZone, day);
  const inner = html`<span class="times">${times}</span> <span class="title">${titleOf(recording)}</span> <span class="look">${LOOKS[look]}</span>`;
  return html`<li class="block ${look} at-${from} for-${length}${lanes > 1 ? ` lane-${lane} of-${lanes}` : ''}" title="${`${recording.title || 'Untitled'}\n${times}\n${LOOKS[look]}`}">${
    recording.publicationId === null
      ? html`<div>${inner}</div>`
      : html`<a href="${watchAddress(recording.publicationId)}">${inner}</a>`
  }</li>
`;
})}</ol>`;
}

function ruler({ first, last }: Hours): Html {
  const hours = Array.from({ length: last - first }, (_, i) => first + i);
  const dense = hours.length > MOST_LABELS ? ' dense' : '';
  return html`<div class="ruler${dense}" aria-hidden="true">${hours.map((hour) => html`<span class="at-${hour * 60}">${clockOf(hour * 3_600_000)}</span>`)}</div>`;
}

/** Returns the present minute of a day, counted from midnight; undefined on another day. */
function minuteOn(day: Day, timeZone: string, now: Date): number | undefined {
  const minute = Math.floor((localTime(now, timeZone) - day) / 60_000);
  return minute >= 0 && minute < 1440 ? minute : undefined;
}

function nowLine(minute: number | undefined, { first, last }: Hours): Html {
  if (minute === undefined || minute < first * 60 || minute > last * 60) return html``;
  return html`<span class="now at-${minute}" aria-hidden="true"></span>`;
}

/** Rules for the classes `at-`, `for-`, `lane-` and `of-` that are used. */
function placesOf(
  lines: readonly { blocks: readonly Block[]; minute: number | undefined }[],
  { first, last }: Hours,
): string {
  const blocks = lines.flatMap((line) => line.blocks);
  const hours = Array.from({ length: last - first }, (_, i) => (first + i) * 60);
  const minutes = lines.flatMap(({ minute }) => (minute === undefined ? [] : [minute]));
  const rules = (name: string, values: readonly number[]) =>
    [...new Set(values)].map((value) => `.${name}-${value} { --${name}: ${value}; }`).join('\n');
  return `.plan { --first: ${first * 60}; --shown: ${(last - first) * 60}; }
${rules('at', [...hours, ...minutes, ...blocks.map(({ from }) => from)])}
${rules(
  'for',
  blocks.map(({ length }) => length),
)}
${rules(
  'lane',
  blocks.map(({ lane }) => lane),
)}
${rules(
  'of',
  blocks.map(({ lanes }) => lanes),
)}
`;
}
