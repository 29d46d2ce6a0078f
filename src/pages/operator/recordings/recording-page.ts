import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { WorkflowDefinition } from '#processing/definition.ts';
import { whyNotNow } from '#processing/start-on-request.ts';
import type { WantedState } from '#processing/workflow.schemas.ts';
import { exactMoment, moment, recordingAddress, stateOf } from '../frame/parts.ts';
import { deleteForm, wishForm } from '../frame/recording-forms.ts';
import { clockOf } from '../frame/words.ts';
import { barsOf } from './bars.ts';
import { picturesOf, type RecordingStory, type WorkflowStory } from './story.queries.ts';
import { type Entry, entriesOf } from './story.ts';
import { tracksTable } from './tracks.ts';

/** What the page needs beside the story. */
export interface RecordingSetting {
  id: string;
  /** Where the server's paths begin. */
  root: string;
  definitions: readonly WorkflowDefinition[];
  /** Where an element of a publication, or the page of one, is. */
  addresses: {
    element(element: ReturnType<typeof picturesOf>[number]): string;
    watch(publicationId: string): string;
  };
}

/** A recording's whole story, what there is of it, and what can be done with it. */
export function recordingContent(story: RecordingStory, setting: RecordingSetting): Html {
  const { event, workflows, publications, tracks } = story;
  return html`<div id="facts" data-live>${event ? factsOf(event, setting) : html`<p class="alarm">The recording has been deleted. This is what is remembered of it.</p>`}</div>
<div class="actions" id="actions" data-live>${event ? actionsOf(event, story, setting) : ''}</div>
<section id="workflows" data-live aria-labelledby="workflows-heading"><h2 id="workflows-heading">Processing</h2>
${workflows.length === 0 ? html`<p>It has not been processed${event ? '' : ', or that is forgotten'}.</p>` : workflows.map(workflowOf)}
</section>
<section id="story" data-live aria-labelledby="story-heading"><h2 id="story-heading">What happened <span class="faint">(UTC)</span></h2>
<ol class="story">${entriesOf(story).map(entryOf)}</ol>
</section>
${
  event
    ? html`<section id="published" data-live aria-labelledby="published-heading"><h2 id="published-heading">Publications</h2>
${publications.length === 0 ? html`<p>It is not published.</p>` : html`<ul class="plain">${publications.map(({ id, channel, published_at }) => html`<li><a href="${setting.addresses.watch(id)}">${channel}</a> <span class="faint">since ${moment(published_at)} UTC</span></li>`)}</ul>`}
<div class="pictures">${picturesOf(publications).map((picture) => html`<figure><img src="${setting.addresses.element(picture)}" alt="" loading="lazy"><figcaption class="faint">${picture.flavor}</figcaption></figure>`)}</div></section>
<section id="tracks" data-live aria-labelledby="tracks-heading"><h2 id="tracks-heading">Tracks</h2>
${tracksTable(tracks)}</section>`
    : ''
}`;
}

function factsOf(event: NonNullable<RecordingStory['event']>, { root }: RecordingSetting): Html {
  const facts: [string, Html | string][] = [
    ['Identifier', html`<code>${event.id}</code>`],
    ['State', html`${stateOf(event.processing_state || event.status)}`],
    ['Starts', html`${moment(event.start_date)} UTC`],
    ['Length', event.duration === null ? '' : clockOf(Number(event.duration))],
    ['Series', event.series_title || event.series_id || ''],
    ['Presenters', event.presenters.join(', ')],
    ['Created by', event.creator],
    [
      'Capture agent',
      event.agent_id === ''
        ? ''
        : html`<a href="${root}admin/agents?agent=${encodeURIComponent(event.agent_id)}">${event.agent_id}</a> ${event.recording_state.replaceAll('_', ' ')}`,
    ],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => (value === '' ? '' : html`<div><dt>${name}</dt><dd>${value}</dd></div>`))}</dl>`;
}

function actionsOf(
  event: NonNullable<RecordingStory['event']>,
  { workflows, tracks }: RecordingStory,
  { id, root, definitions }: RecordingSetting,
): Html {
  const [latest] = workflows;
  const about = { eventId: id, title: event.title };
  const wish = (wanted: WantedState, name: string, kind?: 'quiet' | 'danger') =>
    wishForm({ ...about, workflowId: latest?.id ?? 0 }, { wanted, name, kind }, { root, back: 'recording' });
  const wishes: Record<string, Html[]> = {
    INSTANTIATED: [wish('paused', 'Pause', 'quiet'), wish('stopped', 'Stop', 'danger')],
    RUNNING: [wish('paused', 'Pause', 'quiet'), wish('stopped', 'Stop', 'danger')],
    PAUSED: [wish('running', 'Resume'), wish('stopped', 'Stop', 'danger')],
    FAILING: [wish('stopped', 'Stop', 'danger')],
    FAILED: [wish('retry', 'Retry')],
    STOPPED: [wish('retry', 'Retry')],
  };
  const recorded = tracks.some(({ is_media }) => is_media);
  const start =
    whyNotNow({ ...event, recorded }) !== undefined
      ? ''
      : html`<form method="post" action="${recordingAddress(id, root)}/start"><select name="definition" aria-label="Workflow">${definitions.map(({ id, title }) => html`<option value="${id}">${title}</option>`)}</select> <button class="quiet">Start workflow</button></form>`;
  return html`${wishes[latest?.state ?? ''] ?? ''}${start}${deleteForm(about, root)}`;
}

function workflowOf(workflow: WorkflowStory): Html {
  const { id, title, creator, requestId, start, end, state, reason } = workflow;
  return html`<article class="sheet"><div class="heading"><h3>${title} <span class="faint">workflow ${id}</span></h3>${stateOf(state)}</div>
<p class="faint">Started ${moment(start)} UTC by <bdi>${creator}</bdi>${end ? html`, ended ${moment(end)} UTC` : ''} · request <code>${requestId}</code></p>
${reason === null ? '' : html`<p class="alarm">${reason}</p>`}
${barsOf(workflow)}</article>`;
}

function entryOf({ at, text, by, tone }: Entry): Html {
  return html`<li class="${tone}">${exactMoment(at)} <span>${text}${by === '' ? '' : html` <span class="faint">by <bdi>${by}</bdi></span>`}</span></li>
`;
}
