import { html, raw } from 'hono/html';
import { sql } from 'kysely';
import type { Queryable } from '#platform/database/kysely.ts';
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

const MOST_FAILED = 500;

/** A recording whose latest workflow failed. */
export interface FailedRecording {
  eventId: string;
  title: string;
  workflowId: number;
  operation: string;
  failedAt: Date;
  reason: string;
  /** The last output of the tool. May be empty. */
  log: string;
  attempts: number;
  seriesTitle: string;
  tracks: number;
  bytes: number;
  /** In milliseconds. */
  duration: number | null;
  requestId: string;
}

/** Finds the newest `MOST_FAILED` recordings that failed and were not processed again. */
export async function failedRecordings(db: Queryable): Promise<FailedRecording[]> {
  const { rows } = await sql<FailedRecording>`
    WITH lately AS MATERIALIZED (
      SELECT id, event_id, finished_at, reason, request_id FROM workflows WHERE state = 'FAILED'
      ORDER BY finished_at DESC, id DESC LIMIT ${4 * MOST_FAILED}
    ), failed AS MATERIALIZED (
      SELECT lately.* FROM lately JOIN events e ON e.id = lately.event_id
      WHERE e.processing_state = 'FAILED'
        AND NOT EXISTS (SELECT FROM workflows later WHERE later.event_id = lately.event_id AND later.id > lately.id)
      ORDER BY lately.finished_at DESC, lately.id DESC LIMIT ${MOST_FAILED}
    )
    SELECT e.id AS "eventId", e.title, failed.id AS "workflowId", coalesce(o.operation, '') AS operation,
      coalesce(failed.finished_at, e.inserted_at) AS "failedAt", coalesce(failed.reason, o.reason, 'Failed.') AS reason,
      coalesce(o.log, '') AS log, coalesce(o.attempts, 0) + 1 AS attempts, e.series_title AS "seriesTitle",
      sent.tracks, sent.bytes, e.duration, failed.request_id AS "requestId"
    FROM failed JOIN events e ON e.id = failed.event_id
    LEFT JOIN LATERAL (SELECT operation, reason, log, attempts FROM workflow_operations
      WHERE workflow_id = failed.id AND state = 'failed' ORDER BY position LIMIT 1) AS o ON true
    CROSS JOIN LATERAL (SELECT count(*) AS tracks, coalesce(sum(size), 0)::bigint AS bytes FROM tracks
      WHERE event_id = e.id) AS sent
    ORDER BY failed.finished_at DESC, failed.id DESC`.execute(db);
  return rows;
}

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
    failed.length === 0 ? html`<p>Nothing has failed.</p>` : html`${content}`,
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
