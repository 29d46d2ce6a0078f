import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip, clipFolder } from '../../test/support/clips.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { captions } from './captions.ts';
import { encode } from './encode.ts';
import { preview } from './preview.ts';
import { publish } from './publish.ts';

const VTT = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n';
const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';

let bench: OperationBench;
beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

/** An event with a short recording and these caption files: flavor, tags, content. */
async function eventWith(...files: [flavor: string, tags: string[], content: string | Buffer][]) {
  const eventId = await bench.addEvent({ 'presenter/source': await clip({ seconds: 1 }) });
  for (const [i, [flavor, tags, content]] of files.entries()) {
    const path = join(clipFolder(), `${eventId}-${i}.txt`);
    await writeFile(path, content);
    await bench.addTrack(eventId, i + 1, flavor, path);
    await update(eventId, i + 1, { tags });
  }
  return eventId;
}

const update = (eventId: string, position: number, values: { tags: string[] } | { size: number }) =>
  bench.database
    .updateTable('tracks')
    .set(values)
    .where('event_id', '=', eventId)
    .where('position', '=', position)
    .execute();

async function prepared(eventId: string) {
  const elements = (await bench.elementsOf(eventId)).filter(({ flavor }) => flavor === 'captions/delivery');
  return Promise.all(
    elements.map(async (element) => ({ ...element, text: String(await bench.bytesOf(element.object_key)) })),
  );
}

async function warningsOf(eventId: string): Promise<string[]> {
  const tracks = bench.database.selectFrom('tracks').select('warnings').where('event_id', '=', eventId);
  return (await tracks.execute()).flatMap(({ warnings }) => warnings);
}

describe('captions', () => {
  it('makes WebVTT of what clients sent, with the language in file names and tags', async () => {
    const eventId = await eventWith(
      ['captions/source', ['archive', 'subtitle', 'lang:de'], VTT],
      ['captions/vtt+auto-en-GB', [], SRT],
      ['captions/srt+fr', ['lang:de', 'b'], SRT],
      ['captions/source', [], SRT],
    );
    await bench.perform(captions, eventId);
    const facts = { kind: 'attachment', flavor: 'captions/delivery', mediatype: 'text/vtt', text: VTT };
    expect(await prepared(eventId)).toMatchObject([
      { ...facts, filename: 'captions-de.vtt', tags: ['subtitle', 'lang:de'] },
      { ...facts, filename: 'captions-en-GB.vtt', tags: ['lang:en-GB', 'generator-type:auto'] },
      { ...facts, filename: 'captions-de-4.vtt', tags: ['lang:de', 'b'] },
      { ...facts, filename: 'captions.vtt', tags: [] },
    ]);
    expect(await warningsOf(eventId)).toEqual([]);
  });

  it('follows the cut of the track that plays longest', async () => {
    const eventId = await eventWith(
      ['captions/source', [], VTT],
      ['captions/source', [], VTT.replace('01.', '00.')],
    );
    const parts = JSON.stringify([
      { begin: 500, end: 800 },
      { begin: 1500, end: 9000 },
    ]);
    await bench.database
      .updateTable('tracks')
      .set({ kept_parts: sql`${parts}::jsonb` })
      .where('event_id', '=', eventId)
      .where('is_media', '=', true)
      .execute();
    await bench.perform(captions, eventId);
    expect((await prepared(eventId)).map(({ text }) => text)).toEqual([
      'WEBVTT\n\n00:00:00.300 --> 00:00:00.800\nHello\n',
      'WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nHello\n',
    ]);
  });

  it('leaves out what nobody can read, says so, and takes it back once it is replaced', async () => {
    const eventId = await eventWith(
      ['captions/source', [], 'Hello'],
      ['captions/source', [], VTT],
      ['captions/source', [], VTT],
    );
    await update(eventId, 3, { size: 2 ** 24 + 1 });
    await bench.perform(captions, eventId);
    expect(await prepared(eventId)).toHaveLength(1);
    expect(await warningsOf(eventId)).toEqual([
      'The captions are left out: the file is neither WebVTT nor SubRip, or holds no caption.',
      'The captions are left out: the file has more than 16 MiB.',
    ]);
    await update(eventId, 3, { size: VTT.length });
    await bench.perform(captions, eventId);
    expect(await prepared(eventId)).toHaveLength(2);
    expect(await warningsOf(eventId)).toHaveLength(1);
  });

  it('and previews leave each other in peace, and what a run prepared is replaced by the next', async () => {
    const eventId = await eventWith(['captions/source', [], VTT]);
    for (const operation of [captions, preview, captions, preview]) await bench.perform(operation, eventId);
    expect((await bench.elementsOf(eventId)).map(({ flavor }) => flavor).sort()).toEqual([
      'captions/delivery',
      'presenter/player+preview',
      'presenter/search+preview',
      'presenter/timeline+preview',
    ]);
  });

  it('become public beside media that stay, and replace those before them', async () => {
    const eventId = await eventWith(['captions/source', ['lang:de'], VTT]);
    for (const operation of [encode, captions, publish]) await bench.perform(operation, eventId);
    const [first] = await prepared(eventId);
    for (const operation of [captions, publish]) await bench.perform(operation, eventId);
    const elements = await bench.elementsOf(eventId);
    expect(elements.map(({ kind }) => kind)).toEqual(['attachment', 'media', 'metadata']);
    expect(elements.every(({ publication_id }) => publication_id !== null)).toBe(true);
    expect(elements[0]?.id).not.toBe(first?.id);
  });

  it('has nothing to do for an event without captions', async () => {
    const eventId = await eventWith();
    await bench.perform(captions, eventId);
    expect(await bench.elementsOf(eventId)).toEqual([]);
  });
});
