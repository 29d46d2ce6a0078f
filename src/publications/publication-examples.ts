import { EXAMPLE_URL } from '#platform/http/endpoint/endpoint-schemas.ts';

export const PUBLICATION_ID = '9a6c2f54-1f0a-4c39-b7d5-2e8d4f6a1c03';

const FILES = `${EXAMPLE_URL}/publications/${PUBLICATION_ID}`;
export const CHECKSUM = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 (sha256)';

export const PUBLICATION = {
  id: PUBLICATION_ID,
  channel: 'engage-player',
  mediatype: 'text/html',
  url: `${EXAMPLE_URL}/watch/${PUBLICATION_ID}`,
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
