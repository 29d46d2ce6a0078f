import { html } from 'hono/html';
import { type AgentsAtWork, agentsAtWork } from '#capture/reports/at-work.queries.ts';
import { failedRecordings, uploadingRecordings } from '#capture/reports/failed.queries.ts';
import { timetable } from '#capture/schedules/timetable.queries.ts';
import { begunDrafts, PACKAGE_DOOR } from '#ingest/begun-drafts.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { addDays, type Day, dateOf } from './days.ts';
import { agentList } from './list.ts';
import { dateLong, knownZone, periodOfDays, todayIn } from './local.ts';
import type { AgentsPage, AgentsServices } from './model.ts';
import { dayPlan, legend, type Plan, type Setting } from './plan.ts';
import { type AgentsQuery, addressOf } from './query.ts';
import { failedSection, packagesSection, uploadingSection } from './troubles.ts';

/** More of them nobody reads. */
const MOST_AGENTS = 200;
const MOST_ROWS = 50;
/** Of one agent on one day. */
const MOST_BLOCKS = 50;

/** All capture agents, or those with a text in their names. */
export async function allPage(
  { database, config }: AgentsServices,
  { q: search = '', day: asked, refresh }: AgentsQuery,
  setting: Setting,
): Promise<AgentsPage> {
  const { recordingGraceMs: graceMs } = config.scheduling;
  const { now } = setting;
  const [all, failed, uploading, drafts] = await Promise.all([
    agentsAtWork(database, { search }, MOST_AGENTS),
    failedRecordings(database, { graceMs, most: MOST_ROWS }),
    uploadingRecordings(database, { most: MOST_ROWS }),
    begunDrafts(database, { door: PACKAGE_DOOR, most: MOST_ROWS }),
  ]);
  const zones = all.agents.map(({ timeZone }) => knownZone(timeZone));
  const day = asked ?? todayIn(mostFrequent(zones) ?? 'UTC', now);
  const others = { q: search, refresh };
  const plan = await planOf(database, all, day, setting);
  return {
    title: 'Capture agents',
    style: plan.style,
    content: html`<p>${summary(all, search)}</p>
<div class="tools">
<form role="search"><input type="search" name="q" value="${search}" maxlength="255" aria-label="Part of a name" placeholder="Part of a name">${asked === undefined ? '' : html`<input type="hidden" name="day" value="${dateOf(day)}">`}${refresh ? html`<input type="hidden" name="refresh" value="${refresh}">` : ''}<button>Search</button></form>
<nav aria-label="On this page"><a href="#failed">Failed${failed.length > 0 ? ` (${failed.length})` : ''}</a>${uploading.length > 0 ? html`<a href="#uploading">Uploads (${uploading.length})</a>` : ''}${drafts.length > 0 ? html`<a href="#packages">Packages (${drafts.length})</a>` : ''}<a href="#plan">Plan</a></nav>
</div>
${all.agents.length > 0 ? agentList(all.agents, now) : ''}
${failedSection(failed, now, MOST_ROWS)}
${uploadingSection(uploading, now)}
${packagesSection(drafts, now)}
<section aria-labelledby="plan"><div class="heading"><h2 id="plan">${dateLong(day)}</h2>
<nav aria-label="Other days"><a href="${addressOf({ ...others, day: dateOf(addDays(day, -1)) })}#plan">Day before</a><a href="${addressOf(others)}#plan">Today</a><a href="${addressOf({ ...others, day: dateOf(addDays(day, 1)) })}#plan">Day after</a></nav></div>
${plan.content}
${legend()}
<p>Each agent by the clock of its own time zone. Its name leads to its week.</p>
</section>`,
  };
}

async function planOf(
  database: AgentsServices['database'],
  { agents }: AgentsAtWork,
  day: Day,
  setting: Setting,
): Promise<Plan> {
  const rows = agents
    .map(({ id, timeZone }) => ({ id, timeZone: knownZone(timeZone) }))
    .sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const wanted = rows.map(({ id, timeZone }) => ({ agentId: id, ...periodOfDays(day, 1, timeZone) }));
  const found = Map.groupBy(await timetable(database, wanted, MOST_BLOCKS), ({ agentId }) => agentId);
  return dayPlan(
    { day, agents: rows.map((row) => ({ ...row, recordings: found.get(row.id) ?? [] })) },
    setting,
  );
}

function summary({ count, inTrouble, agents }: AgentsAtWork, search: string): Html | string {
  if (count === 0) {
    return search === ''
      ? 'No capture agent has reported yet, and nothing is scheduled on any.'
      : html`No capture agent has <bdi>${search}</bdi> in its name.`;
  }
  const those = count === 1 ? '1 capture agent' : `${count} capture agents`;
  const found = search === '' ? those : html`${those} with <bdi>${search}</bdi> in the name`;
  const needs = inTrouble === 1 ? '1 needs somebody' : `${inTrouble} need somebody`;
  const trouble = inTrouble === 0 ? 'none needs anybody' : html`<strong class="needs">${needs}</strong>`;
  return html`${found}, ${trouble}.${agents.length < count ? ` These are ${agents.length} of them, those in trouble first.` : ''}`;
}

function mostFrequent(names: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(names, (name) => name)];
  return groups.sort((a, b) => b[1].length - a[1].length)[0]?.[0];
}
