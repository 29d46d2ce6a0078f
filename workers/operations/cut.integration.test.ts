import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip } from '../../test/support/clips.ts';
import { createOperationBench, type OperationBench } from '../../test/support/operation-context.ts';
import { cut } from './cut.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import { preview } from './preview.ts';

let bench: OperationBench;
beforeAll(async () => {
  bench = await createOperationBench();
});
afterAll(() => bench.close());

const par = (begin: string, end: string) =>
  `<par><video clipBegin="${begin}" clipEnd="${end}"/><video clipBegin="${begin}" clipEnd="${end}"/></par>`;

async function cutBy(eventId: string, pars: string): Promise<void> {
  const content = `<smil xmlns="http://www.w3.org/ns/SMIL"><body>${pars}</body></smil>`;
  await bench.database
    .insertInto('event_documents')
    .values({ event_id: eventId, flavor: 'smil/cutting', filename: 'cutting.smil', content })
    .execute();
}

/** An event with a long track that browsers play as it is, and a short one. */
const twoTracks = async () =>
  bench.addEvent({
    'presenter/source': await clip({ seconds: 4 }),
    'presentation/source': await clip({ seconds: 2, container: 'webm', audio: false }),
  });

const durationOf = async (eventId: string) =>
  (
    await bench.database
      .selectFrom('events')
      .select('duration')
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow()
  ).duration;

const keptOf = async (eventId: string) => {
  const rows = bench.database.selectFrom('tracks').select('kept_parts').where('event_id', '=', eventId);
  return (await rows.orderBy('position').execute()).map(({ kept_parts }) => kept_parts);
};

const run = async (eventId: string) => {
  for (const operation of [inspect, cut, encode, preview]) await bench.perform(operation, eventId);
  return bench.elementsOf(eventId);
};

describe('cut', () => {
  it('has nothing encoded anew of which all is kept', async () => {
    const eventId = await twoTracks();
    await cutBy(eventId, par('0s', '1.7976931348623157e+308s'));
    for (const operation of [inspect, cut]) await bench.perform(operation, eventId);
    expect(await keptOf(eventId)).toEqual([null, null]);
  });

  it('leaves the parts of every track, and the sources as they are', async () => {
    const eventId = await twoTracks();
    await cutBy(eventId, par('0.5s', '1s') + par('1500ms', '1.7976931348623157e+308s'));
    for (let times = 0; times < 2; times++) {
      const media = (await run(eventId)).filter(({ kind }) => kind === 'media');
      expect(await durationOf(eventId)).toBe(3000);
      expect(media.map(({ flavor, frame_count }) => [flavor, frame_count])).toEqual([
        ['presenter/delivery', 75],
        ['presentation/delivery', 25],
      ]);
      expect(Math.abs((media[0]?.duration ?? 0) - 3000)).toBeLessThan(50);
      expect(Math.abs((media[1]?.duration ?? 0) - 1000)).toBeLessThan(50);
    }
    const sources = bench.database.selectFrom('tracks').select('duration').where('event_id', '=', eventId);
    expect((await sources.orderBy('position').execute()).map(({ duration }) => duration)).toEqual([
      4000, 2000,
    ]);
  });

  it('leaves a track out that ends before the first part, and makes no previews of it', async () => {
    const eventId = await twoTracks();
    await cutBy(eventId, par('3s', '3.5s'));
    const elements = await run(eventId);
    expect(new Set(elements.map(({ flavor }) => flavor.split('/', 1)[0]))).toEqual(new Set(['presenter']));
    expect(await durationOf(eventId)).toBe(500);
  });

  it('does nothing without a catalog', async () => {
    const eventId = await twoTracks();
    await run(eventId);
    expect(await keptOf(eventId)).toEqual([null, null]);
    expect(await durationOf(eventId)).toBe(4000);
  });

  it('forgets a catalog that is gone', async () => {
    const eventId = await twoTracks();
    await cutBy(eventId, par('0.5s', '1s'));
    await bench.perform(inspect, eventId);
    await bench.perform(cut, eventId);
    expect(await keptOf(eventId)).toEqual([[{ begin: 500, end: 1000 }], [{ begin: 500, end: 1000 }]]);
    await bench.database.deleteFrom('event_documents').where('event_id', '=', eventId).execute();
    await bench.perform(inspect, eventId);
    await bench.perform(cut, eventId);
    expect(await keptOf(eventId)).toEqual([null, null]);
    expect(await durationOf(eventId)).toBe(4000);
  });

  it.each([
    [
      'nothing is left',
      par('9s', '10s'),
      'Nothing is left when the catalog smil/cutting is followed: its first part begins at 9 s, and the recording ends at 4 s.',
    ],
    [
      'it makes no sense',
      par('2s', '1s'),
      'The catalog smil/cutting cannot be followed, because part 1 ends at 1 s, not after its beginning at 2 s.',
    ],
  ])('fails for good when %s', async (_, pars, message) => {
    const eventId = await twoTracks();
    await cutBy(eventId, pars);
    await bench.perform(inspect, eventId);
    await expect(bench.perform(cut, eventId)).rejects.toMatchObject({ message, permanent: true });
  });

  it('fails for good when nobody has inspected the tracks', async () => {
    const eventId = await twoTracks();
    await cutBy(eventId, par('0s', '1s'));
    await expect(bench.perform(cut, eventId)).rejects.toMatchObject({
      message: 'The track presenter/source has not been inspected; a workflow has to inspect before it cuts.',
      permanent: true,
    });
  });
});
