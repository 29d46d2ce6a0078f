import { html, raw } from 'hono/html';
import type { EditableEvent } from '#editing/editable-event.ts';
import { BASE_STYLE, type Html, ICON, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import type { EditorFile, EditorTrack } from '#publications/editor-files.ts';
import { formatClock } from './clock-times.ts';

const EMPTY_ROWS = 3;

const STYLE = `${BASE_STYLE}
main { max-width: 60rem; padding-top: 2rem; }
.players { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0 .4rem; }
.players video { flex: 1 1 18rem; min-width: 0; max-width: 100%; max-height: 60vh; border-radius: .6rem; background: #000; }
.players audio { width: 100%; }
.waveform { display: block; width: 100%; height: 4rem; }
h2 { margin: 1.6rem 0 .2rem; font-size: 1.25rem; }
p { margin: .4rem 0 1rem; }
fieldset { margin: 0; padding: 0; border: 0; }
.part { display: flex; flex-wrap: wrap; gap: .4rem 1rem; margin: .5rem 0; }
.time, .part label { display: flex; align-items: center; gap: .5rem; }
.part label { justify-content: space-between; min-width: 12rem; }
.part input:not([type=hidden]) { width: 8.5rem; margin: 0; font-variant-numeric: tabular-nums; }
.acts { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin-top: 1.4rem; }
button { margin: 0; }
button.quiet { border: 1px solid var(--line); background: var(--sheet); color: var(--text); font-weight: 500; }
.part button.quiet { padding: .35rem .7rem; font-size: .92rem; }
select { padding: .6rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); color: inherit; font: inherit; max-width: 100%; }
[role=status], [role=alert] { padding: .6rem .8rem; border: 1px solid var(--accent); border-radius: .6rem; }
`;

/** Nothing is loaded from other hosts, and no site may frame the page. */
export const EDITOR_PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': pagePolicy(
    { style: STYLE },
    "script-src 'self'",
    "connect-src 'self'",
    "media-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ),
};

interface EditorPage {
  event: EditableEvent;
  /** The identifier of the lock that the page holds. */
  lock: string;
  /** The relative URL of the server's root. */
  root: string;
  notice: string | undefined;
  /** A refused form: the reason, and the parts as a person entered them. */
  refused?: { reason: string; parts: readonly EnteredPart[] };
}

/** The times of a part as texts. */
export interface EnteredPart {
  from: string;
  to: string;
}

/** A form to cut a recording. It works without scripts, which only fill in times. */
export function editorPage({ event, lock, root, notice, refused }: EditorPage): Html {
  const title = event.title.trim() || 'Untitled';
  const fileOf = ({ id, filename }: EditorFile) =>
    `${root}editor/${encodeURIComponent(event.id)}/files/${id}/${filename}`;
  return page(
    `Cut ${title} - Inlet`,
    html`<main>
<header><img src="${raw(ICON)}" alt=""><h1>Cut <bdi>${title}</bdi></h1></header>
${notice === undefined ? '' : html`<p role="status">${notice}</p>`}
${refused ? html`<p role="alert">${refused.reason}</p>` : ''}
<div class="players">${event.tracks.map((track) => playerOf(track, fileOf))}</div>
${event.tracks.map(({ waveform }) => (waveform ? html`<img class="waveform" src="${fileOf(waveform)}" alt="">` : ''))}
${event.isProcessed ? html`<p role="status">This recording is being processed. It can be cut when its workflow has finished.</p>` : cutForm(event, refused?.parts ?? keptParts(event), { lock, root })}
</main>
<script type="module" src="${root}editor-ui/cut-form.js"></script>`,
    { style: STYLE },
  );
}

function playerOf({ media, poster, hasVideo, flavor }: EditorTrack, fileOf: (file: EditorFile) => string): Html | '' {
  if (!media) return '';
  if (!hasVideo) return html`<audio controls preload="metadata" src="${fileOf(media)}" aria-label="${flavor}"></audio>`;
  return html`<video controls preload="metadata" src="${fileOf(media)}"${poster ? html` poster="${fileOf(poster)}"` : ''} aria-label="${flavor}"></video>`;
}

function keptParts({ segments, duration }: EditableEvent): EnteredPart[] {
  const kept = segments.filter(({ deleted }) => !deleted);
  const parts = kept.length > 0 ? kept : [{ start: 0, end: duration }];
  return parts.map(({ start, end }) => ({ from: formatClock(start), to: formatClock(end) }));
}

function cutForm(
  { id, duration, workflows }: EditableEvent,
  parts: readonly EnteredPart[],
  { lock, root }: Pick<EditorPage, 'lock' | 'root'>,
): Html {
  const rows = [...parts, ...Array.from({ length: EMPTY_ROWS }, () => ({ from: '', to: '' }))];
  return html`<form method="post" action="${root}editor-ui" data-lock="${root}editor/${encodeURIComponent(id)}/lock">
<input type="hidden" name="id" value="${id}"><input type="hidden" name="uuid" value="${lock}">
<fieldset><legend><h2>Parts to keep</h2></legend>
<p>The recording ends at ${formatClock(duration)}. Only these parts are published; the uploaded files stay complete. Clear both times to remove a part.</p>
${rows.map(
  (part, row) => html`<div class="part">${timeField(row, 'from', part.from)}${timeField(row, 'to', part.to)}</div>
`,
)}</fieldset>
<div class="acts"><button class="quiet" name="action" value="save">Save</button>
${
  workflows.length === 0
    ? ''
    : html`<button name="action" value="process">Save and process</button>
<select name="workflow" aria-label="Workflow">${workflows.map(({ id, title }) => html`<option value="${id}">${title}</option>`)}</select>`
}</div>
</form>`;
}

function timeField(row: number, name: 'from' | 'to', value: string): Html {
  const word = name === 'from' ? 'From' : 'To';
  return html`<span class="time"><label>${word} <input name="${name}" value="${value}" aria-label="${word}, part ${row + 1}" autocomplete="off"></label></span>`;
}

/** The page after a cut was sent for processing. */
export function processingPage(title: string): Html {
  const heading = title.trim() || 'Untitled';
  return page(
    `${heading} - Inlet`,
    html`<main><header><img src="${raw(ICON)}" alt=""><h1><bdi>${heading}</bdi></h1></header>
<p role="status">The cut is saved, and the recording is being processed.</p></main>`,
    { style: STYLE },
  );
}
