import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip } from '../../test/support/clips.ts';
import { tenHoursApart } from '../../test/support/media.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { insertPublication } from '../../test/support/publication.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import { preview } from './preview.ts';

let bench: OperationBench;
beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

/** Keys of all stored results, whoever they belong to. */
const storedElements = async () =>
  (await Array.fromAsync(bench.storage.list('element/'))).map(({ key }) => key);

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
      const bytes = await bench.bytesOf(object_key);
      expect(bytes.length).toBe(size);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      expect(bit_rate).toBeGreaterThan(1000);
    }
    expect(await bench.database.selectFrom('staging').selectAll().execute()).toEqual([]);
  });

  it('replaces what an earlier run prepared and leaves what is published', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 1 }) });
    await bench.perform(encode, eventId);
    const [published] = await bench.elementsOf(eventId);
    const publication = await insertPublication(bench.database, eventId);
    await bench.database
      .updateTable('publication_elements')
      .set({ publication_id: publication })
      .where('event_id', '=', eventId)
      .execute();
    await bench.perform(encode, eventId);
    const prepared = (await bench.elementsOf(eventId)).find(({ publication_id }) => publication_id === null);
    await bench.perform(encode, eventId);

    const left = (await bench.elementsOf(eventId)).map(({ object_key }) => object_key);
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
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });

  it('repeats no picture of half a megabyte that shows two in ten hours, nor do the others', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await tenHoursApart('mkv') });
    for (const operation of [inspect, encode, preview]) await bench.perform(operation, eventId);
    const elements = await bench.elementsOf(eventId);
    expect(elements.find(({ flavor }) => flavor === 'presenter/timeline+preview')).toMatchObject({
      properties: { imageCount: 100 },
    });
    expect(elements.find(({ kind }) => kind === 'media')).toMatchObject({
      duration: 36_000_040,
      frame_count: 2,
      width: 3840,
    });
    const track = await bench.database
      .selectFrom('tracks')
      .select(['duration', 'streams'])
      .where('event_id', '=', eventId)
      .executeTakeFirstOrThrow();
    // The header says 25 frames a second.
    expect(track).toMatchObject({ duration: 36_000_040, streams: [{ frameCount: 2 }] });
  });

  it('has nothing to do for an event without tracks', async () => {
    const eventId = await bench.addEvent({});
    await bench.perform(encode, eventId);
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });
});
