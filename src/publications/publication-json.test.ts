import { expect, test } from 'vitest';
import { publishedElement as element } from '#test/support/publication.ts';
import type { Publication, PublicationElement } from './publication.ts';
import { publicationJson } from './publication-json.ts';

const { publication_id: PUBLICATION_ID, sha256: SHA256 } = element();

function publication(...elements: PublicationElement[]): Publication {
  return {
    id: String(PUBLICATION_ID),
    event_id: 'event',
    channel: 'engage-player',
    mediatype: 'text/html',
    published_at: new Date(),
    elements,
  };
}

const NO_MEDIA = {
  ...{ has_audio: null, has_video: null, duration: null, width: null, height: null, bit_rate: null },
  tags: [],
};
/** @param type the media type */
const withoutMedia = (kind: string, flavor: string, type: string, filename: string) => ({
  ...NO_MEDIA,
  ...{ kind, flavor, mediatype: type, filename },
});
const POSTER = withoutMedia('attachment', 'presenter/player+preview', 'image/jpeg', 'poster.jpg');
const options = { publicUrl: 'https://inlet.example', version: '1.11.0' } as const;
const file = { size: 1234, checksum: `${SHA256} (sha256)` };
const base = `https://inlet.example/publications/${PUBLICATION_ID}`;

test('a publication has exactly the keys of the contract', () => {
  const catalog = withoutMedia('metadata', 'dublincore/episode', 'text/xml', 'dublincore.xml');
  const elements = [element({}), element({ ...POSTER, id: 'a1' }), element({ ...catalog, id: 'm1' })];
  const json = publicationJson(publication(...elements), options);
  expect(json).toEqual({
    id: PUBLICATION_ID,
    channel: 'engage-player',
    mediatype: 'text/html',
    url: `https://inlet.example/watch/${PUBLICATION_ID}`,
    media: [
      {
        id: 'e1',
        mediatype: 'video/mp4',
        url: `${base}/e1/presenter.mp4`,
        flavor: 'presenter/delivery',
        ...file,
        tags: ['engage-download'],
        has_audio: true,
        has_video: true,
        duration: 60_000,
        description: '',
        bitrate: 800_000,
        framerate: 25,
        framecount: 1500,
        width: 1280,
        height: 720,
        is_master_playlist: false,
        is_live: false,
      },
    ],
    attachments: [
      {
        id: 'a1',
        mediatype: 'image/jpeg',
        url: `${base}/a1/poster.jpg`,
        flavor: 'presenter/player+preview',
        ref: 'track:e1',
        ...file,
        tags: [],
      },
    ],
    metadata: [
      {
        id: 'm1',
        mediatype: 'text/xml',
        url: `${base}/m1/dublincore.xml`,
        flavor: 'dublincore/episode',
        ...file,
        tags: [],
      },
    ],
  });
});

test('playlist and live flags appear from 1.7.0 on', () => {
  const keys = (version: '1.6.0' | '1.7.0') =>
    Object.keys(publicationJson(publication(element({})), { ...options, version }).media[0] ?? {});
  expect(keys('1.6.0')).not.toContain('is_live');
  expect(keys('1.7.0')).toEqual([...keys('1.6.0'), 'is_master_playlist', 'is_live']);
});

test('media without a picture has no keys about one', () => {
  const audio = element({ has_video: false, mediatype: 'audio/mp4' });
  const [media] = publicationJson(publication(audio), options).media;
  expect(media).not.toHaveProperty('width');
  expect(media).toMatchObject({ has_audio: true, has_video: false });
});

test('an attachment refers to the media it was made of, and to none in doubt', () => {
  const poster = element({ ...POSTER, id: 'p1' });
  const poster2 = element({ ...POSTER, id: 'p2' });
  const waveform = element({ ...POSTER, id: 'w', flavor: 'presenter/waveform' });
  const [first, second] = [element({ id: 'e1' }), element({ id: 'e2' })];
  const audio = element({ id: 'e3', has_video: false });
  const presentation = element({ id: 'e4', flavor: 'presentation/delivery' });
  const refs = (...elements: PublicationElement[]) =>
    publicationJson(publication(...elements), options).attachments.map(({ ref }) => ref);
  expect(refs(poster)).toEqual(['']);
  expect(refs(poster, presentation)).toEqual(['']);
  expect(refs(poster, first, second)).toEqual(['']);
  expect(refs(poster, presentation, first)).toEqual(['track:e1']);
  expect(refs(audio, first, second, poster, poster2, waveform)).toEqual(['track:e1', 'track:e2', 'track:e3']);
});

test('captions are listed among the media, after what is seen and heard, and not among the attachments', () => {
  const captions = withoutMedia('attachment', 'captions/delivery', 'text/vtt', 'captions-de.vtt');
  const german = element({ ...captions, id: 'c1', tags: ['lang:de'] });
  const elements = [german, element({}), element({ ...POSTER, id: 'i1' })];
  const { media, attachments } = publicationJson(publication(...elements), options);
  expect(media.map(({ id }) => id)).toEqual(['e1', 'c1']);
  expect(media[1]).toEqual({
    id: 'c1',
    mediatype: 'text/vtt',
    url: `${base}/c1/captions-de.vtt`,
    flavor: 'captions/delivery',
    ...file,
    tags: ['lang:de'],
    has_audio: false,
    has_video: false,
    duration: null,
    description: '',
    is_master_playlist: false,
    is_live: false,
  });
  expect(attachments.map(({ id }) => id)).toEqual(['i1']);
});
