import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { bytes, source, sha256 as sumOf } from '#test/support/bytes.ts';
import { clip, clipFolder, testTools } from '#test/support/clips.ts';
import { createOperationBench } from '#test/support/operation-context.ts';
import { insertPublication } from '#test/support/publication.ts';
import { captions } from './captions.ts';
import { cut } from './cut.ts';
import { encode, encodeWith } from './encode.ts';
import { inspect } from './inspect.ts';
import type { Operation } from './operation.ts';
import { preview } from './preview.ts';
import { publish } from './publish.ts';

const bench = await createOperationBench();
const { database, tracksOf } = bench;
afterAll(() => bench.close());

async function perform(eventId: string, ...operations: Operation[]): Promise<void> {
  for (const operation of operations) await bench.perform(operation, eventId);
}
const updateTracks = (eventId: string, values: Record<string, unknown>, ...positions: number[]) =>
  database
    .updateTable('tracks')
    .set(values)
    .where('event_id', '=', eventId)
    .where('position', 'in', positions)
    .execute();
async function durationOf(eventId: string) {
  const event = database.selectFrom('events').select('duration').where('id', '=', eventId);
  return (await event.executeTakeFirstOrThrow()).duration;
}
const flavorsOf = async (eventId: string) => (await bench.elementsOf(eventId)).map(({ flavor }) => flavor);
/** Keys of all stored results. */
const storedElements = async () => (await Array.fromAsync(bench.storage.list('element/'))).map(({ key }) => key);

it.each([inspect, cut, encode, preview, captions])(
  '$name has nothing to do for an event without tracks',
  async (operation) => {
    const eventId = await bench.addEvent({});
    await perform(eventId, operation);
    expect([await bench.elementsOf(eventId), await durationOf(eventId)]).toEqual([[], null]);
  },
);

describe('inspect', () => {
  it('writes down what each track holds, and how long the longest is', async () => {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'presentation/source': await clip({ container: 'webm', seconds: 3, audio: false }),
      'presenter-audio/source': await clip({ container: 'wav', seconds: 2 }),
    });
    expect(await bench.perform(inspect, eventId)).toEqual([1 / 3, 2 / 3, 1]);
    const [h264, sound] = [{ codec: 'h264', width: 320 }, { codec: 'aac' }];
    const PCM = { codec: 'pcm_s16le', samplingRate: 48_000 };
    expect(await tracksOf(eventId)).toMatchObject([
      { duration: 1000, has_audio: true, has_video: true, streams: [h264, sound] },
      { duration: 3000, has_audio: false, has_video: true, streams: [{ codec: 'vp8', frameRate: 25 }] },
      { duration: 2000, has_audio: true, has_video: false, streams: [PCM] },
    ]);
    expect(await durationOf(eventId)).toBe(3000);
  });

  it('says of a track that may have been cut off that it may, and goes on', async () => {
    const whole = await readFile(await clip({ container: 'ts', seconds: 1 }));
    const half = join(clipFolder(), 'cut-lecture.ts');
    await writeFile(half, whole.subarray(0, Math.floor(whole.length / 2) | 1));
    const eventId = await bench.addEvent({ 'presenter/source': await clip(), 'presentation/source': half });
    await perform(eventId, inspect);
    const warnings = [expect.stringMatching(/^The file may be incomplete: /)];
    expect(await tracksOf(eventId)).toMatchObject([{ warnings: [] }, { has_video: true, warnings }]);
  });

  it('fails for good on a track that is no recording, and writes nothing', async () => {
    const noise = join(clipFolder(), 'lecture.mp4');
    await writeFile(noise, bytes(10_000));
    const eventId = await bench.addEvent({ 'presenter/source': await clip(), 'presentation/source': noise });
    await expect(bench.perform(inspect, eventId)).rejects.toMatchObject({
      permanent: true,
      message: 'The file is not a recording: its bytes match no known media format.',
    });
    expect(await tracksOf(eventId)).toMatchObject([{ duration: null }, { duration: null }]);
    expect(await durationOf(eventId)).toBeNull();
  });

  it('leaves captions alone, whatever format they have', async () => {
    const subtitles = join(clipFolder(), 'captions.srt');
    await writeFile(subtitles, '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'captions/source': subtitles,
      'presentation/source': subtitles,
    });
    await updateTracks(eventId, { mediatype: 'text/vtt' }, 2);
    await perform(eventId, inspect);
    const durations = (await tracksOf(eventId)).map(({ duration }) => duration);
    expect(durations).toEqual([1000, null, null]);
  });
});

