import { z } from 'zod';
import { Tracks } from '../../events/media/track.schemas.ts';
import { TrackForm } from '../../ingest/external-api/track-form.ts';
import { Publication, Publications } from '../../publications/publication.schemas.ts';
import { PublicationQuery, PublicationsQuery } from '../../publications/query.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { EVENT_ID, PUBLICATION, PUBLICATION_ID, TRACK, TRACK_ID } from '../examples.ts';

const MISSING = `Unable to find event with id '${EVENT_ID}'`;

/** What an event is made of, and what of it is published. */
export const EVENT_MEDIA: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/events/{event_id}/media',
    tag: 'Event media',
    summary: 'List the tracks of an event',
    description: 'What has been sent in; what is not known of a track is missing.',
    answers: { 200: { description: 'The tracks.', body: Tracks, example: [TRACK] } },
    refusals: { 404: 'The resource you requested does not exist.' },
  },
  {
    method: 'get',
    path: '/api/events/{event_id}/media/{track_id}',
    tag: 'Event media',
    summary: 'Download a track',
    description: 'The file as it was sent, as a whole or (`Range`) in part.',
    answers: {
      200: { description: 'The file.', binary: true },
      206: { description: 'The part of it that was asked for.', binary: true },
      304: { description: 'It is the one with this `ETag`.' },
    },
    refusals: {
      404: [
        'The resource you requested does not exist.',
        `Unable to find track with id '${TRACK_ID}' in event with id '${EVENT_ID}'`,
      ],
      416: 'The range lies outside the file.',
    },
  },
  {
    method: 'post',
    path: '/api/events/{event_id}/track',
    tag: 'Event media',
    summary: 'Add a track to an event',
    description:
      'Captions, for example. No workflow is started, unless it is the recording that a scheduled event awaited. With `overwriteExisting` and without a file, the matching tracks are removed.',
    form: {
      encoding: 'multipart',
      schema: TrackForm.extend({
        track: z.string().optional().meta({
          description: 'The file, a part with a file name.',
          contentMediaType: 'application/octet-stream',
        }),
      }),
      example: {
        flavor: 'captions/source',
        tags: 'archive,subtitle,type:subtitle,generator-type:manual,lang:de',
        overwriteExisting: 'true',
      },
    },
    answers: { 200: { description: 'It has been added.' } },
    refusals: {
      400: [
        'Could not parse flavor captions; it must be a type and a subtype with one slash between them',
        'Could not add track: the form holds no file in the part track.',
      ],
      404: MISSING,
      408: 'Nothing was received for 60 seconds.',
      409: `Cannot update while a workflow is running on event '${EVENT_ID}'`,
      413: 'The file is larger than 107374182400 bytes.',
      507: 'There is no room left to store the recording.',
    },
  },
  {
    method: 'get',
    path: '/api/events/{event_id}/publications',
    tag: 'Event media',
    summary: 'List the publications of an event',
    description: 'Each with its media, attachments and metadata.',
    query: PublicationsQuery,
    answers: { 200: { description: 'The publications.', body: Publications, example: [PUBLICATION] } },
    refusals: { 404: MISSING },
  },
  {
    method: 'get',
    path: '/api/events/{event_id}/publications/{publication_id}',
    tag: 'Event media',
    summary: 'Read a publication of an event',
    description: 'The same as in the list.',
    query: PublicationQuery,
    answers: { 200: { description: 'The publication.', body: Publication, example: PUBLICATION } },
    refusals: {
      404: [MISSING, `Unable to find publication with id '${PUBLICATION_ID}' in event with id '${EVENT_ID}'`],
    },
  },
];
