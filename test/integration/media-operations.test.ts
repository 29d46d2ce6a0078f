import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '../../src/media/process.ts';
import { encode } from '../../workers/operations/encode.ts';
import { inspect } from '../../workers/operations/inspect.ts';
import { preview } from '../../workers/operations/preview.ts';
import { clip, clipFolder, testTools } from '../support/clips.ts';
import { createOperationBench, type OperationBench } from '../support/operation-context.ts';
import { insertPublication } from '../support/publication.ts';

let bench: OperationBench;
beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

const tracksOf = (eventId: string) =>
  bench.database
    .selectFrom('tracks')
    .selectAll()
    .where('event_id', '=', eventId)
    .orderBy('position')
    .execute();

const elementsOf = (eventId: string) =>
  bench.database
    .selectFrom('publication_elements')
    .selectAll()
    .where('event_id', '=', eventId)
    .orderBy('kind')
    .orderBy('position')
    .execute();

const durationOf = async (eventId: string) =>
  (
    await bench.database
      .selectFrom('events')
      .select('duration')
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow()
  ).duration;

/** Keys of all stored results, whoever they belong to. */
const storedElements = async () =>
  (await Array.fromAsync(bench.storage.list('element/'))).map(({ key }) => key);

async function bytesOf(key: string): Promise<Buffer> {
  return Buffer.from(await new Response(await bench.storage.get(key)).arrayBuffer());
}

/** Width and height of a stored picture, by ffprobe. */
async function sizeOf(key: string): Promise<string> {
  const path = join(clipFolder(), 'picture');
  await writeFile(path, await bytesOf(key));
  const args = ['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', path];
  const { output } = await runTool((await testTools()).ffprobe, args, { timeLimitMs: 60_000 });
  return output.toString().trim();
}

describe('inspect', () => {
  it('writes down what each track holds, and how long the longest is', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'presentation/source': await clip({ container: 'webm', seconds: 3, audio: false }),
      'presenter-audio/source': await clip({ container: 'wav', seconds: 2 }),
    });
    const fractions = await bench.perform(inspect, eventId);
    expect(fractions).toEqual([1 / 3, 2 / 3, 1]);
    expect(await tracksOf(eventId)).toMatchObject([
      {
        duration: 1000,
        has_audio: true,
        has_video: true,
        streams: [{ codec: 'h264', width: 320 }, { codec: 'aac' }],
      },
      { duration: 3000, has_audio: false, has_video: true, streams: [{ codec: 'vp8', frameRate: 25 }] },
      {
        duration: 2000,
        has_audio: true,
        has_video: false,
        streams: [{ codec: 'pcm_s16le', samplingRate: 48_000 }],
      },
    ]);
    expect(await durationOf(eventId)).toBe(3000);
  });

  it('fails for good on a track that is no recording, and writes nothing', async () => {
    const noise = join(clipFolder(), 'lecture.mp4');
    await writeFile(
      noise,
      Uint8Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 253),
    );
    const eventId = await bench.addEvent({ 'presenter/source': await clip(), 'presentation/source': noise });
    await expect(bench.perform(inspect, eventId)).rejects.toMatchObject({
      permanent: true,
      message: 'The file is not a recording: its bytes match no known media format.',
    });
    expect(await tracksOf(eventId)).toMatchObject([{ duration: null }, { duration: null }]);
    expect(await durationOf(eventId)).toBeNull();
  });
});

describe('encode', () => {
  it('prepares a playable file of each track, with what is known of it', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ container: 'mkv', seconds: 1 }),
      'presentation/source': await clip({ container: 'webm', seconds: 1, audio: false }),
      'presenter/other': await clip({ container: 'wav', seconds: 1 }),
    });
    const fractions = await bench.perform(encode, eventId);
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    const elements = await elementsOf(eventId);
    expect(elements).toMatchObject([
      {
        kind: 'media',
        publication_id: null,
        position: 0,
        flavor: 'presenter/delivery',
        filename: 'presenter.mp4',
        mediatype: 'video/mp4',
        tags: ['engage-download', 'engage-streaming', '240p-quality'],
        has_audio: true,
        has_video: true,
        width: 320,
        height: 240,
        frame_rate: 25,
        frame_count: 25,
      },
      {
        position: 1,
        flavor: 'presentation/delivery',
        filename: 'presentation.mp4',
        mediatype: 'video/mp4',
        has_audio: false,
        has_video: true,
        duration: 1000,
      },
      {
        position: 2,
        flavor: 'presenter/delivery',
        filename: 'presenter-3.m4a',
        mediatype: 'audio/mp4',
        tags: ['engage-download', 'engage-streaming'],
        has_audio: true,
        has_video: false,
        width: null,
        frame_rate: null,
      },
    ]);
    for (const { object_key, size, sha256, bit_rate } of elements) {
      const bytes = await bytesOf(object_key);
      expect(bytes.length).toBe(size);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      expect(bit_rate).toBeGreaterThan(1000);
    }
    expect(await bench.database.selectFrom('staging').selectAll().execute()).toEqual([]);
  });

  it('replaces what an earlier run prepared and leaves what is published', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 1 }) });
    await bench.perform(encode, eventId);
    const [published] = await elementsOf(eventId);
    const publication = await insertPublication(bench.database, eventId);
    await bench.database
      .updateTable('publication_elements')
      .set({ publication_id: publication })
      .where('event_id', '=', eventId)
      .execute();
    await bench.perform(encode, eventId);
    const prepared = (await elementsOf(eventId)).find(({ publication_id }) => publication_id === null);
    await bench.perform(encode, eventId);

    const left = (await elementsOf(eventId)).map(({ object_key }) => object_key);
    expect(left).toHaveLength(2);
    expect(left).toContain(published?.object_key);
    expect(left).not.toContain(prepared?.object_key);
    const released = await bench.database.selectFrom('staging').select(['object_key', 'owner']).execute();
    expect(released).toEqual([{ object_key: prepared?.object_key, owner: null }]);
  });

  it('leaves no object behind when it is aborted', async () => {
    const before = await storedElements();
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'presentation/source': await clip({
        container: 'mkv',
        seconds: 20,
        video: { size: '1280x720', codec: 'mpeg4' },
        audio: false,
      }),
    });
    const controller = new AbortController();
    const started = bench.perform(encode, eventId, {
      signal: controller.signal,
      configuration: { preset: 'veryslow' },
    });
    // The first track is stored by then, and the second one takes its time.
    await expect
      .poll(async () => (await storedElements()).length, { timeout: 20_000 })
      .toBe(before.length + 1);
    controller.abort(new Error('the worker stops'));
    await expect(started).rejects.toThrow('the worker stops');
    expect(await storedElements()).toEqual(before);
    expect(await elementsOf(eventId)).toEqual([]);
  });
});

