import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import { notReadyReason } from '#processing/start-on-request.ts';
import type { RequestedState } from '#processing/workflow.schemas.ts';
import type { WorkflowDefinition } from '#processing/workflow-definition.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { publicationLinks, rootFrom } from '../../urls/relative-urls.ts';
import { clockOf, sizeOf } from '../frame/format-units.ts';
import { operatorPage } from '../frame/operator-page.ts';
import {
  agentLink,
  cutLink,
  deleteForm,
  factList,
  liveSection,
  moment,
  recordingAddress,
  stateOf,
  workflowButton,
} from '../frame/page-elements.ts';
import { barsOf, historyOf } from './recording-history.ts';
import { picturesOf, type RecordingStory, recordingStory, type WorkflowStory } from './recording-story.queries.ts';

interface Services {
  database: Database;
  definitions: WorkflowDefinitions;
  addresses: PublicationAddresses;
}

/** Shows operators everything about a recording. A deleted recording still has its history. */
export const operatorRecording = defineEndpoint({
  method: 'get',
  path: '/admin/recordings/{event_id}',
  access: ADMINISTRATORS,
  handle: async ({ c, params }, { database, definitions, addresses }: Services) => {
    const id = params.event_id;
    const story = await recordingStory(database, id);
    if (!story.event && story.changes.length === 0) throw notFound();
    const deleted = story.changes.findLast(({ kind }) => kind === 'event.deleted');
    const title = story.event?.title || String(deleted?.data.title ?? '') || 'Untitled';
    return operatorPage(c, {
      title,
      content: recordingContent(story, {
        id,
        root: rootFrom(c),
        definitions: definitions.all(),
        addresses: publicationLinks(c, addresses),
      }),
      style: RECORDING_STYLE,
      current: 'admin/recordings',
      follows: `event:${encodeURIComponent(id)}`,
    });
  },
});

interface RecordingSetting {
  id: string;
  /** The relative URL of the server's root. */
  root: string;
  definitions: readonly WorkflowDefinition[];
  addresses: ReturnType<typeof publicationLinks>;
}

function recordingContent(story: RecordingStory, setting: RecordingSetting): Html {
  const { event, lock, workflows, publications, tracks } = story;
  return html`<div id="facts" data-live>${event ? factsOf(event, lock, setting) : html`<p class="alarm">The recording has been deleted. Its history is kept for a while.</p>`}</div>
<div class="actions" id="actions" data-live>${event ? actionsOf(event, story, setting) : ''}</div>
${event ? liveSection('workflows', 'Processing', workflows.length === 0 ? html`<p>No workflows.</p>` : html`${workflows.map(workflowOf)}`) : ''}
${liveSection('story', html`History <span class="faint">(UTC)</span>`, historyOf(story))}
${
  event
    ? html`${liveSection(
        'published',
        'Publications',
        html`${publications.length === 0 ? html`<p>Not published.</p>` : html`<ul class="plain">${publications.map(({ id, channel, published_at }) => html`<li><a href="${setting.addresses.watch(id)}">${channel}</a> <span class="faint">since ${moment(published_at)} UTC</span></li>`)}</ul>`}
<div class="pictures">${picturesOf(publications).map((picture) => html`<figure><img src="${setting.addresses.element(picture)}" alt="" loading="lazy"><figcaption class="faint">${picture.flavor}</figcaption></figure>`)}</div>`,
      )}
${liveSection('tracks', 'Tracks', tracksTable(tracks))}`
    : ''
}`;
}

function factsOf(
  event: NonNullable<RecordingStory['event']>,
  lock: RecordingStory['lock'],
  { root }: RecordingSetting,
): Html {
  const facts: [string, Html | string][] = [
    ['Identifier', html`<code>${event.id}</code>`],
    ['State', html`${stateOf(event.processing_state || event.status)}`],
    ['Starts', html`${moment(event.start_date)} UTC`],
    ['Duration', event.duration === null ? '' : clockOf(Number(event.duration))],
    [
      'Series',
      event.series_id === null
        ? ''
        : html`<a href="${root}admin/recordings?series=${encodeURIComponent(event.series_id)}"><bdi>${event.series_title || event.series_id}</bdi></a>`,
    ],
    ['Presenters', event.presenters.join(', ')],
    ['Created by', event.creator],
    ['Views', event.views === 0 ? '' : String(event.views)],
    [
      'Capture agent',
      event.agent_id === ''
        ? ''
        : html`${agentLink(event.agent_id, root)} ${event.recording_state.replaceAll('_', ' ')}`,
    ],
    ['Open in an editor', lock ? html`by <bdi>${lock.username}</bdi>, until ${moment(lock.expires_at)} UTC` : ''],
  ];
  return factList(facts.filter(([, value]) => value !== ''));
}

