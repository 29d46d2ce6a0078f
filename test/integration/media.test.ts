import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { mediaStreams } from '#platform/media/streams.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { workerApp } from '../support/app.ts';
import { bytes, sha256, source } from '../support/bytes.ts';
import { giveAcl } from '../support/event-writes.ts';
import { insertEvent } from '../support/publication.ts';
import { ace } from '../support/series.ts';
import { startTestWorkflow } from '../support/workflows.ts';

const app = await workerApp();
const content = bytes(5000);
const PICTURES = { index: 0, codec_type: 'video', codec_name: 'h264', width: 1280, height: 720 };
const SOUND = { codec_type: 'audio', codec_name: 'aac' };
const STREAMS = mediaStreams({
  streams: [
    { ...PICTURES, avg_frame_rate: '25/1', nb_frames: '250', bit_rate: '800000' },
    { ...SOUND, index: 1, channels: 2, sample_rate: '48000' },
    { ...SOUND, index: 2, channels: 1 },
  ],
});

let event: string;
let track: string;
beforeAll(async () => {
  event = await insertEvent(app.database);
  track = await insertTrack({
    ...{ duration: 10_000, has_audio: true, has_video: true, tags: ['lang:de'] },
    streams: JSON.stringify(STREAMS),
  });
  await insertTrack({ position: 1, flavor: 'presentation/source' });
  await giveAcl(app, event, [ace('ROLE_A')]);
});

async function insertTrack(values: object): Promise<string> {
  const [id, object_key, mediatype] = [randomUUID(), objectKey('track'), 'video/mp4'];
  await app.storage.put(object_key, source(content), { mediatype });
  await app.database
    .insertInto('tracks')
    .values({
      ...{ id, event_id: event, position: 0, flavor: 'presenter/source', filename: 'Lecture "Ä" 1.mp4' },
      ...{ mediatype, object_key, size: content.length, sha256: sha256(content) },
      ...values,
    })
    .execute();
  return id;
}

const media = (headers = {}, path = '') => app.request(`/api/events/${event}/media${path}`, { headers });
const read = async (path: string) => (await app.request(path)).json();
/** The header of a new account. */
const as = async (...roles: string[]) => ({ Authorization: await app.account(randomUUID(), ...roles) });
const MEDIA = 'ROLE_API_EVENTS_MEDIA_VIEW';

describe('GET /api/events/{id}/media', () => {
  test('has what is known of each track', async () => {
    const answer = await media();
    expect(answer.headers.get('Content-Type')).toBe('application/v1.11.0+json');
    const [inspected, fresh] = await answer.json();
    const always = {
      ...{ checksum: `${sha256(content)} (sha256)`, flavor: 'presenter/source', identifier: track },
      ...{ mimetype: 'video/mp4', size: 5000, is_master_playlist: false, is_live: false, tags: ['lang:de'] },
      uri: `http://inlet.test/api/events/${event}/media/${track}`,
    };
    expect(inspected).toEqual({
      ...always,
      ...{ duration: 10_000, has_video: true, has_audio: true },
      streams: {
        'video-1': {
          ...{ identifier: 'video-1', bitrate: 800_000, framecount: 250, framerate: 25 },
          ...{ frameheight: 720, framewidth: 1280, format: 'h264', scantype: 'Progressive' },
        },
        'audio-1': { identifier: 'audio-1', channels: 2, samplingrate: 48_000, format: 'aac' },
        'audio-2': { identifier: 'audio-2', channels: 1, format: 'aac' },
      },
    });
    expect(Object.keys(fresh).sort()).toEqual([...Object.keys(always), 'streams'].sort());
  });

  test('has a warning about a track, as its workflow has, and only where one exists', async () => {
    const { workflowId, eventId } = await startTestWorkflow(app.database);
    await insertTrack({ event_id: eventId, position: 0 });
    await insertTrack({ event_id: eventId, position: 1, warnings: ['The file may be incomplete.'] });
    const [whole, cut] = await read(`/api/events/${eventId}/media`);
    expect(whole).not.toHaveProperty('warnings');
    expect(cut).toHaveProperty('warnings', ['The file may be incomplete.']);
    const warnings = ['presenter/source: The file may be incomplete.'];
    expect(await read(`/api/workflows/${workflowId}`)).toMatchObject({ warnings });
    expect(await read(`/admin/events/${eventId}/workflows`)).toMatchObject([{ warnings }]);
    const other = await startTestWorkflow(app.database);
    expect(await read(`/api/workflows/${other.workflowId}`)).not.toHaveProperty('warnings');
  });

  test('before 1.7.0 does not have what is seen and heard', async () => {
    const [inspected] = await (await media({ Accept: 'application/v1.6.0+json' })).json();
    for (const name of ['has_video', 'has_audio', 'is_master_playlist', 'is_live'])
      expect(inspected).not.toHaveProperty(name);
    expect(inspected).toHaveProperty('duration', 10_000);
  });

  test('404 for an event that does not exist or may not be read', async () => {
    const hidden = await media(await as(MEDIA, 'ROLE_B'));
    expect([hidden.status, await hidden.text()]).toEqual([404, `Cannot find an event with id '${event}'.`]);
    expect((await app.request(`/api/events/${randomUUID()}/media`)).status).toBe(404);
  });
});

describe('the address of a track', () => {
  test('gives its bytes, and parts of them, to accounts that may see the media of the event', async () => {
    const reader = await as(MEDIA, 'ROLE_A');
    const whole = await media(reader, `/${track}`);
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'cache-control': 'private, no-cache',
      'content-disposition': "attachment; filename*=UTF-8''Lecture%20%22%C3%84%22%201.mp4",
    });
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await media({ ...reader, Range: 'bytes=-10' }, `/${track}`);
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(-10))).toBe(true);
  });

  test('is closed to others, and to other addresses', async () => {
    expect((await media(await as(MEDIA, 'ROLE_B'), `/${track}`)).status).toBe(404);
    expect((await media(await as('ROLE_API_EVENTS_VIEW', 'ROLE_A'), `/${track}`)).status).toBe(403);
    const elsewhere = await insertEvent(app.database);
    expect((await app.request(`/api/events/${elsewhere}/media/${track}`)).status).toBe(404);
    for (const id of [randomUUID(), 'x', '%00']) expect((await media({}, `/${id}`)).status).toBe(404);
  });
});
