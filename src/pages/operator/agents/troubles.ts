import { html } from 'hono/html';
import type { FailedRecording, RecordingOfAgent } from '#capture/reports/failed.queries.ts';
import type { BegunDraft } from '#ingest/begun-drafts.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { age, titleOf } from '../frame/parts.ts';
import { sizeOf } from '../frame/words.ts';
import { knownZone, timesOf } from './local.ts';
import { addressLink } from './parts.ts';
import { addressOf } from './query.ts';

/** What happened, and what somebody can do about it. */
const FAILURES: Readonly<Record<string, readonly [string, string]>> = {
  capture_error: ['The agent could not record it.', 'Look at its inputs, its disk and its log.'],
  manifest_error: [
    'The agent could not put its files together.',
    'They may still be there: look at its log.',
  ],
  compressing_error: [
    'The agent could not put its files together.',
    'They may still be there: look at its log.',
  ],
  upload_error: [
    'The upload failed, and the agent has the files still.',
    'It does not try again by itself: start the upload there.',
  ],
};
const MISSED = [
  'Nothing ever came of it, and nothing was heard.',
  'Look whether the agent runs and reaches this server.',
] as const;

/** Recordings that failed lately. @param most how many of them are looked up */
export function failedSection(recordings: readonly FailedRecording[], now: Date, most: number): Html {
  return html`<section aria-labelledby="failed"><h2 id="failed">Recordings that failed</h2>
${
  recordings.length === 0
    ? html`<p>None within the last seven days.</p>`
    : html`<p>Within the last seven days, the last one first.${recordings.length === most ? ` These are the last ${most}.` : ''}</p>
<ul class="rows">
${recordings.map((recording) => failedRow(recording, now))}</ul>`
}
</section>`;
}

function failedRow(recording: FailedRecording, now: Date): Html {
  const [what, advice] = recording.isMissed ? MISSED : (FAILURES[recording.state] ?? MISSED);
  return html`<li>${recordingCell(recording)}
<div><strong class="alarm">${what}</strong> ${advice}${recording.url === '' ? '' : html` <small>${addressLink(recording.url)}</small>`}</div>
<div>${age(recording.since, now)} ago</div></li>
`;
}

/** Recordings that agents say they are uploading; nothing when there is none. */
export function uploadingSection(recordings: readonly RecordingOfAgent[], now: Date): Html {
  if (recordings.length === 0) return html``;
  return html`<section aria-labelledby="uploading"><h2 id="uploading">Being uploaded</h2>
<p>As their agents say. How much of each has come stands with the packages.</p>
<ul class="rows">
${recordings.map(
  (recording) => html`<li>${recordingCell(recording)}
<div>${recording.url === '' ? '' : html`<small>${addressLink(recording.url)}</small>`}</div>
<div>for ${age(recording.since, now)}</div></li>
`,
)}</ul>
</section>`;
}

/** Packages that have not become an event; nothing when there is none. */
export function packagesSection(drafts: readonly BegunDraft[], now: Date): Html {
  if (drafts.length === 0) return html``;
  return html`<section aria-labelledby="packages"><h2 id="packages">Packages begun and not ingested</h2>
<p>What accounts put together at this moment, or have left.</p>
<ul class="rows">
${drafts.map(
  (
    draft,
  ) => html`<li><div><strong><bdi>${draft.owner}</bdi></strong><small><bdi>${draft.id}</bdi></small></div>
<div>${draft.elements === 1 ? '1 element' : `${draft.elements} elements`}, ${sizeOf(draft.bytes)}${draft.isLeft ? html` <strong class="alarm">Nothing has come for an hour or more.</strong>` : ''}</div>
<div>begun ${age(draft.createdAt, now)} ago<small>last change ${age(draft.changedAt, now)} ago</small></div></li>
`,
)}</ul>
</section>`;
}

function recordingCell(recording: RecordingOfAgent): Html {
  return html`<div><strong>${titleOf(recording)}</strong><small><a href="${addressOf({ agent: recording.agentId })}"><bdi>${recording.agentId}</bdi></a> <span class="times">${timesOf(recording, knownZone(recording.timeZone))}</span></small></div>`;
}