describe('cut', () => {
  const par = (begin: string, end: string) =>
    `<par><video clipBegin="${begin}" clipEnd="${end}"/><video clipBegin="${begin}" clipEnd="${end}"/></par>`;
  const END = '1.7976931348623157e+308s';

  /** An event with a long track that browsers play as it is, and a short one; cut by these parts if any. */
  async function twoTracks(pars?: string) {
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 4 }),
      'presentation/source': await clip({ seconds: 2, container: 'webm', audio: false }),
    });
    const content = `<smil xmlns="http://www.w3.org/ns/SMIL"><body>${pars}</body></smil>`;
    const catalog = { event_id: eventId, flavor: 'smil/cutting', filename: 'cutting.smil', content };
    if (pars) await database.insertInto('event_documents').values(catalog).execute();
    return eventId;
  }
  const keptOf = async (eventId: string) => (await tracksOf(eventId)).map(({ kept_parts }) => kept_parts);

  it('leaves the parts of every track, and the sources as they are', async () => {
    const eventId = await twoTracks(par('0.5s', '1s') + par('1500ms', END));
    await perform(eventId, inspect, cut, inspect, cut, encode);
    expect(await durationOf(eventId)).toBe(3000);
    const media = (await bench.elementsOf(eventId)).filter(({ mediatype }) => mediatype === 'video/mp4');
    expect(media.map(({ flavor, frame_count }) => [flavor, frame_count])).toEqual([
      ['presenter/delivery', 75],
      ['presentation/delivery', 25],
    ]);
    expect(Math.abs((media[0]?.duration ?? 0) - 3000)).toBeLessThan(50);
    expect(Math.abs((media[1]?.duration ?? 0) - 1000)).toBeLessThan(50);
    expect((await tracksOf(eventId)).map(({ duration }) => duration)).toEqual([4000, 2000]);
  });

  it('leaves a track out that ends before the first part, and makes no previews of it', async () => {
    const eventId = await twoTracks(par('3s', '3.5s'));
    await perform(eventId, inspect, cut, encode, preview);
    const sources = (await flavorsOf(eventId)).map((flavor) => flavor.split('/', 1)[0]);
    expect(new Set(sources)).toEqual(new Set(['presenter']));
    expect(await durationOf(eventId)).toBe(500);
  });

  it('does nothing without a catalog or where all is kept, and forgets a catalog that is gone', async () => {
    const whole = await twoTracks(par('0s', END));
    await perform(whole, inspect, cut);
    expect(await keptOf(whole)).toEqual([null, null]);
    const eventId = await twoTracks(par('0.5s', '1s'));
    await perform(eventId, inspect, cut);
    expect(await keptOf(eventId)).toEqual([[{ begin: 500, end: 1000 }], [{ begin: 500, end: 1000 }]]);
    expect(await durationOf(eventId)).toBe(500);
    await database.deleteFrom('event_documents').where('event_id', '=', eventId).execute();
    await perform(eventId, inspect, cut);
    expect(await keptOf(eventId)).toEqual([null, null]);
    expect(await durationOf(eventId)).toBe(4000);
  });

  const LEFT =
    'The catalog smil/cutting leaves nothing of the recording: its first part begins at 9 s, but the recording ends at 4 s.';
  const SENSE = 'The catalog smil/cutting is invalid: part 1 ends at 1 s, not after its beginning at 2 s.';
  const UNSEEN = 'The track presenter/source has not been inspected. Add "inspect" before "cut" in the workflow.';
  it.each([
    ['nothing is left', par('9s', '10s'), [inspect], LEFT],
    ['it makes no sense', par('2s', '1s'), [inspect], SENSE],
    ['nobody has inspected the tracks', par('0s', '1s'), [], UNSEEN],
  ])('fails for good when %s', async (_, pars, before, message) => {
    const eventId = await twoTracks(pars);
    await perform(eventId, ...before);
    await expect(bench.perform(cut, eventId)).rejects.toMatchObject({ message, permanent: true });
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
    const elements = await bench.elementsOf(eventId);
    const tags = ['engage-download', 'engage-streaming'];
    const playlist = { mediatype: 'application/x-mpegURL', tags: ['engage-streaming'], flavor: 'presenter/delivery' };
    expect(elements).toMatchObject([
      {
        ...{ kind: 'media', publication_id: null, position: 0, flavor: 'presenter/delivery' },
        ...{ filename: 'presenter.mp4', mediatype: 'video/mp4', tags: [...tags, '240p-quality'] },
        ...{ has_audio: true, has_video: true, width: 320, height: 240, frame_rate: 25, frame_count: 25 },
      },
      { ...playlist, position: 9, filename: 'presenter.m3u8', has_audio: true, has_video: true, width: 320 },
      {
        ...{ position: 10, flavor: 'presentation/delivery', filename: 'presentation.mp4' },
        ...{ mediatype: 'video/mp4', has_audio: false, has_video: true, duration: 1000 },
      },
      { ...playlist, flavor: 'presentation/delivery', filename: 'presentation.m3u8', has_audio: false },
      {
        ...{ position: 20, flavor: 'presenter/delivery', filename: 'presenter-3.m4a' },
        ...{ mediatype: 'audio/mp4', has_audio: true, has_video: false, width: null, frame_rate: null },
        tags: [...tags, '128k-quality'],
      },
      { position: 21, filename: 'presenter-3-64k.m4a', tags: [...tags, '64k-quality'] },
      { ...playlist, filename: 'presenter-3.m3u8', has_video: false },
    ]);
    for (const { object_key, size, sha256, bit_rate, mediatype } of elements) {
      const content = await bench.bytesOf(object_key);
      expect([content.length, sumOf(content)]).toEqual([size, sha256]);
      if (mediatype !== playlist.mediatype) expect(bit_rate).toBeGreaterThan(1000);
    }
    const keys = elements.map(({ object_key }) => object_key);
    const staged = database.selectFrom('staging').selectAll().where('object_key', 'in', keys);
    expect(await staged.execute()).toEqual([]);
  });

  it('lists a copy with non-square pixels by the size at which it is shown', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ video: { filter: 'setsar=2/1' } }) });
    await bench.perform(encode, eventId);
    const elements = await bench.elementsOf(eventId);
    expect(elements[0]).toMatchObject({ width: 640, height: 240, tags: expect.arrayContaining(['240p-quality']) });
    const playlist = elements.find(({ filename }) => filename === 'presenter.m3u8');
    expect((await bench.bytesOf(playlist?.object_key ?? '')).toString()).toContain('RESOLUTION=640x240,');
  });

  it.each([
    ['preset', 'turbo'],
    ['crf', 'low'],
    ['crf', '0'],
    ['heights', '721'],
  ])('fails for good on the setting %s: %s, and names it', async (name, value) => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ container: 'webm', seconds: 1 }) });
    const message = expect.stringMatching(`^The setting "${name}" must be .*, not "${value}"\\.$`);
    const failing = bench.perform(encode, eventId, { configuration: { [name]: value } });
    await expect(failing).rejects.toMatchObject({ permanent: true, message });
  });

  it('replaces what an earlier run prepared and leaves what is published', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 1 }) });
    await perform(eventId, encode);
    const [published] = await bench.elementsOf(eventId);
    const publication = await insertPublication(database, eventId);
    await database
      .updateTable('publication_elements')
      .set({ publication_id: publication })
      .where('event_id', '=', eventId)
      .execute();
    await perform(eventId, encode);
    const prepared = (await bench.elementsOf(eventId)).find(({ publication_id }) => publication_id === null);
    await perform(eventId, encode);
    const left = (await bench.elementsOf(eventId)).map(({ object_key }) => object_key);
    expect(left).toHaveLength(4);
    expect(left).toContain(published?.object_key);
    expect(left).not.toContain(prepared?.object_key);
    const keys = [published, prepared, { object_key: left[1] }].map((each) => each?.object_key ?? '');
    const released = database.selectFrom('staging').select(['object_key', 'owner']);
    expect(await released.where('object_key', 'in', [...keys, ...left]).execute()).toEqual([
      { object_key: prepared?.object_key, owner: null },
    ]);
  });

  it('leaves no object behind when it is aborted', async () => {
    const before = await storedElements();
    const slow = { size: '1280x720', codec: 'mpeg4' };
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'presentation/source': await clip({ container: 'mkv', seconds: 20, video: slow, audio: false }),
    });
    const controller = new AbortController();
    const started = bench.perform(encode, eventId, {
      signal: controller.signal,
      configuration: { preset: 'veryslow' },
    });
    // The first track is stored by then, and the second one takes its time.
    await expect.poll(async () => (await storedElements()).length).toBe(before.length + 2);
    controller.abort(new Error('the worker stops'));
    await expect(started).rejects.toThrow('the worker stops');
    expect(await storedElements()).toEqual(before);
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });
});

