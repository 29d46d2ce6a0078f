import { html } from 'hono/html';
import type { AgentAtWork } from '#capture/reports/at-work.queries.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { age, titleOf } from '../frame/parts.ts';
import { knownZone, timesOf, todayIn } from './local.ts';
import { addressLink } from './parts.ts';
import { addressOf } from './query.ts';

const STATES: Readonly<Record<AgentAtWork['state'], string>> = {
  idle: 'idle',
  capturing: 'capturing',
  uploading: 'uploading',
  unknown: 'unknown',
  shutting_down: 'shutting down',
  error: 'error',
  offline: 'offline',
};
const TROUBLES = {
  'not begun': 'Should be recording, and nothing is heard of it.',
  lost: 'Was recording, and is silent since.',
};

/** Capture agents one under the other, with what each does now and next. */
export function agentList(agents: readonly AgentAtWork[], now: Date): Html {
  return html`<ul class="agents">
<li class="heads" aria-hidden="true"><span>Agent</span><span>State</span><span>Now</span><span>Next</span></li>
${agents.map(
  (
    agent,
  ) => html`<li>${cells(agent, now, html`<a href="${addressOf({ agent: agent.id })}"><bdi>${agent.id}</bdi></a>`)}</li>
`,
)}</ul>`;
}

/** The same of one agent alone, whose name stands elsewhere. */
export function agentCard(agent: AgentAtWork, now: Date): Html {
  return html`<div class="agents one"><div class="card">${cells(agent, now)}</div></div>`;
}

function cells(agent: AgentAtWork, now: Date, name?: Html): Html {
  const timeZone = knownZone(agent.timeZone);
  const today = todayIn(timeZone, now);
  return html`<div class="agent">${name ? html`<strong>${name}</strong>` : ''}<small>${timeZone}</small>${agent.url === '' ? '' : html`<small>${addressLink(agent.url)}</small>`}</div>
<div><span class="state ${agent.state}">${STATES[agent.state]}</span> <span>${age(agent.since, now)}</span>${lastSeen(agent, now)}${failures(agent)}</div>
<div class="work${agent.current ? '' : ' free'}"><span class="label">Now</span>${agent.current ? html`${work(agent.current)}${trouble(agent)}` : html`<span class="none">nothing</span>`}</div>
<div class="work${agent.next ? '' : ' free'}"><span class="label">Next</span>${agent.next ? work(agent.next) : html`<span class="none">nothing</span>`}</div>`;

  function work(period: NonNullable<AgentAtWork['next']>): Html {
    return html`<span class="title">${titleOf(period)}</span> <span class="times">${timesOf(period, timeZone, today)}</span>`;
  }
}

function lastSeen({ state, seenAt }: AgentAtWork, now: Date): Html {
  if (seenAt === null) return html`<small>never seen</small>`;
  return state === 'offline' ? html`` : html`<small>seen ${age(seenAt, now)} ago</small>`;
}

function failures({ failed }: AgentAtWork): Html {
  if (failed === 0) return html``;
  return html`<small class="alarm">${failed === 1 ? '1 recording failed' : `${failed} recordings failed`} lately</small>`;
}

function trouble({ current }: AgentAtWork): Html {
  return current?.trouble ? html`<strong class="alarm">${TROUBLES[current.trouble]}</strong>` : html``;
}
