import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/html-page.ts';
import { reasonKey } from '#processing/reason-key.ts';
import { clockOf, sizeOf } from '../frame/format-units.ts';
import {
  age,
  deleteForm,
  liveSection,
  type PageSetting,
  recordingLink,
  workflowButton,
} from '../frame/page-elements.ts';
import { type FailedRecording, MOST_FAILED } from './work.queries.ts';

/** Of one reason, unless the page shows all of them. */
const SHOWN_OF_REASON = 5;

/** Failed recordings by reason, with buttons to retry or delete them. @param expanded the key of a reason, to show all */
export function failedSection(
  failed: readonly FailedRecording[],
  expanded: string | undefined,
  setting: PageSetting,
): Html {
  const count = html` <span class="alarm">(${failed.length}${failed.length === MOST_FAILED ? ' or more' : ''})</span>`;
  const groups = Map.groupBy(failed, ({ reason }) => reasonKey(reason));
  const content = [...groups].map(([key, recordings]) => groupHtml(key, recordings, key === expanded, setting));
  return liveSection(
    'failed',
    html`Failed${failed.length > 0 ? count : ''}`,
    failed.length === 0
      ? html`<p>Nothing has failed.</p>`
      : html`<p><a href="${setting.root}admin/recordings?state=failed">All failed recordings</a></p>${content}`,
  );
}

function groupHtml(
  key: string,
  recordings: readonly FailedRecording[],
  isExpanded: boolean,
  { now, root }: PageSetting,
): Html {
  const shown = isExpanded ? recordings : recordings.slice(0, SHOWN_OF_REASON);
  const rest = recordings.length - shown.length;
  return html`<article class="sheet failure">
<div class="heading"><h3 class="alarm">${recordings[0]?.reason ?? key}</h3>
<div class="actions">${
    recordings.length > 1
      ? html`<span class="faint">${recordings.length} recordings</span>
<form method="post" action="${root}admin/failed/retry"><input type="hidden" name="reason" value="${key}"><button>Retry all</button></form>`
      : ''
  }</div></div>
<ul class="recordings">
${shown.map((recording, i) => recordingHtml(recording, i === 0, { now, root }))}
</ul>
${rest > 0 ? html`<p class="faint"><a href="${root}admin?reason=${encodeURIComponent(key)}#failed">Show ${rest} more</a></p>` : ''}
</article>`;
}

function recordingHtml(recording: FailedRecording, isLogOpen: boolean, { now, root }: PageSetting): Html {
  const { workflowId, operation, attempts, log, failedAt } = recording;
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return html`<li id="failed-${workflowId}"><div class="heading"><div>${recordingLink(recording, root)}
<span class="faint">${operation}${tries}, ${age(failedAt, now)} ago · ${factsOf(recording)}</span></div>
<div class="actions">
${workflowButton(recording, { wanted: 'retry', name: 'Retry' }, { root, back: 'now' })}
${deleteForm(recording, root)}
</div></div>
${log === '' ? '' : html`<details id="log-${workflowId}"${isLogOpen ? raw(' open') : ''}><summary>Last output of the tool</summary><pre tabindex="0">${log}</pre></details>`}
</li>`;
}

function factsOf({ tracks, bytes, duration, seriesTitle }: FailedRecording): string {
  const sent = `${tracks === 1 ? '1 track' : `${tracks} tracks`}, ${sizeOf(bytes)}`;
  return [sent, duration === null ? '' : clockOf(duration), seriesTitle].filter(Boolean).join(' · ');
}