/** What a tool of ffmpeg prints about a stored picture. */
async function picture(key: string, tool: 'ffmpeg' | 'ffprobe', args: (path: string) => string[]) {
  const path = join(clipFolder(), 'picture');
  await writeFile(path, await bench.bytesOf(key));
  const options = { timeLimitMs: 60_000 };
  return (await runTool((await testTools())[tool], ['-v', 'error', ...args(path)], options)).output;
}

describe('a copy that an earlier operation has made', () => {
  const copied = async () => {
    const clipOptions = { seconds: 4, video: { size: '640x480', options: ['-g', '50'] } };
    const eventId = await bench.addEvent({ 'presenter/source': await clip(clipOptions) });
    await perform(eventId, inspect);
    await bench.perform(encode, eventId, { configuration: { renditions: 'copy' } });
    return eventId;
  };
  const heights = async (eventId: string) =>
    (await bench.elementsOf(eventId)).map(({ height, duration }) => ({ height, duration: Number(duration) }));

  it('is left out where browsers do not play the track, which is not read for that', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ container: 'webm', seconds: 1 }) });
    await perform(eventId, inspect);
    const [key = ''] = (await tracksOf(eventId)).map(({ object_key }) => object_key);
    await bench.storage.remove([key]);
    await bench.storage.put(key, source(bytes(1000)), { mediatype: 'video/webm' });
    await bench.perform(encode, eventId, { configuration: { renditions: 'copy' } });
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });

  it('goes when the settings no longer ask for it', async () => {
    const eventId = await copied();
    expect(await heights(eventId)).toMatchObject([{ height: 480 }]);
    await bench.perform(encode, eventId, { workflowConfiguration: { heights: '360' } });
    expect(await heights(eventId)).toMatchObject([{ height: 360 }, { height: 360 }]);
  });

  it('goes when the track has been replaced since, also if it is published', async () => {
    const eventId = await copied();
    await bench.perform(publish, eventId, { configuration: { early: 'true' } });
    const [old] = await bench.elementsOf(eventId);
    await database.deleteFrom('tracks').where('event_id', '=', eventId).execute();
    const other = { seconds: 3, video: { size: '640x480', options: ['-g', '50'] } };
    await bench.addTrack(eventId, 0, 'presenter/source', await clip(other));
    await perform(eventId, inspect, encode, publish);
    const media = (await bench.elementsOf(eventId)).filter(({ mediatype }) => mediatype === 'video/mp4');
    expect(media.map(({ height, duration }) => [height, Number(duration)])).toEqual([
      [480, expect.closeTo(3000, -2)],
      [360, expect.closeTo(3000, -2)],
    ]);
    expect(media.map(({ id }) => id)).not.toContain(old?.id);
  });

  it('goes when its sound has been left out since', async () => {
    const eventId = await copied();
    await updateTracks(eventId, { hidden_streams: ['audio'] }, 0);
    await bench.perform(encode, eventId, { workflowConfiguration: { heights: 'source' } });
    const media = await bench.elementsOf(eventId);
    expect(media.map(({ height, has_audio }) => [height, has_audio])).toEqual([
      [480, false],
      [480, false],
    ]);
  });

  it('goes when parts are cut out since', async () => {
    const eventId = await copied();
    await updateTracks(eventId, { kept_parts: JSON.stringify([{ begin: 1000, end: 3000 }]) }, 0);
    await bench.perform(encode, eventId, { workflowConfiguration: { heights: 'source' } });
    const duration = expect.closeTo(2000, -2);
    expect(await heights(eventId)).toEqual([
      { height: 480, duration },
      { height: 480, duration },
    ]);
  });
});

