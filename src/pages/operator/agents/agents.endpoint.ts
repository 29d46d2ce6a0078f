import type { Context } from 'hono';
import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { type AgentActivityList, listAgentActivity } from '#capture/reports/agent-activity.queries.ts';
import { failedRecordings, uploadingRecordings } from '#capture/reports/failed-recordings.queries.ts';
import { listPlannedRecordings } from '#capture/schedules/timetable.queries.ts';
import { listUnfinishedDrafts, PACKAGE_DOOR } from '#ingest/unfinished-drafts.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { publicationLinks } from '../../urls/relative-urls.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { MAX_SEARCH } from '../frame/search-text.ts';
import { agentCard, agentList, failedSection, packagesSection, uploadingSection } from './agent-lists.ts';
import { dayPlan, legend, type Plan, type PlanSetting, weekPlan } from './agent-plan.ts';
import { AgentsQuery, type AgentsServices, addressOf, REFRESH } from './agents-query.ts';
import { STYLE } from './agents-style.ts';
import {
  addDays,
  type Day,
  dateLong,
  dateOf,
  dateShort,
  knownZone,
  mondayOf,
  periodOfDays,
  todayIn,
  weekName,
} from './local-days.ts';

/** Shows operators the capture agents: states, failed recordings and schedules. */
export const operatorAgents = defineEndpoint({
  method: 'get',
  path: '/admin/agents',
  access: ADMINISTRATORS,
  query: AgentsQuery,
  handle: async ({ c, query }, services: AgentsServices) => {
    const asked = query();
    const setting = { now: new Date(), watchAddress: publicationLinks(c, services.addresses).watch };
    const { agent } = asked;
    const { title, content, style } =
      agent === undefined
        ? await allPage(services, asked, setting)
        : await agentPage(services, { ...asked, agent }, setting);
    const whole = html`${content}
<footer><nav aria-label="Further pages">${agent === undefined ? '' : html`<a href="${addressOf({})}">All agents</a> <a href="recordings?agent=${encodeURIComponent(agent)}">All recordings of this agent</a>`}${refreshLink(c)}</nav></footer>`;
    return operatorPage(c, {
      title: html`<bdi>${title}</bdi>`,
      name: title,
      content: whole,
      style: STYLE + style,
      current: 'admin/agents',
      refresh: asked.refresh,
    });
  },
});

/** Refreshing is off by default: it disturbs screen readers and typing. */
function refreshLink(c: Context): Html {
  const { refresh, ...others } = c.req.query();
  return refresh === undefined
    ? html`<a href="${addressOf({ ...others, refresh: REFRESH })}">Refresh this page every ${REFRESH} seconds</a>`
    : html`<a href="${addressOf(others)}">Stop refreshing this page every ${REFRESH} seconds</a>`;
}

const MOST_AGENTS = 200;
const MOST_ROWS = 50;
/** For each agent. */
const MOST_OF_DAY = 50;

/** The page of all capture agents, or of those with a text in their names. */
async function allPage(
  { database, config }: AgentsServices,
  { q: search = '', day: asked, refresh }: AgentsQuery,
  setting: PlanSetting,
) {
  const { recordingGraceMs: graceMs } = config.scheduling;
  const { now } = setting;
  const [all, failed, uploading, drafts] = await Promise.all([
    listAgentActivity(database, { search }, MOST_AGENTS),
    failedRecordings(database, { graceMs, most: MOST_ROWS }),
    uploadingRecordings(database, { most: MOST_ROWS }),
    listUnfinishedDrafts(database, { door: PACKAGE_DOOR, most: MOST_ROWS }),
  ]);
  const hasAgents = all.agents.length > 0;
  const zones = all.agents.map(({ timeZone }) => knownZone(timeZone));
  const day = asked ?? todayIn(mostFrequent(zones) ?? 'UTC', now);
  const others = { q: search, refresh };
  const plan = await planOf(database, all, day, setting);
  return {
    title: 'Agents',
    style: plan.style,
    content: html`<p>${summary(all, search)}</p>
<div class="tools">
<form role="search"><input type="search" name="q" value="${search}" maxlength="${MAX_SEARCH}" aria-label="Part of a name" placeholder="Part of a name">${asked === undefined ? '' : html`<input type="hidden" name="day" value="${dateOf(day)}">`}${refresh ? html`<input type="hidden" name="refresh" value="${refresh}">` : ''}<button>Search</button></form>
<nav aria-label="On this page"><a href="#failed">Failed${failed.length > 0 ? ` (${failed.length})` : ''}</a>${uploading.length > 0 ? html`<a href="#uploading">Uploads (${uploading.length})</a>` : ''}${drafts.length > 0 ? html`<a href="#packages">Packages (${drafts.length})</a>` : ''}${hasAgents ? html`<a href="#plan">Plan</a>` : ''}</nav>
</div>
${hasAgents ? agentList(all.agents, now) : ''}
${failedSection(failed, now, MOST_ROWS)}
${uploadingSection(uploading, now)}
${packagesSection(drafts, now)}
${
  hasAgents
    ? html`<section aria-labelledby="plan"><div class="heading"><h2 id="plan">${dateLong(day)}</h2>
<nav aria-label="Other days"><a href="${addressOf({ ...others, day: dateOf(addDays(day, -1)) })}#plan">Previous day</a><a href="${addressOf(others)}#plan">Today</a><a href="${addressOf({ ...others, day: dateOf(addDays(day, 1)) })}#plan">Next day</a></nav></div>
${plan.content}
${legend()}
<p>Times are local to each agent. Select an agent to see its week.</p>
</section>`
    : ''
}`,
  };
}

