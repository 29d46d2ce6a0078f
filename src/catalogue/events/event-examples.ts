import { exampleOf } from '#metadata/core-fields.ts';
import { EPISODE, EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { exampleCatalog, exampleFields } from '#metadata/metadata-declarations.ts';
import { EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';
import { EVENT_ID } from '#processing/workflow-examples.ts';
import { CHECKSUM } from '#publications/publication-examples.ts';

export { EVENT_ID };
export const NEXT_EVENT_ID = 'c2a7e5d0-3f64-4b18-9d25-7e1b8a6f0c94';
export const SERIES_ID = '4fd0a1b2-91f4-4a55-9d0e-6f8f0a7c3b12';
export const TRACK_ID = '5d2e8b71-64c3-4e0f-9a1b-c7f0d3a95e48';

export const EVENT_FIELDS = exampleFields(EVENT_CORE_FIELDS, ['title', 'subjects', 'description', 'creator']);

export const EVENT_CATALOGS = [{ ...exampleCatalog(EPISODE), fields: EVENT_FIELDS }];

export const EVENT = {
  identifier: EVENT_ID,
  ...exampleOf(EVENT_CORE_FIELDS),
  creator: 'Video Team',
  is_part_of: SERIES_ID,
  series: 'Analysis I',
  created: '2026-10-12T08:15:00Z',
  start: '2026-10-12T08:15:00Z',
  duration: 5_400_000,
  processing_state: 'SUCCEEDED',
  status: 'EVENTS.EVENTS.STATUS.PROCESSED',
  publication_status: ['engage-player'],
  has_previews: true,
  archive_version: 1,
};

export const TRACK = {
  identifier: TRACK_ID,
  flavor: 'presenter/source',
  mimetype: 'video/mp4',
  size: 2_147_483_648,
  checksum: CHECKSUM,
  duration: 5_400_000,
  has_audio: true,
  has_video: true,
  is_master_playlist: false,
  is_live: false,
  tags: ['archive'],
  uri: `${EXAMPLE_URL}/api/events/${EVENT_ID}/media/${TRACK_ID}`,
  streams: {
    'video-1': {
      identifier: 'video-1',
      bitrate: 3_000_000,
      framecount: 135_000,
      frameheight: 1080,
      framewidth: 1920,
      framerate: 25,
      format: 'h264',
      scantype: 'Progressive',
    },
    'audio-1': { identifier: 'audio-1', channels: 2, samplingrate: 48_000, bitrate: 128_000, format: 'aac' },
  },
};