describe('dividing a recording', () => {
  it('does not count the pictures again', async () => {
    const irregular = { filter: "select='not(mod(n,7))+lt(n,40)'", codec: 'mpeg4', options: ['-vsync', 'vfr'] };
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 9, video: irregular }),
    });
    await perform(eventId, inspect);
    const [track] = await tracksOf(eventId);
    const [video, audio] = (track?.streams ?? []) as { frameCount: number }[];
    expect(video).toMatchObject({ frameCount: 67 });
    await updateTracks(eventId, { streams: JSON.stringify([{ ...video, frameCount: 66 }, audio]) }, 0);
    let pieces: readonly object[] = [];
    const dividing = encodeWith({ seconds: 4, leastWork: 0 });
    const run: Operation['run'] = async (context) => {
      const commit = await dividing.run(context);
      pieces = commit.pieces ?? [];
      return commit;
    };
    const fractions = await bench.perform({ ...dividing, run }, eventId);
    expect(fractions).toEqual([]);
    const counted = { work: { source: { video: { frameCount: 66 } } } };
    expect(pieces).toMatchObject([counted, counted]);
  });
});

describe('preview', () => {
  it('makes poster, thumbnail and timeline of pictures, and a waveform of sound alone', async () => {
    const video = { size: '1920x1080', rate: 2, filter: 'fade=in:st=0:d=2' };
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 3, video }),
      'presenter-audio/source': await clip({ container: 'mp3', seconds: 1 }),
    });
    expect((await bench.perform(preview, eventId)).at(-1)).toBe(1);
    const elements = await bench.elementsOf(eventId);
    const [jpeg, png] = ['image/jpeg', 'image/png'].map((mediatype) => ({ kind: 'attachment', mediatype }));
    const tiles = { imageCount: 3, columns: 3, rows: 1, tileWidth: 160, tileHeight: 90, intervalMs: 1000 };
    expect(elements).toMatchObject([
      { ...jpeg, position: 0, flavor: 'presenter/player+preview', filename: 'presenter-poster.jpg' },
      { ...jpeg, position: 1, flavor: 'presenter/search+preview', filename: 'presenter-thumbnail.jpg' },
      {
        ...{ ...jpeg, position: 2, flavor: 'presenter/timeline+preview' },
        ...{ filename: 'presenter-timeline.jpg', properties: tiles },
      },
      { ...png, position: 3, flavor: 'presenter-audio/waveform', filename: 'presenter-audio-waveform.png' },
    ]);
    const sizes = [];
    for (const { object_key } of elements) {
      const entries = ['-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0'];
      sizes.push(String(await picture(object_key, 'ffprobe', (path) => [...entries, path])).trim());
    }
    expect(sizes).toEqual(['mjpeg,1280,720', 'mjpeg,320,180', 'mjpeg,480,90', 'png,1920,240']);
  });

  it('does not show a black frame where it finds another', async () => {
    const video = { filter: 'fade=in:st=1.5:d=0.1' };
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 4, video }) });
    await perform(eventId, preview);
    const thumbnail = (await bench.elementsOf(eventId))[1];
    const grey = ['-vf', 'scale=1:1,format=gray', '-f', 'rawvideo', 'pipe:1'];
    const output = await picture(thumbnail?.object_key ?? '', 'ffmpeg', (path) => ['-i', path, ...grey]);
    expect(output[0]).toBeGreaterThan(60);
  });

  it('looks at the prepared media rather than at what the client sent', async () => {
    const source = await clip({ container: 'webm', seconds: 1 });
    const eventId = await bench.addEvent({ 'presenter/source': source });
    await perform(eventId, encode);
    await bench.storage.remove((await tracksOf(eventId)).map(({ object_key }) => object_key));
    await perform(eventId, preview);
    const kinds = (await bench.elementsOf(eventId)).map(({ kind }) => kind);
    expect(kinds).toEqual(['attachment', 'attachment', 'attachment', 'media', 'media']);
  });
});

