import { html, raw } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import { age, recordingLink } from '../frame/parts.ts';
import { deleteForm, wishForm } from '../frame/recording-forms.ts';
import { clockOf, sizeOf } from '../frame/words.ts';
import { byReason, type FailedRecording, type FailureGroup, MOST_FAILED } from './failed.queries.ts';

/** Of one reason, unless all of it are asked for. */
const SHOWN_OF_REASON = 5;

interface FailedSetting {
  now: Date;
  /** Where the server's paths begin. */
  root: string;
  /** The key of the reason of which all are shown. */
  reason: string | undefined;
}

/** What failed and why, and what can be done about it. */
export function failedSection(failed: readonly FailedRecording[], setting: FailedSetting): Html {
  const groups = byReason(failed);
  return html`<section id="failed" data-live aria-labelledby="failed-heading">
<h2 id="failed-heading">Failed${failed.length > 0 ? html` <span class="alarm">(${failed.length}${failed.length === MOST_FAILED ? ' or more' : ''})</span>` : ''}</h2>
${failed.length === 0 ? html`<p>Nothing has failed.</p>` : groups.map((group) => groupHtml(group, setting))}
</section>`;
}

function groupHtml({ key, reason, recordings }: FailureGroup, setting: FailedSetting): Html {
  const { now, root } = setting;
  const shown = key === setting.reason ? recordings : recordings.slice(0, SHOWN_OF_REASON);
  const rest = recordings.length - shown.length;
  return html`<article class="sheet failure">
<div class="heading"><h3 class="alarm">${reason}</h3>
<div class="actions">${
    recordings.length > 1
      ? html`<span class="faint">${recordings.length} recordings</span>
<form method="post" action="${root}admin/failed/retry"><input type="hidden" name="reason" value="${key}"><button>Retry all of this reason</button></form>`
      : ''
  }</div></div>
<ul class="recordings">
${shown.map((recording, i) => recordingHtml(recording, { now, root, open: i === 0 }))}
</ul>
${rest > 0 ? html`<p class="faint"><a href="${root}admin?reason=${encodeURIComponent(key)}#failed">And ${rest} more</a></p>` : ''}
</article>`;
}

/** @param setting.open whether what the tool said is seen without a click */
function recordingHtml(
  recording: FailedRecording,
  { now, root, open }: { now: Date; root: string; open: boolean },
): Html {
  const { workflowId, operation, attempts, log, failedAt } = recording;
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return html`<li id="failed-${workflowId}"><div class="heading"><div>${recordingLink(recording, root)}
<span class="faint">${operation}${tries}, ${age(failedAt, now)} ago · ${factsOf(recording)}</span></div>
<div class="actions">
${wishForm(recording, { wanted: 'retry', name: 'Retry' }, { root, back: 'now' })}
${deleteForm(recording, root)}
</div></div>
${log === '' ? '' : html`<details id="log-${workflowId}"${open ? raw(' open') : ''}><summary>What the tool said last</summary><pre tabindex="0">${log}</pre></details>`}
</li>`;
}

function factsOf({ tracks, bytes, duration, seriesTitle }: FailedRecording): string {
  const sent = `${tracks === 1 ? '1 track' : `${tracks} tracks`}, ${sizeOf(bytes)}`;
  return [sent, duration === null ? '' : clockOf(duration), seriesTitle].filter(Boolean).join(' · ');
}
