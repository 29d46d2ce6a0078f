/** Identifiers that belong together throughout the examples. */
export const EVENT_ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';
export const NEXT_EVENT_ID = 'c2a7e5d0-3f64-4b18-9d25-7e1b8a6f0c94';
export const SERIES_ID = '4fd0a1b2-91f4-4a55-9d0e-6f8f0a7c3b12';
export const PUBLICATION_ID = '9a6c2f54-1f0a-4c39-b7d5-2e8d4f6a1c03';
export const TRACK_ID = '5d2e8b71-64c3-4e0f-9a1b-c7f0d3a95e48';
export const AGENT_ID = 'room-1';
export const BASE_URL = 'https://inlet.example.org';

export const ACL = [
  { allow: true, action: 'read', role: 'ROLE_STUDENT' },
  { allow: true, action: 'write', role: 'ROLE_LECTURER' },
];

const fieldOf = (prefix: string) => (id: string, label: string, type: string, value: string | string[]) => ({
  id,
  label: `${prefix}${label}`,
  value,
  type,
  readOnly: false,
  required: id === 'title',
});
const eventField = fieldOf('EVENTS.EVENTS.DETAILS.METADATA.');
const seriesField = fieldOf('EVENTS.SERIES.DETAILS.METADATA.');

export const EVENT_FIELDS = [
  eventField('title', 'TITLE', 'text', 'Analysis I, lecture 1'),
  eventField('subjects', 'SUBJECT', 'text', ['Mathematics']),
  eventField('description', 'DESCRIPTION', 'text_long', 'Real numbers and sequences'),
  eventField('creator', 'PRESENTERS', 'mixed_text', ['Emmy N.']),
];

export const EVENT_CATALOGS = [
  {
    flavor: 'dublincore/episode',
    title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
    label: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
    fields: EVENT_FIELDS,
  },
];

export const SERIES_FIELDS = [
  seriesField('title', 'TITLE', 'text', 'Analysis I'),
  seriesField('subjects', 'SUBJECT', 'text', ['Mathematics']),
  seriesField('creator', 'ORGANIZERS', 'mixed_text', ['Institute of Mathematics']),
];

export const SERIES_CATALOGS = [
  {
    flavor: 'dublincore/series',
    title: 'Opencast Series DublinCore',
    label: 'Opencast Series DublinCore',
    fields: SERIES_FIELDS,
  },
];

/** What a client sends of metadata, from what it reads. */
export function sent(fields: readonly { id: string; value: unknown }[]) {
  return fields.map(({ id, value }) => ({ id, value }));
}

export const EVENT = {
  identifier: EVENT_ID,
  title: 'Analysis I, lecture 1',
  description: 'Real numbers and sequences',
  presenter: ['Emmy N.'],
  contributor: [],
  creator: 'Video Team',
  subjects: ['Mathematics'],
  language: 'eng',
  rightsholder: 'University of Example',
  license: 'CC-BY',
  location: 'Room 1',
  source: '',
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

const FILES = `${BASE_URL}/publications/${PUBLICATION_ID}`;
const CHECKSUM = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 (sha256)';

export const PUBLICATION = {
  id: PUBLICATION_ID,
  channel: 'engage-player',
  mediatype: 'text/html',
  url: `${BASE_URL}/watch/${PUBLICATION_ID}`,
  media: [
    {
      id: '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed',
      mediatype: 'video/mp4',
      url: `${FILES}/1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed/presenter.mp4`,
      flavor: 'presenter/delivery',
      size: 734_003_200,
      checksum: CHECKSUM,
      tags: ['engage-download'],
      has_audio: true,
      has_video: true,
      duration: 5_400_000,
      description: '',
      bitrate: 1_087_412,
      framerate: 25,
      framecount: 135_000,
      width: 1920,
      height: 1080,
      is_master_playlist: false,
      is_live: false,
    },
  ],
  attachments: [
    {
      id: '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b',
      mediatype: 'image/jpeg',
      url: `${FILES}/6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b/cover.jpg`,
      flavor: 'presenter/player+preview',
      ref: 'track:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed',
      size: 48_213,
      checksum: CHECKSUM,
      tags: ['engage-download'],
    },
  ],
  metadata: [
    {
      id: '3f333df6-90a4-4fda-8dd3-9485d27cee36',
      mediatype: 'text/xml',
      url: `${FILES}/3f333df6-90a4-4fda-8dd3-9485d27cee36/episode.xml`,
      flavor: 'dublincore/episode',
      size: 1204,
      checksum: CHECKSUM,
      tags: [],
    },
  ],
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
  uri: `${BASE_URL}/api/events/${EVENT_ID}/media/${TRACK_ID}`,
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

export const SERIES = {
  identifier: SERIES_ID,
  title: 'Analysis I',
  description: 'Lectures of the winter term',
  creator: 'video-team',
  created: '2026-09-01T10:00:00Z',
  subjects: ['Mathematics'],
  contributors: [],
  organizers: ['Institute of Mathematics'],
  publishers: [],
  language: 'eng',
  license: 'CC-BY',
  rightsholder: 'University of Example',
};

export const WORKFLOW = {
  identifier: 42,
  title: 'Process upon upload',
  description: '',
  workflow_definition_identifier: 'schedule-and-upload',
  event_identifier: EVENT_ID,
  creator: 'video-team',
  state: 'paused',
};

export const AGENT = {
  agent_id: AGENT_ID,
  status: 'idle',
  inputs: ['camera', 'screen'],
  update: '2026-10-12T08:15:00Z',
  url: 'http://room-1.example.org:8000',
};

export const SCHEDULING = {
  agent_id: AGENT_ID,
  start: '2026-10-12T08:15:00Z',
  end: '2026-10-12T09:45:00Z',
  inputs: ['camera', 'screen'],
};

export const CONFLICTS = [
  { start: '2026-10-12T09:00:00Z', end: '2026-10-12T10:30:00Z', title: 'Algebra I, lecture 1' },
];
