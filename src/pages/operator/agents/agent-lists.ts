import { html } from 'hono/html';
import type { AgentActivity } from '#capture/reports/agent-activity.queries.ts';
import type { FailedRecording, RecordingOfAgent } from '#capture/reports/failed-recordings.queries.ts';
import type { UnfinishedDraft } from '#ingest/unfinished-drafts.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { sizeOf } from '../frame/format-units.ts';
import { age, titleOf } from '../frame/page-elements.ts';
import { addressOf } from './agents-query.ts';
import { knownZone, timesOf, todayIn } from './local-days.ts';

const TROUBLES = {
  'not begun': 'Should be recording, but has not reported it.',
  lost: 'Was recording, then went silent.',
};

/** A list of capture agents with their current and next recordings. */
export function agentList(agents: readonly AgentActivity[], now: Date): Html {
  return html`<ul class="agents">
<li class="heads" aria-hidden="true"><span>Agent</span><span>State</span><span>Now</span><span>Next</span></li>
${agents.map(
  (
    agent,
  ) => html`<li>${cells(agent, now, html`<a href="${addressOf({ agent: agent.id })}"><bdi>${agent.id}</bdi></a>`)}</li>
`,
)}</ul>`;
}

/** The same facts of one agent, without its name. */
export function agentCard(agent: AgentActivity, now: Date): Html {
  return html`<div class="agents one"><div class="card">${cells(agent, now)}</div></div>`;
}

function cells(agent: AgentActivity, now: Date, name?: Html): Html {
  const timeZone = knownZone(agent.timeZone);
  const today = todayIn(timeZone, now);
  return html`<div class="agent">${name ? html`<strong>${name}</strong>` : ''}<small>${timeZone}</small>${agent.url === '' ? '' : html`<small>${addressLink(agent.url)}</small>`}</div>
<div><span class="state ${agent.state}">${agent.state.replaceAll('_', ' ')}</span> <span>${age(agent.since, now)}</span>${lastSeen(agent, now)}${failures(agent)}</div>
<div class="work${agent.current ? '' : ' free'}"><span class="label">Now</span>${agent.current ? html`${work(agent.current)}${trouble(agent)}` : html`<span class="none">nothing</span>`}</div>
<div class="work${agent.next ? '' : ' free'}"><span class="label">Next</span>${agent.next ? work(agent.next) : html`<span class="none">nothing</span>`}</div>`;

  function work(period: NonNullable<AgentActivity['next']>): Html {
    return html`<span class="title">${titleOf(period)}</span> <span class="times">${timesOf(period, timeZone, today)}</span>`;
  }
}

function lastSeen({ state, seenAt }: AgentActivity, now: Date): Html {
  if (seenAt === null) return html`<small>never seen</small>`;
  return state === 'offline' ? html`` : html`<small>seen ${age(seenAt, now)} ago</small>`;
}

function failures({ failed }: AgentActivity): Html {
  if (failed === 0) return html``;
  return html`<small class="alarm">${failed === 1 ? '1 recording failed' : `${failed} recordings failed`} recently</small>`;
}

function trouble({ current }: AgentActivity): Html {
  return current?.trouble ? html`<strong class="alarm">${TROUBLES[current.trouble]}</strong>` : html``;
}

/** The failure and the advice, by recording state. */
const FAILURES: Readonly<Record<string, readonly [string, string]>> = {
  capture_error: ['The agent could not record it.', 'Check its inputs, its disk and its log.'],
  manifest_error: ['The agent could not package its files.', 'They may still be on the agent: check its log.'],
  compressing_error: ['The agent could not package its files.', 'They may still be on the agent: check its log.'],
  upload_error: [
    'The upload failed; the agent still has the files.',
    'It does not retry: start the upload on the agent.',
  ],
};
const MISSED = ['It was never uploaded or reported.', 'Check that the agent runs and reaches this server.'] as const;

/** Recordings that failed recently. @param most the largest number that was read */
export function failedSection(recordings: readonly FailedRecording[], now: Date, most: number): Html {
  return html`<section aria-labelledby="failed"><h2 id="failed">Failed recordings</h2>
${
  recordings.length === 0
    ? html`<p>None in the last seven days.</p>`
    : html`<p>In the last seven days, newest first.${recordings.length === most ? ` The newest ${most} are shown.` : ''}</p>
<ul class="rows">
${recordings.map((recording) => failedRow(recording, now))}</ul>`
}
</section>`;
}

function failedRow(recording: FailedRecording, now: Date): Html {
  const [failure, advice] = recording.isMissed ? MISSED : (FAILURES[recording.state] ?? MISSED);
  return html`<li>${recordingCell(recording)}
<div><strong class="alarm">${failure}</strong> ${advice}${recording.url === '' ? '' : html` <small>${addressLink(recording.url)}</small>`}</div>
<div>${age(recording.since, now)} ago</div></li>
`;
}

/** Recordings that agents report as uploading; empty without any. */
export function uploadingSection(recordings: readonly RecordingOfAgent[], now: Date): Html {
  if (recordings.length === 0) return html``;
  return html`<section aria-labelledby="uploading"><h2 id="uploading">Uploading</h2>
<p>As reported by the agents.</p>
<ul class="rows">
${recordings.map(
  (recording) => html`<li>${recordingCell(recording)}
<div>${recording.url === '' ? '' : html`<small>${addressLink(recording.url)}</small>`}</div>
<div>for ${age(recording.since, now)}</div></li>
`,
)}</ul>
</section>`;
}

/** Packages that are not part of an event; empty without any. */
export function packagesSection(drafts: readonly UnfinishedDraft[], now: Date): Html {
  if (drafts.length === 0) return html``;
  return html`<section aria-labelledby="packages"><h2 id="packages">Packages not yet ingested</h2>
<p>Packages in progress or abandoned.</p>
<ul class="rows">
${drafts.map(
  (draft) => html`<li><div><strong><bdi>${draft.owner}</bdi></strong><small><bdi>${draft.id}</bdi></small></div>
<div>${draft.elements === 1 ? '1 element' : `${draft.elements} elements`}, ${sizeOf(draft.bytes)}${draft.isLeft ? html` <strong class="alarm">Nothing received for an hour or more.</strong>` : ''}</div>
<div>started ${age(draft.createdAt, now)} ago<small>last change ${age(draft.changedAt, now)} ago</small></div></li>
`,
)}</ul>
</section>`;
}

function recordingCell(recording: RecordingOfAgent): Html {
  return html`<div><strong>${titleOf(recording)}</strong><small><a href="${addressOf({ agent: recording.agentId })}"><bdi>${recording.agentId}</bdi></a> <span class="times">${timesOf(recording, knownZone(recording.timeZone))}</span></small></div>`;
}

/** Links to the address that an agent reports, with its host as text. Only HTTP addresses become links. */
function addressLink(url: string): Html {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  return address?.protocol === 'http:' || address?.protocol === 'https:'
    ? html`<a href="${address.href}" rel="noreferrer"><bdi>${address.host}</bdi></a>`
    : html`<bdi>${url}</bdi>`;
}
