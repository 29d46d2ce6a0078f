import { expect, test } from 'vitest';
import { CAPTIONS, elementUrl, type PublicationElement } from '#publications/publication.ts';
import { publishedElement } from '#test/support/publication.ts';
import type { FileAddress } from '../urls/relative-urls.ts';
import { clock } from './browser/clock.js';
import { captionChoices, type PublishedRecording, playerOf } from './player-media.ts';

const ADDRESS: FileAddress = (element) => elementUrl('..', element);

const media = (id: string, values: Partial<PublicationElement> = {}) =>
  publishedElement({ id, publication_id: 'p', filename: `${id}.mp4`, track: null, ...values });

function image(id: string, flavor: string, properties = {}): PublicationElement {
  const none = { has_audio: null, has_video: null, duration: null };
  return media(id, { ...none, kind: 'attachment', flavor, filename: `${id}.jpg`, properties });
}

function recording(...elements: PublicationElement[]): PublishedRecording {
  return {
    id: 'p',
    event_id: 'event',
    channel: 'engage-player',
    mediatype: 'text/html',
    published_at: new Date(),
    title: '',
    presenters: [],
    description: '',
    start_date: new Date(),
    duration: null,
    rights_holder: '',
    license: '',
    series_title: '',
    elements,
  };
}

/** Which are seen, which leads and which is heard, by identifier. */
function roles(...elements: PublicationElement[]) {
  const { screens = [], sound } = playerOf(recording(...elements), ADDRESS) ?? {};
  const played = [...screens, ...(sound ? [sound] : [])];
  const ids = (all: typeof played) => all.map(({ element }) => element.id).join(' ');
  return [ids(screens), ids(played.filter(({ leads }) => leads)), ids(played.filter(({ heard }) => heard))];
}

const SILENT = { has_audio: false };
const SOUND = { has_video: false, flavor: 'audio/delivery', mediatype: 'audio/mp4' };
const LONG_SILENT = media('long', { ...SILENT, duration: 90_000 });

test.each([
  ['equally long: the first with sound', [media('a', SILENT), media('b'), media('c')], 'a b c', 'b', 'b'],
  ['of nearly one length', [media('a', { ...SILENT, duration: 60_900 }), media('b')], 'a b', 'b', 'b'],
  ['the longest, so that all of it can be reached', [media('a'), LONG_SILENT], 'a long', 'long', 'a'],
  ['silent pictures and an audio track', [media('a', SILENT), media('s', SOUND)], 'a', 's', 's'],
  ['an audio track that pictures with sound leave out', [media('a'), media('s', SOUND)], 'a', 'a', 'a'],
  ['silent pictures alone', [media('a', SILENT)], 'a', 'a', ''],
  ['media of unknown duration', [media('a', { duration: null })], 'a', 'a', 'a'],
])('of the media of a recording one leads and one is heard: %s', (_, elements, screens, leads, heard) => {
  expect(roles(...elements)).toEqual([screens, leads, heard]);
});

test('a recording lasts as long as its longest medium, and without media there is no player', () => {
  expect(playerOf(recording(media('a'), LONG_SILENT), ADDRESS)?.duration).toBe(90_000);
  expect(playerOf(recording(image('i', 'presenter/player+preview')), ADDRESS)).toBeUndefined();
});

test('a track plays its playlist, or its best rendition, and names all of them', () => {
  const list = media('l', { track: 0, filename: 'a.m3u8', mediatype: 'application/x-mpegURL' });
  const best = media('a', { track: 0, width: 1280, height: 720, bit_rate: 2_000_000 });
  const lower = media('b', { track: 0, width: 640, height: 360, bit_rate: 400_000 });
  const early = media('c', { track: 1, has_audio: false });
  const player = playerOf(recording(best, lower, list, early), ADDRESS);
  expect(player?.screens.map(({ element, playlistUrl }) => [element.id, playlistUrl])).toEqual([
    ['a', '../publications/p/l/a.m3u8'],
    ['c', undefined],
  ]);
  expect(player?.screens[0]?.renditions).toEqual([
    { url: '../publications/p/a/a.mp4', quality: 720, label: '720p', bitRate: 2_000_000 },
    { url: '../publications/p/b/b.mp4', quality: 360, label: '360p', bitRate: 400_000 },
  ]);
});