describe('preview', () => {
  it('makes poster, thumbnail and timeline of pictures, and a waveform of sound alone', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({
        seconds: 3,
        video: { size: '1920x1080', rate: 10, filter: 'fade=in:st=0:d=2' },
      }),
      'presenter-audio/source': await clip({ container: 'mp3', seconds: 1 }),
    });
    expect((await bench.perform(preview, eventId)).at(-1)).toBe(1);
    const elements = await elementsOf(eventId);
    expect(elements).toMatchObject([
      {
        kind: 'attachment',
        position: 0,
        flavor: 'presenter/player+preview',
        filename: 'presenter-poster.jpg',
        mediatype: 'image/jpeg',
      },
      { position: 1, flavor: 'presenter/search+preview', filename: 'presenter-thumbnail.jpg' },
      {
        position: 2,
        flavor: 'presenter/timeline+preview',
        filename: 'presenter-timeline.jpg',
        properties: { imageCount: 3, columns: 3, rows: 1, tileWidth: 160, tileHeight: 90, intervalMs: 1000 },
      },
      {
        position: 3,
        flavor: 'presenter-audio/waveform',
        filename: 'presenter-audio-waveform.png',
        mediatype: 'image/png',
      },
    ]);
    const sizes = await elements.reduce<Promise<string[]>>(
      async (before, { object_key }) => [...(await before), await sizeOf(object_key)],
      Promise.resolve([]),
    );
    expect(sizes).toEqual(['mjpeg,1280,720', 'mjpeg,320,180', 'mjpeg,480,90', 'png,1920,240']);
  });

  it('does not show a black frame where it finds another', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 4, video: { filter: 'fade=in:st=1.5:d=0.1' } }),
    });
    await bench.perform(preview, eventId);
    const thumbnail = (await elementsOf(eventId)).find(({ flavor }) => flavor === 'presenter/search+preview');
    const path = join(clipFolder(), 'thumbnail.jpg');
    await writeFile(path, await bytesOf(thumbnail?.object_key ?? ''));
    const grey = ['-i', path, '-vf', 'scale=1:1,format=gray', '-f', 'rawvideo', 'pipe:1'];
    const { output } = await runTool((await testTools()).ffmpeg, ['-v', 'error', ...grey], {
      timeLimitMs: 60_000,
    });
    expect(output[0]).toBeGreaterThan(60);
  });

  it.each([
    ['half a second', { seconds: 0.5 }],
    [
      'a single frame',
      {
        container: 'mov',
        audio: false,
        video: { codec: 'mjpeg', options: ['-frames:v', '1', '-pix_fmt', 'yuvj420p'] },
      },
    ],
    ['a recording made live', { container: 'webm', seconds: 2, options: ['-live', '1'] }],
    ['a portrait', { seconds: 1, video: { size: '240x426' } }],
  ] as const)('makes do with %s', async (_what, options) => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip(structuredClone(options) as object),
    });
    await bench.perform(preview, eventId);
    const pictures = await elementsOf(eventId);
    expect(pictures.map(({ flavor }) => flavor)).toEqual([
      'presenter/player+preview',
      'presenter/search+preview',
      'presenter/timeline+preview',
    ]);
    for (const { size } of pictures) expect(size).toBeGreaterThan(300);
  });

  it('seeks in long recordings', async () => {
    const long = await clip({
      seconds: 45,
      video: { size: '64x48', rate: 10, options: ['-g', '10'] },
      audio: false,
    });
    const eventId = await bench.addEvent({ 'presenter/source': long });
    await bench.perform(preview, eventId);
    const timeline = (await elementsOf(eventId)).find(
      ({ flavor }) => flavor === 'presenter/timeline+preview',
    );
    expect(timeline?.properties).toMatchObject({ imageCount: 45, columns: 10, rows: 5, intervalMs: 1000 });
    expect(await sizeOf(timeline?.object_key ?? '')).toBe('mjpeg,640,240');
  });

  it('looks at the prepared media rather than at what the client sent', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ container: 'webm', seconds: 1 }),
    });
    await bench.perform(encode, eventId);
    await bench.storage.remove((await tracksOf(eventId)).map(({ object_key }) => object_key));
    await bench.perform(preview, eventId);
    expect((await elementsOf(eventId)).map(({ kind }) => kind)).toEqual([
      'attachment',
      'attachment',
      'attachment',
      'media',
    ]);
  });
});

describe('an event without tracks', () => {
  it.each([inspect, encode, preview])('gives $name nothing to do', async (operation) => {
    const eventId = await bench.addEvent({});
    await bench.perform(operation, eventId);
    expect(await elementsOf(eventId)).toEqual([]);
    expect(await durationOf(eventId)).toBeNull();
  });
});
