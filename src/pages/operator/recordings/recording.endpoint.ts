import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { rootFrom } from '../../sign-in/sign-in-page.ts';
import { noticeOf, operatorPage } from '../frame/operator-page.ts';
import { publicationLinks } from '../frame/page-elements.ts';
import { RECORDING_STYLE, recordingContent } from './recording-page.ts';
import { recordingStory } from './recording-story.queries.ts';

interface Services {
  database: Database;
  definitions: WorkflowDefinitions;
  addresses: PublicationAddresses;
}

/** Shows operators everything about a recording, even a deleted one. */
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
      current: undefined,
      notice: noticeOf(c),
      follows: `event:${encodeURIComponent(id)}`,
    });
  },
});