describe('captions', () => {
  const VTT = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n';
  const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';

  /** An event with a short recording and these caption files: flavor, tags, content. */
  async function eventWith(...files: [flavor: string, tags: string[], content: string][]) {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 1 }) });
    for (const [i, [flavor, tags, content]] of files.entries()) {
      const path = join(clipFolder(), `${eventId}-${i}.txt`);
      await writeFile(path, content);
      await bench.addTrack(eventId, i + 1, flavor, path);
      await updateTracks(eventId, { tags }, i + 1);
    }
    return eventId;
  }

  async function prepared(eventId: string) {
    const elements = (await bench.elementsOf(eventId)).filter(({ mediatype }) => mediatype === 'text/vtt');
    return Promise.all(elements.map(async (each) => ({ ...each, text: String(await bench.bytesOf(each.object_key)) })));
  }
  const warningsOf = async (eventId: string) =>
    (await tracksOf(eventId)).flatMap(({ warnings }) => warnings as string[]);

  it('makes WebVTT of what clients sent, with the language in file names and tags', async () => {
    const eventId = await eventWith(
      ['captions/source', ['archive', 'subtitle', 'lang:de'], VTT],
      ['captions/vtt+auto-en-GB', [], SRT],
      ['captions/srt+fr', ['lang:de', 'b'], SRT],
      ['captions/source', [], SRT],
      ['chapters/source', ['lang:en'], VTT],
      ['presenter/chapters', [], SRT],
    );
    await perform(eventId, captions);
    const facts = { kind: 'attachment', flavor: 'captions/delivery', mediatype: 'text/vtt', text: VTT };
    expect(await prepared(eventId)).toMatchObject([
      { ...facts, filename: 'captions-de.vtt', tags: ['subtitle', 'lang:de'] },
      { ...facts, filename: 'captions-en-GB.vtt', tags: ['lang:en-GB', 'generator-type:auto'] },
      { ...facts, filename: 'captions-de-4.vtt', tags: ['lang:de', 'b'] },
      { ...facts, filename: 'captions.vtt', tags: [] },
      { ...facts, flavor: 'chapters/delivery', filename: 'chapters-en.vtt', tags: ['lang:en'] },
      { ...facts, flavor: 'chapters/delivery', filename: 'chapters.vtt', tags: [] },
    ]);
    expect(await warningsOf(eventId)).toEqual([]);
  });

  it('follows the cut of the track that plays longest', async () => {
    const eventId = await eventWith(['captions/source', [], VTT], ['captions/source', [], VTT.replace('01.', '00.')]);
    const parts = JSON.stringify([
      { begin: 500, end: 800 },
      { begin: 1500, end: 9000 },
    ]);
    await updateTracks(eventId, { kept_parts: sql`${parts}::jsonb` }, 0);
    await perform(eventId, captions);
    expect((await prepared(eventId)).map(({ text }) => text)).toEqual([
      'WEBVTT\n\n00:00:00.300 --> 00:00:00.800\nHello\n',
      'WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nHello\n',
    ]);
  });

  it('leaves out what nobody can read, says so, and takes it back once it is replaced', async () => {
    const eventId = await eventWith(
      ['captions/source', [], 'Hello'],
      ['captions/source', [], VTT],
      ['chapters/source', [], VTT],
    );
    await updateTracks(eventId, { size: 2 ** 21 + 1 }, 3);
    await perform(eventId, captions);
    expect(await prepared(eventId)).toHaveLength(1);
    expect(await warningsOf(eventId)).toEqual([
      'The captions are left out: the file is not WebVTT or SubRip, or has no captions.',
      'The chapters are left out: the file is larger than 2 MiB, or the event has more than 32 MiB of such files.',
    ]);
    await updateTracks(eventId, { size: VTT.length }, 3);
    await perform(eventId, captions);
    expect(await prepared(eventId)).toHaveLength(2);
    expect(await warningsOf(eventId)).toHaveLength(1);
  });

  it('leaves out those for which there is no more room', async () => {
    const files = Array.from({ length: 17 }, (): Parameters<typeof eventWith>[0] => ['captions/source', [], VTT]);
    const eventId = await eventWith(...files);
    for (const i of files.keys()) await updateTracks(eventId, { size: 2 ** 21 }, i + 1);
    await perform(eventId, captions);
    expect(await prepared(eventId)).toHaveLength(16);
    expect(await warningsOf(eventId)).toHaveLength(1);
  });

  it('and previews leave each other in peace, and what a run prepared is replaced by the next', async () => {
    const eventId = await eventWith(['captions/source', [], VTT], ['chapters/source', [], VTT]);
    await perform(eventId, captions, preview, captions, preview);
    expect((await flavorsOf(eventId)).sort()).toEqual([
      ...['captions/delivery', 'chapters/delivery'],
      ...['presenter/player+preview', 'presenter/search+preview', 'presenter/timeline+preview'],
    ]);
  });

  it('become public beside media that stay, and replace those before them', async () => {
    const eventId = await eventWith(['captions/source', ['lang:de'], VTT]);
    await perform(eventId, encode, captions, publish);
    const [first] = await prepared(eventId);
    await perform(eventId, captions, publish);
    const elements = await bench.elementsOf(eventId);
    expect(elements.map(({ kind }) => kind)).toEqual(['attachment', 'media', 'media', 'metadata']);
    expect(elements.every(({ publication_id }) => publication_id !== null)).toBe(true);
    expect(elements[0]?.id).not.toBe(first?.id);
  });
});