async function planOf(
  database: AgentsServices['database'],
  { agents }: AgentActivityList,
  day: Day,
  setting: PlanSetting,
): Promise<Plan> {
  const rows = agents
    .map(({ id, timeZone }) => ({ id, timeZone: knownZone(timeZone) }))
    .sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  const wanted = rows.map(({ id, timeZone }) => ({ agentId: id, ...periodOfDays(day, 1, timeZone) }));
  const found = Map.groupBy(await listPlannedRecordings(database, wanted, MOST_OF_DAY), ({ agentId }) => agentId);
  const planned = rows.map((row) => ({ ...row, recordings: found.get(row.id) ?? [] }));
  return dayPlan(day, planned, setting);
}

function summary({ count, inTrouble, agents }: AgentActivityList, search: string): Html | string {
  if (count === 0) {
    return search === ''
      ? 'No capture agent has reported, and nothing is scheduled.'
      : html`No capture agent has <bdi>${search}</bdi> in its name.`;
  }
  const those = count === 1 ? '1 capture agent' : `${count} capture agents`;
  const found = search === '' ? those : html`${those} with <bdi>${search}</bdi> in the name`;
  const needs = inTrouble === 1 ? '1 needs attention' : `${inTrouble} need attention`;
  const trouble = inTrouble === 0 ? 'none needs attention' : html`<strong class="needs">${needs}</strong>`;
  return html`${found}, ${trouble}.${agents.length < count ? ` ${agents.length} are shown, those that need attention first.` : ''}`;
}

function mostFrequent(names: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(names, (name) => name)];
  return groups.sort((a, b) => b[1].length - a[1].length)[0]?.[0];
}

const MOST_OF_WEEK = 500;

/** The page of one capture agent and its week. @throws {HttpError} 404 for an unknown agent */
async function agentPage(
  { database, config }: AgentsServices,
  { agent: id, week, refresh }: AgentsQuery & { agent: string },
  setting: PlanSetting,
) {
  const { now } = setting;
  const [agent] = (await listAgentActivity(database, { id }, 1)).agents;
  if (!agent) throw notFound(`Capture agent '${id}' does not exist.`);
  const timeZone = knownZone(agent.timeZone);
  const monday = week ?? mondayOf(todayIn(timeZone, now));
  const { recordingGraceMs: graceMs } = config.scheduling;
  const [recordings, failed, uploading] = await Promise.all([
    listPlannedRecordings(database, [{ agentId: id, ...periodOfDays(monday, 7, timeZone) }], MOST_OF_WEEK),
    failedRecordings(database, { agentId: id, graceMs, most: MOST_ROWS }),
    uploadingRecordings(database, { agentId: id, most: MOST_ROWS }),
  ]);
  const plan = weekPlan({ monday, timeZone, recordings }, setting);
  const other = (weeks: number) => addressOf({ agent: id, week: weekName(addDays(monday, 7 * weeks)), refresh });
  return {
    title: id,
    style: plan.style,
    content: html`<p>Capture agent in the time zone ${timeZone}. All times are local.</p>
${agentCard(agent, now)}
<section aria-labelledby="plan"><div class="heading"><h2 id="plan">Week ${weekName(monday).slice(6)} of ${weekName(monday).slice(0, 4)}, ${dateShort(monday)} to ${dateShort(addDays(monday, 6))}</h2>
<nav aria-label="Other weeks"><a href="${other(-1)}#plan">Previous week</a><a href="${addressOf({ agent: id, refresh })}#plan">This week</a><a href="${other(1)}#plan">Next week</a></nav></div>
${plan.content}
${legend()}
${recordings.length === MOST_OF_WEEK ? html`<p>The first ${MOST_OF_WEEK} recordings of this week are shown.</p>` : ''}
</section>
${failedSection(failed, now, MOST_ROWS)}
${uploadingSection(uploading, now)}`,
  };
}