function actionsOf(
  event: NonNullable<RecordingStory['event']>,
  { workflows, tracks }: RecordingStory,
  { id, root, definitions }: RecordingSetting,
): Html {
  const [latest] = workflows;
  const about = { eventId: id, title: event.title };
  const button = (wanted: RequestedState, name: string, kind?: 'quiet' | 'danger') =>
    workflowButton({ ...about, workflowId: latest?.id ?? 0 }, { wanted, name, kind }, { root, back: 'recording' });
  const [pause, stop] = [button('paused', 'Pause', 'quiet'), button('stopped', 'Stop', 'danger')];
  const retry = button('retry', 'Retry');
  const buttons: Record<string, Html[]> = {
    INSTANTIATED: [pause, stop],
    RUNNING: [pause, stop],
    PAUSED: [cutLink(about, root), button('running', 'Resume'), stop],
    FAILING: [stop],
    FAILED: [retry],
    STOPPED: [retry],
  };
  const recorded = tracks.some(({ is_media }) => is_media);
  const start =
    notReadyReason({ ...event, recorded }) !== undefined
      ? ''
      : html`<form method="post" action="${recordingAddress(id, root)}/start"><select name="definition" aria-label="Workflow">${definitions.map(({ id, title }) => html`<option value="${id}">${title}</option>`)}</select> <button class="quiet">Start workflow</button></form>`;
  return html`${buttons[latest?.state ?? ''] ?? ''}${start}${deleteForm(about, root)}`;
}

function workflowOf(workflow: WorkflowStory): Html {
  const { id, title, creator, requestId, start, end, state, reason } = workflow;
  return html`<article class="sheet"><div class="heading"><h3>${title} <span class="faint">workflow ${id}</span></h3>${stateOf(state)}</div>
<p class="faint">Started ${moment(start)} UTC by <bdi>${creator}</bdi>${end ? html`, finished ${moment(end)} UTC` : ''} · request <code>${requestId}</code></p>
${reason === null ? '' : html`<p class="alarm">${reason}</p>`}
${barsOf(workflow)}</article>`;
}

function tracksTable(tracks: RecordingStory['tracks']): Html {
  if (tracks.length === 0) return html`<p>No tracks.</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label="Tracks"><table>
<thead><tr><th scope="col">Flavor</th><th scope="col">File</th><th scope="col">Size</th><th scope="col">Duration</th><th scope="col">Streams</th></tr></thead>
<tbody>
${tracks.map(
  (
    track,
  ) => html`<tr><td>${track.flavor}${track.tags.length > 0 ? html` <span class="faint">${track.tags.join(', ')}</span>` : ''}</td><td><bdi>${track.filename}</bdi> <span class="faint">${track.mediatype}</span></td><td>${sizeOf(Number(track.size))}</td><td>${track.duration === null ? '' : clockOf(Number(track.duration))}</td><td>${((track.streams ?? []) as unknown as MediaStream[]).map(streamOf).join('; ')}${track.warnings.map((warning) => html`<p class="alarm">${warning}</p>`)}</td></tr>
`,
)}
</tbody></table></div>`;
}

function streamOf(stream: MediaStream): string {
  if (stream.type === 'audio') {
    const rate = stream.samplingRate === null ? '' : ` ${stream.samplingRate / 1000} kHz`;
    return `${stream.codec}, ${stream.channels === 1 ? '1 channel' : `${stream.channels} channels`}${rate}`;
  }
  const rate = stream.frameRate === null ? '' : ` ${stream.frameRate.toFixed(2).replace(/\.?0+$/, '')} fps`;
  return `${stream.codec} ${stream.width}×${stream.height}${rate}`;
}

const RECORDING_STYLE = `
.facts { margin: 1rem 0; }
code { font-size: .9em; overflow-wrap: anywhere; }
.sheet + .sheet { margin-top: .8rem; }
.sheet > p { margin: .3rem 0; }
.bars { list-style: none; margin: .6rem 0 0; padding: 0; }
.bars > li { display: grid; grid-template-columns: minmax(0, 1.4fr) minmax(0, 1fr) minmax(0, 2fr); gap: .1rem 1rem; align-items: center; margin: 0; padding: .35rem 0; border-top: 1px solid var(--line); }
.bars p, .bars details { grid-column: 1 / -1; margin: .1rem 0; font-size: .92rem; overflow-wrap: anywhere; }
.bars svg { width: 100%; height: .9rem; }
.bars rect { fill: var(--faint); }
.bars .ground { fill: var(--ground); }
.bars .succeeded { fill: var(--good); }
.bars .running { fill: var(--busy); }
.bars .failed, .bars .lost { fill: var(--alarm); }
.bars .retried, .bars .deferred { fill: var(--held); }
.attempts { margin: .3rem 0; padding-left: 1.2rem; list-style: disc; }
.attempts li, .plain li { margin: .1rem 0; }
.story { list-style: none; margin: 0; padding: 0; border-left: 2px solid var(--line); }
.story li { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: .2rem 1rem; margin: 0; padding: .25rem 0 .25rem 1rem; overflow-wrap: anywhere; }
.story time { color: var(--faint); }
.story .good > span { color: var(--good); }
.story .alarm { color: inherit; }
.story .alarm > span { color: var(--alarm); }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem; }
.pictures figure { max-width: min(20rem, 100%); margin: .6rem 0 0; }
.pictures img { display: block; max-width: 100%; max-height: 11rem; border-radius: .4rem; border: 1px solid var(--line); }
.actions select { padding: .35rem .5rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); color: inherit; font: inherit; max-width: 100%; }
.actions button { margin: 0; padding: .35rem .8rem; font-size: .92rem; }
td { min-width: 6rem; }
td:first-child, td:nth-child(2), td:last-child { min-width: 11.5rem; }
@media (max-width: 46rem) {
  .bars > li, .story li { grid-template-columns: minmax(0, 1fr); }
}
`;
