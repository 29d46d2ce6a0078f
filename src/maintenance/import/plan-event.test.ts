import { describe, expect, test } from 'vitest';
import { EPISODE } from '#metadata/episode-fields.ts';
import { planEvent } from './plan-event.ts';
import { SourceEvent, SourceTrack } from './source.schemas.ts';

const catalogs = {
  resource: 'event',
  common: EPISODE,
  extended: [],
  all: [EPISODE],
  find: (flavor: string) => (flavor === EPISODE.flavor ? EPISODE : undefined),
} as unknown as Parameters<typeof planEvent>[2]['catalogs'];
const SOURCE = 'https://old.example.org';
const UUID = '0f5f2c3a-1b2c-4d5e-8f90-123456789abc';
const plan = (event: object, tracks: object[] = []) =>
  planEvent(
    SourceEvent.parse({ identifier: 'event-1', processing_state: 'SUCCEEDED', ...event }),
    tracks.map((track) => SourceTrack.parse(track)),
    { catalogs, source: SOURCE, now: new Date('2026-01-01T00:00:00Z') },
  );
const media = (id: string, more = {}) => ({
  ...{ id, mediatype: 'video/mp4', url: `/static/${id}/a%20b.mp4`, flavor: 'presenter/delivery', size: 5, tags: [] },
  ...more,
});
const published = (...files: object[]) => ({ publications: [{ id: 'p', channel: 'engage-player', media: files }] });
const track = (id: string, flavor: string, duration: number) => ({
  ...{ identifier: id, flavor, mimetype: 'video/mp4', uri: `/assets/${id}.mp4`, duration, streams: {} },
});

describe('times', () => {
  const fields = (values: Record<string, string>) => ({
    metadata: [{ flavor: EPISODE.flavor, fields: Object.entries(values).map(([id, value]) => ({ id, value })) }],
  });

  test('are those of the catalog, which has milliseconds', () => {
    const { columns } = plan({
      ...{ start: '2024-05-02T08:00:00Z', created: '2024-05-02T08:00:00Z', duration: 61_500 },
      ...fields({ startDate: '2024-05-02T08:00:00.250Z', created: '2024-05-01T00:00:00.125Z', duration: '00:01:01' }),
    });
    expect([columns.start_date, columns.created, columns.duration]).toEqual([
      new Date('2024-05-02T08:00:00.250Z'),
      new Date('2024-05-01T00:00:00.125Z'),
      61_500,
    ]);
  });

  test('are those of the list if the catalog has none', () => {
    const { columns } = plan({ start: '2024-05-02T08:00:00Z', created: '2024-05-01T08:00:00Z' });
    expect([columns.start_date, columns.created, columns.duration]).toEqual([
      new Date('2024-05-02T08:00:00Z'),
      new Date('2024-05-01T08:00:00Z'),
      null,
    ]);
  });

  test('of a recording are not those of its schedule, which old servers list', () => {
    expect(plan({ duration: 7_200_000, ...fields({ duration: '01:30:00' }) }).columns.duration).toBe(5_400_000);
  });
});

describe('files', () => {
  test('keep identifiers that are UUIDs; others are derived, and stay the same', () => {
    const elements = () => plan(published(media(UUID), media('track-7'), media(UUID))).publications[0]?.elements ?? [];
    const [first, second, third] = elements().map(({ id }) => id);
    expect(first).toBe(UUID);
    expect(new Set([first, second, third])).toHaveProperty('size', 3);
    expect(elements().map(({ id }) => id)).toEqual([first, second, third]);
    expect(elements().map(({ filename, path }) => [filename, path])[0]).toEqual([
      'a_b.mp4',
      `/static/${UUID}/a%20b.mp4`,
    ]);
  });

  test('keep derived identifiers when their addresses are signed again', () => {
    const idsOf = (signature: string) => {
      const signed = (url: string) => `${url}?policy=a&signature=${signature}`;
      const element = media('track-7', { url: signed('/static/a.mp4') });
      const source = { ...track('track-1', 'presenter/source', 1), uri: signed('/assets/a.mp4') };
      const { tracks, publications } = plan(published(element, element), [source]);
      return [...tracks, ...publications.flatMap(({ elements }) => elements)].map(({ id }) => id);
    };
    expect(idsOf('first')).toEqual(idsOf('second'));
    expect(new Set(idsOf('first')).size).toBe(3);
  });

  test('know their track by flavor and duration, pictures by reference', () => {
    const picture = { ...media('i', { mediatype: 'image/jpeg', flavor: 'presenter/player+preview', ref: 'track:b' }) };
    const event = published(media('a', { duration: 1000 }), media('b', { duration: 2000 }));
    const { publications } = plan({ publications: [{ ...event.publications[0], attachments: [picture] }] }, [
      track('x', 'presenter/source', 2000),
      track('y', 'presenter/source', 1000),
      track('z', 'presentation/source', 1),
    ]);
    expect(publications[0]?.elements.map((element) => element.track)).toEqual([1, 0, 0]);
  });

  test('make the best published one the track of an event without tracks', () => {
    const { tracks } = plan(
      published(media('a', { width: 320, height: 180 }), media('b', { width: 1280, height: 720 })),
    );
    expect(tracks).toMatchObject([{ flavor: 'presenter/source', path: '/static/b/a%20b.mp4', streams: null }]);
  });

  test.each([
    ['aaaabbbbccccddddaaaabbbbccccdddd (md5)', { algorithm: 'md5', hex: 'aaaabbbbccccddddaaaabbbbccccdddd' }],
    [`${'A'.repeat(64)} (SHA-256)`, { algorithm: 'sha256', hex: 'a'.repeat(64) }],
    ['', undefined],
    ['zz (md5)', undefined],
    [`${'a'.repeat(64)} (crc)`, undefined],
  ])('have the checksum %j', (checksum, expected) => {
    expect(plan(published(media('a', { checksum, size: -1 }))).publications[0]?.elements[0]).toMatchObject({
      checksum: expected,
      size: undefined,
    });
  });
});

test('an access control list keeps an entry that the source lists twice once', () => {
  const read = { allow: true, action: 'read', role: 'ROLE_STUDENT' };
  const write = { ...read, action: 'write' };
  expect(plan({ acl: [read, write, read] }).acl).toEqual([read, write]);
});

test('streams of a streaming server are noted, and files beside them come along', () => {
  const { publications, notes } = plan(
    published(
      media('a', { url: 'rtmp://stream.example.org/engage/mp4:engage-player/1/a' }),
      media('b', {
        url: 'https://stream.example.org/engage/smil:engage-player_1_presenter.smil/playlist.m3u8',
        mediatype: 'application/x-mpegURL',
      }),
      media('c', { url: 'https://stream.example.org/c/manifest.mpd', mediatype: 'application/dash+xml' }),
      media('d'),
    ),
  );
  expect(publications[0]?.elements.map(({ path }) => path)).toEqual(['/static/d/a%20b.mp4']);
  expect(notes).toEqual(['The publication on the channel engage-player has streams of a streaming server.']);
});

test('live streams, and links to other sites, are noted', () => {
  const { publications, notes } = plan({
    publications: [
      { id: '1', channel: 'youtube', url: 'https://youtube.example/1' },
      { id: '2', channel: 'engage-live', media: [media('a')] },
    ],
  });
  expect([publications, notes]).toEqual([
    [],
    [
      'The publication on the channel youtube has no files at the source: it refers to https://youtube.example/1.',
      'The publication on the channel engage-live is a live stream.',
    ],
  ]);
});
