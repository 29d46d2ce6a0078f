import { html } from 'hono/html';
import { agentsAtWork } from '#capture/reports/at-work.queries.ts';
import { failedRecordings, uploadingRecordings } from '#capture/reports/failed.queries.ts';
import { timetable } from '#capture/schedules/timetable.queries.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { addDays, mondayOf, weekName } from './days.ts';
import { agentCard } from './list.ts';
import { dateShort, knownZone, periodOfDays, todayIn } from './local.ts';
import type { AgentsPage, AgentsServices } from './model.ts';
import { legend, type Setting, weekPlan } from './plan.ts';
import { type AgentsQuery, addressOf } from './query.ts';
import { failedSection, uploadingSection } from './troubles.ts';

const MOST_ROWS = 50;
/** Of one week. */
const MOST_BLOCKS = 500;

/** One capture agent and its week. @throws {HttpError} 404 for one that is not known */
export async function agentPage(
  { database, config }: AgentsServices,
  { agent: id, week, refresh }: AgentsQuery & { agent: string },
  setting: Setting,
): Promise<AgentsPage> {
  const { now } = setting;
  const {
    agents: [agent],
  } = await agentsAtWork(database, { id }, 1);
  if (!agent) throw notFound(`There is no capture agent '${id}'.`);
  const timeZone = knownZone(agent.timeZone);
  const monday = week ?? mondayOf(todayIn(timeZone, now));
  const { recordingGraceMs: graceMs } = config.scheduling;
  const [recordings, failed, uploading] = await Promise.all([
    timetable(database, [{ agentId: id, ...periodOfDays(monday, 7, timeZone) }], MOST_BLOCKS),
    failedRecordings(database, { agentId: id, graceMs, most: MOST_ROWS }),
    uploadingRecordings(database, { agentId: id, most: MOST_ROWS }),
  ]);
  const plan = weekPlan({ monday, timeZone, recordings }, setting);
  const other = (weeks: number) =>
    addressOf({ agent: id, week: weekName(addDays(monday, 7 * weeks)), refresh });
  return {
    title: id,
    style: plan.style,
    content: html`<p>Capture agent. Times are those of its time zone, ${timeZone}.</p>
${agentCard(agent, now)}
<section aria-labelledby="plan"><div class="heading"><h2 id="plan">Week ${weekName(monday).slice(6)} of ${weekName(monday).slice(0, 4)}, ${dateShort(monday)} to ${dateShort(addDays(monday, 6))}</h2>
<nav aria-label="Other weeks"><a href="${other(-1)}#plan">Week before</a><a href="${addressOf({ agent: id, refresh })}#plan">This week</a><a href="${other(1)}#plan">Week after</a></nav></div>
${plan.content}
${legend()}
${recordings.length === MOST_BLOCKS ? html`<p>There are more recordings than these ${MOST_BLOCKS} in this week.</p>` : ''}
</section>
${failedSection(failed, now, MOST_ROWS)}
${uploadingSection(uploading, now)}`,
  };
}