test('sound alone leads itself, in front of its waveform', () => {
  const waveform = image('w', 'audio/waveform');
  const player = playerOf(recording(media('s', SOUND), waveform), ADDRESS);
  expect(player?.screens).toEqual([]);
  expect(player?.sound).toMatchObject({ leads: true, heard: true });
  expect(player?.imageUrl).toBe('../publications/p/w/w.jpg');
});

test('each screen has its own poster, and the timeline is that of the leader', () => {
  const tiles = { columns: 10, rows: 2, tileWidth: 160, tileHeight: 90 };
  const properties = { imageCount: 12, ...tiles, intervalMs: 1000 };
  const player = playerOf(
    recording(
      media('a', SILENT),
      media('b', { flavor: 'presentation/delivery' }),
      image('ta', 'presenter/timeline+preview', properties),
      image('tb', 'presentation/timeline+preview', properties),
      image('pb', 'presentation/player+preview'),
      image('pa', 'presenter/player+preview'),
    ),
    ADDRESS,
  );
  expect(player?.screens.map(({ posterUrl }) => posterUrl)).toEqual([
    '../publications/p/pa/pa.jpg',
    '../publications/p/pb/pb.jpg',
  ]);
  expect(player?.timeline).toEqual({ ...properties, url: '../publications/p/tb/tb.jpg' });
});

test('a timeline that is not described is not used', () => {
  const broken = image('t', 'presenter/timeline+preview', { imageCount: 0, columns: 1 });
  expect(playerOf(recording(media('a'), broken), ADDRESS)?.timeline).toBeUndefined();
});

/** The choices among captions with these tags. */
function choices(...tags: string[][]) {
  const captions = tags.map((each, i) =>
    media(`c${i}`, { kind: 'attachment', flavor: CAPTIONS, filename: 'c.vtt', tags: each }),
  );
  return captionChoices({ elements: captions }, ADDRESS);
}

test.each([
  [['lang:de'], 'de', 'Deutsch'],
  [['subtitle', 'lang:fr', 'generator-type:auto'], 'fr', 'Français (automatic)'],
  [['lang:deu'], 'de', 'Deutsch'],
  [['lang:en_gb'], 'en-GB', 'British English'],
  [['lang:en-x-auto'], 'en', 'English'],
  [['lang:de-u-co-phonebk'], 'de', 'Deutsch'],
  [['lang:en-t-de'], 'en', 'English'],
  [['lang:en-US-x-whisper'], 'en-US', 'American English'],
  [['lang:x-auto'], undefined, 'Captions'],
  [['lang:not a language'], undefined, 'Captions'],
  [['lang:'], undefined, 'Captions'],
  [[], undefined, 'Captions'],
])('captions tagged %j are in %s and called %s', (tags, language, label) => {
  expect(choices(tags)).toEqual([{ url: '../publications/p/c0/c.vtt', language, label }]);
});

test('no two choices of captions have the same name', () => {
  const labels = choices(['lang:de'], ['lang:de'], [], []).map(({ label }) => label);
  expect(labels).toEqual(['Deutsch', 'Deutsch 2', 'Captions', 'Captions 2']);
});

test.each([
  [0, '0:00'],
  [7.9, '0:07'],
  [60, '1:00'],
  [754, '12:34'],
  [3600, '1:00:00'],
  [3723, '1:02:03'],
  [36_000, '10:00:00'],
  [-1, '0:00'],
  [Number.NaN, '0:00'],
  [Number.POSITIVE_INFINITY, '0:00'],
])('%d seconds are shown as %s', (seconds, text) => {
  expect(clock(seconds)).toBe(text);
});
