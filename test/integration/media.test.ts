import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mediaStreams } from '../../src/media/streams.ts';
import { objectKey } from '../../src/storage/keys.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bytes, sha256 } from '../support/bytes.ts';
import { insertEvent } from '../support/publication.ts';
import { startTestWorkflow } from '../support/workflows.ts';

const content = bytes(5000);
const STREAMS = mediaStreams({
  streams: [
    {
      index: 0,
      codec_type: 'video',
      codec_name: 'h264',
      width: 1280,
      height: 720,
      avg_frame_rate: '25/1',
      nb_frames: '250',
      bit_rate: '800000',
    },
    { index: 1, codec_type: 'audio', codec_name: 'aac', channels: 2, sample_rate: '48000' },
    { index: 2, codec_type: 'audio', codec_name: 'aac', channels: 1 },
  ],
});

let app: TestApp;
let event: string;
let track: string;
beforeAll(async () => {
  app = await createTestApp();
  event = await insertEvent(app.database);
  track = await insertTrack({
    position: 0,
    duration: 10_000,
    has_audio: true,
    has_video: true,
    streams: JSON.stringify(STREAMS),
    tags: ['lang:de'],
  });
  await insertTrack({ position: 1, flavor: 'presentation/source' });
  const reader = { event_id: event, position: 0, role: 'ROLE_A', action: 'read', allow: true };
  await app.database.insertInto('event_acl').values(reader).execute();
});
afterAll(() => app?.close());

async function insertTrack(values: object): Promise<string> {
  const id = randomUUID();
  const object_key = objectKey('track');
  await app.storage.put(object_key, Readable.from([content]), { mediatype: 'video/mp4' });
  await app.database
    .insertInto('tracks')
    .values({
      id,
      event_id: event,
      position: 0,
      flavor: 'presenter/source',
      filename: 'Lecture "Ä" 1.mp4',
      mediatype: 'video/mp4',
      object_key,
      size: content.length,
      sha256: sha256(content),
      ...values,
    })
    .execute();
  return id;
}

const media = (init: RequestInit = {}) => app.request(`/api/events/${event}/media`, init);

describe('GET /api/events/{id}/media', () => {
  test('tells of each track what is known of it', async () => {
    const answer = await media();
    expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
    const [inspected, fresh] = await answer.json();
    expect(inspected).toEqual({
      checksum: `${sha256(content)} (sha256)`,
      duration: 10_000,
      flavor: 'presenter/source',
      identifier: track,
      mimetype: 'video/mp4',
      size: 5000,
      has_video: true,
      has_audio: true,
      is_master_playlist: false,
      is_live: false,
      streams: {
        'video-1': {
          identifier: 'video-1',
          bitrate: 800_000,
          framecount: 250,
          frameheight: 720,
          framewidth: 1280,
          framerate: 25,
          format: 'h264',
          scantype: 'Progressive',
        },
        'audio-1': { identifier: 'audio-1', channels: 2, samplingrate: 48_000, format: 'aac' },
        'audio-2': { identifier: 'audio-2', channels: 1, format: 'aac' },
      },
      tags: ['lang:de'],
      uri: `http://inlet.test/api/events/${event}/media/${track}`,
    });
    expect(Object.keys(fresh).sort()).toEqual([
      'checksum',
      'flavor',
      'identifier',
      'is_live',
      'is_master_playlist',
      'mimetype',
      'size',
      'streams',
      'tags',
      'uri',
    ]);
  });

  test('a warning about a track is told with it and with the workflow, and only where there is one', async () => {
    const { workflowId, eventId } = await startTestWorkflow(app.database);
    await insertTrack({ event_id: eventId, position: 0 });
    await insertTrack({ event_id: eventId, position: 1, warnings: ['The file may be incomplete.'] });
    const [whole, cut] = await (await app.request(`/api/events/${eventId}/media`)).json();
    expect(whole).not.toHaveProperty('warnings');
    expect(cut).toHaveProperty('warnings', ['The file may be incomplete.']);
    const warnings = ['presenter/source: The file may be incomplete.'];
    expect(await (await app.request(`/api/workflows/${workflowId}`)).json()).toMatchObject({ warnings });
    const all = await app.request(`/admin/events/${eventId}/workflows`);
    expect(await all.json()).toMatchObject([{ warnings }]);
    const other = await startTestWorkflow(app.database);
    const sound = await (await app.request(`/api/workflows/${other.workflowId}`)).json();
    expect(sound).not.toHaveProperty('warnings');
  });

  test('before 1.7.0 does not tell what is seen and heard', async () => {
    const [inspected] = await (await media({ headers: { Accept: 'application/v1.6.0+json' } })).json();
    for (const name of ['has_video', 'has_audio', 'is_master_playlist', 'is_live'])
      expect(inspected).not.toHaveProperty(name);
    expect(inspected).toHaveProperty('duration', 10_000);
  });

  test('404 for an event that is not there or not to be read', async () => {
    const Authorization = await app.account('other', 'ROLE_API_EVENTS_MEDIA_VIEW', 'ROLE_B');
    const hidden = await media({ headers: { Authorization } });
    expect([hidden.status, await hidden.text()]).toEqual([404, `Cannot find an event with id '${event}'.`]);
    expect((await app.request(`/api/events/${randomUUID()}/media`)).status).toBe(404);
  });
});

describe('the address of a track', () => {
  const path = () => `/api/events/${event}/media/${track}`;

  test('gives its bytes, and parts of them, to whoever may see the media of the event', async () => {
    const Authorization = await app.account('reader', 'ROLE_API_EVENTS_MEDIA_VIEW', 'ROLE_A');
    const whole = await app.request(path(), { headers: { Authorization } });
    expect(whole.status).toBe(200);
    expect(whole.headers.get('Content-Type')).toBe('video/mp4');
    expect(whole.headers.get('Cache-Control')).toBe('private, no-cache');
    expect(whole.headers.get('Content-Disposition')).toBe(
      "attachment; filename*=UTF-8''Lecture%20%22%C3%84%22%201.mp4",
    );
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await app.request(path(), { headers: { Authorization, Range: 'bytes=-10' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(-10))).toBe(true);
  });

  test('is closed to others', async () => {
    const stranger = await app.account('stranger', 'ROLE_API_EVENTS_MEDIA_VIEW', 'ROLE_B');
    const unauthorized = await app.account('guest', 'ROLE_API_EVENTS_VIEW', 'ROLE_A');
    expect((await app.request(path(), { headers: { Authorization: stranger } })).status).toBe(404);
    expect((await app.request(path(), { headers: { Authorization: unauthorized } })).status).toBe(403);
    const elsewhere = await insertEvent(app.database);
    expect((await app.request(`/api/events/${elsewhere}/media/${track}`)).status).toBe(404);
    for (const id of [randomUUID(), 'x', '%00']) {
      expect((await app.request(`/api/events/${event}/media/${id}`)).status).toBe(404);
    }
  });
});
