import { html } from 'hono/html';
import { SILENT_SECONDS } from '#capture/reports/agent-activity.queries.ts';
import type { PlannedRecording } from '#capture/schedules/timetable.queries.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { titleOf } from '../frame/page-elements.ts';
import { addressOf } from './agents-query.ts';
import { addDays, clockOf, type Day, dateOf, dateShort, localTime, timesOf } from './local-days.ts';

const MINUTE = 60_000;
const MINUTES_OF_DAY = 1440;
/** Shorter recordings are drawn with this length, to be visible. */
const SHORTEST = 15 * MINUTE;
/** Further recordings that overlap are drawn over the last lane. */
const MOST_LANES = 4;

/** The place of a recording in the plan of one day, in minutes after midnight. */
interface Block {
  recording: PlannedRecording;
  from: number;
  length: number;
  /** Recordings that overlap are drawn side by side: the lane of this one, and their number. */
  lane: number;
  lanes: number;
}

/**
 * Returns the recordings of an agent on a day, in its local time. A recording during which clocks are set back is drawn
 * too short.
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
  return assignLanes(blocks.sort((a, b) => a.from - b.from || b.length - a.length));
}

/** Puts blocks that overlap into separate lanes. @param blocks sorted by start */
function assignLanes(blocks: readonly Block[]): Block[] {
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

/** The hours of a day that a plan shows. */
interface Hours {
  first: number;
  last: number;
}

/** Returns the hours from 8 to 18, and earlier and later hours with recordings. */
export function hoursOf(blocks: readonly Block[]): Hours {
  return {
    first: blocks.reduce((first, { from }) => Math.min(first, Math.floor(from / 60)), 8),
    last: blocks.reduce((last, { from, length }) => Math.max(last, Math.ceil((from + length) / 60)), 18),
  };
}

/** The texts of the states that the plan shows. */
const LOOKS = {
  scheduled: 'scheduled',
  silent: 'not reported',
  recording: 'recording',
  ingesting: 'uploading',
  processing: 'processing',
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

function lookOf({ status, start, publicationId }: PlannedRecording, now: Date): Look {
  if (status === 'SCHEDULED') {
    return now.getTime() - start.getTime() > SILENT_SECONDS * 1000 ? 'silent' : 'scheduled';
  }
  return BY_STATUS[status] ?? (publicationId === null ? 'done' : 'published');
}

/** A plan, and the CSS rules that place its parts: the policy of the page forbids `style` attributes. */
export interface Plan {
  content: Html;
  style: string;
}

/** With more hours, a horizontal ruler shows every second label. */
const MOST_LABELS = 14;

/** The time, and the URLs of publications relative to the page. */
export interface PlanSetting {
  now: Date;
  watchAddress(publicationId: string): string;
}

/** The recordings of an agent on a day. */
interface AgentDay {
  day: Day;
  timeZone: string;
  blocks: readonly Block[];
  /** The minutes since midnight; undefined if today is another day. */
  minute: number | undefined;
}

function agentDayOf(day: Day, timeZone: string, recordings: readonly PlannedRecording[], now: Date): AgentDay {
  const minute = Math.floor((localTime(now, timeZone) - day) / MINUTE);
  const isToday = minute >= 0 && minute < MINUTES_OF_DAY;
  return { day, timeZone, blocks: blocksOf(recordings, day, timeZone), minute: isToday ? minute : undefined };
}

/** The week of one agent: a column for each day. */
export function weekPlan(
  { monday, timeZone, recordings }: { monday: Day; timeZone: string; recordings: readonly PlannedRecording[] },
  setting: PlanSetting,
): Plan {
  const days = Array.from({ length: 7 }, (_, i) => agentDayOf(addDays(monday, i), timeZone, recordings, setting.now));
  const hours = hoursOf(days.flatMap(({ blocks }) => blocks));
  const content = html`<div class="plan week">
${ruler(hours)}
${days.map(
  (
    agentDay,
  ) => html`<section${agentDay.minute === undefined ? '' : html` class="today"`}><h3><time datetime="${dateOf(agentDay.day)}">${dateShort(agentDay.day)}</time></h3>
${agentDayHtml(agentDay, hours, setting)}</section>
`,
)}</div>`;
  return { content, style: placesOf(days, hours) };
}

/** The day of several agents: a row for each agent, in its local time. */
export function dayPlan(
  day: Day,
  agents: readonly { id: string; timeZone: string; recordings: readonly PlannedRecording[] }[],
  setting: PlanSetting,
): Plan {
  const rows = agents.map(({ id, timeZone, recordings }) => ({
    link: html`<a href="${addressOf({ agent: id, week: dateOf(day) })}"><bdi>${id}</bdi></a>`,
    agentDay: agentDayOf(day, timeZone, recordings, setting.now),
  }));
  const busy = rows.filter(({ agentDay }) => agentDay.blocks.length > 0);
  const free = rows.filter(({ agentDay }) => agentDay.blocks.length === 0);
  const hours = hoursOf(busy.flatMap(({ agentDay }) => agentDay.blocks));
  const content = html`${
    busy.length === 0
      ? ''
      : html`<div class="plan day">
${ruler(hours)}
${busy.map(
  ({ link, agentDay }) => html`<section><h3>${link}</h3>
${agentDayHtml(agentDay, hours, setting)}</section>
`,
)}</div>`
  }
${free.length === 0 ? '' : html`<p class="idle-agents">Nothing scheduled: ${free.map(({ link }, i) => html`${i === 0 ? '' : ', '}${link}`)}.</p>`}`;
  const days = busy.map(({ agentDay }) => agentDay);
  return { content, style: placesOf(days, hours) };
}

/** The legend of the colours. */
export function legend(): Html {
  return html`<ul class="legend" aria-hidden="true">${Object.entries(LOOKS).map(([look, words]) => html`<li class="${look}">${words}</li>`)}</ul>`;
}

/** The recordings of an agent on a day, and a mark at the time now. */
function agentDayHtml({ blocks, timeZone, day, minute }: AgentDay, { first, last }: Hours, setting: PlanSetting): Html {
  const isNowShown = minute !== undefined && minute >= first * 60 && minute <= last * 60;
  return html`${
    blocks.length === 0
      ? html`<p class="none">Nothing scheduled.</p>`
      : html`<ol>
${blocks.map((block) => blockHtml(block, timesOf(block.recording, timeZone, day), setting))}</ol>`
  }${isNowShown ? html`<span class="now at-${minute}" aria-hidden="true"></span>` : ''}`;
}

function blockHtml({ recording, from, length, lane, lanes }: Block, times: string, setting: PlanSetting): Html {
  const { publicationId, title } = recording;
  const look = lookOf(recording, setting.now);
  const inner = html`<span class="times">${times}</span> <span class="title">${titleOf(recording)}</span> <span class="look">${LOOKS[look]}</span>`;
  return html`<li class="block ${look} at-${from} for-${length}${lanes > 1 ? ` lane-${lane} of-${lanes}` : ''}" title="${`${title || 'Untitled'}\n${times}\n${LOOKS[look]}`}">${
    publicationId === null
      ? html`<div>${inner}</div>`
      : html`<a href="${setting.watchAddress(publicationId)}">${inner}</a>`
  }</li>
`;
}

function ruler({ first, last }: Hours): Html {
  const hours = Array.from({ length: last - first }, (_, i) => first + i);
  const dense = hours.length > MOST_LABELS ? ' dense' : '';
  return html`<div class="ruler${dense}" aria-hidden="true">${hours.map((hour) => html`<span class="at-${hour * 60}">${clockOf(hour * 3_600_000)}</span>`)}</div>`;
}

/** Returns rules for the classes `at-`, `for-`, `lane-` and `of-` in use. */
function placesOf(days: readonly AgentDay[], { first, last }: Hours): string {
  const places = new Set<string>();
  const add = (name: string, value: number) => places.add(`.${name}-${value} { --${name}: ${value}; }`);
  for (let hour = first; hour < last; hour += 1) add('at', hour * 60);
  for (const { blocks, minute } of days) {
    if (minute !== undefined) add('at', minute);
    for (const { from, length, lane, lanes } of blocks) {
      add('at', from);
      add('for', length);
      add('lane', lane);
      add('of', lanes);
    }
  }
  return `.plan { --first: ${first * 60}; --shown: ${(last - first) * 60}; }
${[...places].join('\n')}
`;
}
