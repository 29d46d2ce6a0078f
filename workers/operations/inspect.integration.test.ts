import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip, clipFolder } from '../../test/support/clips.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { inspect } from './inspect.ts';

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

const durationOf = async (eventId: string) =>
  (
    await bench.database
      .selectFrom('events')
      .select('duration')
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow()
  ).duration;

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

  it('says of a track that may have been cut off that it may, and goes on', async () => {
    const whole = await readFile(await clip({ container: 'ts', seconds: 1 }));
    const cut = join(clipFolder(), 'cut-lecture.ts');
    await writeFile(cut, whole.subarray(0, Math.floor(whole.length / 2) | 1));
    const eventId = await bench.addEvent({ 'presenter/source': await clip(), 'presentation/source': cut });
    await bench.perform(inspect, eventId);
    const warnings = [expect.stringMatching(/^The file may be incomplete: /)];
    expect(await tracksOf(eventId)).toMatchObject([{ warnings: [] }, { has_video: true, warnings }]);
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

  it('leaves captions alone, whatever format they have', async () => {
    const subtitles = join(clipFolder(), 'captions.srt');
    await writeFile(subtitles, '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
    const eventId = await bench.addEvent({
      'presenter/source': await clip({ seconds: 1 }),
      'captions/source': subtitles,
      'presentation/source': subtitles,
    });
    const captions = bench.database.updateTable('tracks').set({ mediatype: 'text/vtt' });
    await captions.where('event_id', '=', eventId).where('position', '=', 2).execute();
    await bench.perform(inspect, eventId);
    expect(await tracksOf(eventId)).toMatchObject([
      { duration: 1000 },
      { duration: null },
      { duration: null },
    ]);
  });

  it('has nothing to do for an event without tracks', async () => {
    const eventId = await bench.addEvent({});
    await bench.perform(inspect, eventId);
    expect(await bench.elementsOf(eventId)).toEqual([]);
    expect(await durationOf(eventId)).toBeNull();
  });
});
