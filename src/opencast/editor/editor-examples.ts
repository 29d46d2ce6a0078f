import type { z } from 'zod';
import { EVENT_CATALOGS, EVENT_ID, SERIES_ID, TRACK_ID } from '#catalogue/events/event-examples.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import type { EditJson } from './edit-json.ts';
import type { EditRequest } from './edit-request.ts';

const FILES = `${EXAMPLE_URL}/editor/${EVENT_ID}/files`;
const CAPTIONS_ID = '6d2a5a0b-4a53-4c3b-9f0c-6f5a1f1d7b52';
const SEGMENTS = [
  { start: 0, end: 60_000, deleted: true, selected: false },
  { start: 60_000, end: 2_700_000, deleted: false, selected: false },
];
const STREAM = { available: true, enabled: true, thumbnail_uri: null };
const CAPTIONS = {
  id: CAPTIONS_ID,
  flavor: { type: 'captions', subtype: 'source' },
  subtitle: 'WEBVTT\n\n00:01.000 --> 00:02.500\nGood morning.\n',
  tags: ['lang:en'],
};

export const EDIT_JSON_EXAMPLE: z.infer<typeof EditJson> = {
  title: 'Analysis I, lecture 1',
  date: '2026-01-12T09:00:00Z',
  duration: 2_700_000,
  series: { id: SERIES_ID, title: 'Analysis I' },
  segments: SEGMENTS,
  tracks: [
    {
      id: TRACK_ID,
      uri: `${FILES}/${TRACK_ID}/presenter-preview.mp4`,
      flavor: { type: 'presenter', subtype: 'preview' },
      audio_stream: STREAM,
      video_stream: STREAM,
      thumbnailUri: null,
      thumbnailPriority: 0,
    },
  ],
  workflows: [{ id: 'publish', name: 'Publish', description: 'Encodes the recording again.', displayOrder: 10 }],
  waveformURIs: [`${FILES}/${CAPTIONS_ID}/presenter-waveform.png`],
  subtitles: [CAPTIONS],
  chapters: [],
  workflow_active: false,
  locking_active: true,
  lock_refresh: 60_000,
  lock_uuid: '0b1d9c3e-6f1a-4c70-9a52-3f0e5d7c8a11',
  lock_user: 'ada',
  local: true,
  customizedTrackSelection: false,
  metadataJSON: '',
};

export const EDIT_REQUEST_EXAMPLE: z.infer<typeof EditRequest> = {
  segments: SEGMENTS,
  tracks: [{ id: TRACK_ID, audio_stream: { enabled: true }, video_stream: { enabled: true } }],
  customizedTrackSelection: false,
  subtitles: [CAPTIONS],
  workflows: [{ id: 'publish' }],
};

export const METADATA_EXAMPLE = EVENT_CATALOGS.map((catalog) => {
  return { ...catalog, fields: catalog.fields.filter(({ id }) => id !== 'subjects') };
});
