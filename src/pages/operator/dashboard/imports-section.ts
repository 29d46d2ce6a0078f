import { html } from 'hono/html';
import type { RecentImport } from '#maintenance/import/import-items.queries.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { sizeOf } from '../frame/format-units.ts';
import { age, liveSection, type PageSetting } from '../frame/page-elements.ts';

/** The imports of the last day. */
export function importsSection(imports: readonly RecentImport[], setting: PageSetting): Html | '' {
  if (imports.length === 0) return '';
  const rows = html`<ul class="rows">${imports.map((each) => importRow(each, setting))}</ul>
<p class="faint">The report of the command names what has failed, and why.</p>`;
  return liveSection('imports', `Imports (${imports.length})`, rows);
}

function importRow(
  { name, isActive, activeAt, awaySince, awayReason, copied, failed, skipped, pending, bytes }: RecentImport,
  { now }: PageSetting,
): Html {
  const all = copied + failed + skipped + pending;
  const done = all === 0 ? 0 : (all - pending) / all;
  const faults = [failed > 0 ? `${failed} failed` : '', skipped > 0 ? `${skipped} skipped` : ''].filter(Boolean);
  const state = isActive
    ? html`<span class="${awaySince ? 'alarm' : 'faint'}">${awaySince ? html`waiting for the source for ${age(awaySince, now)}: ${awayReason}` : 'running'}</span>`
    : html`<span class="faint">not running, last seen ${age(activeAt, now)} ago</span>`;
  return html`<li><div><bdi>${name}</bdi></div>
<div>${copied} of ${all} copied, ${sizeOf(bytes)}<progress value="${done}" max="1" aria-label="${Math.floor(done * 100)} percent"></progress></div>
<div class="${failed > 0 ? 'alarm' : 'faint'}">${faults.join(', ')}</div>
<div>${state}</div></li>
`;
}
