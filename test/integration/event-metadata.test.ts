import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../src/database/kysely.ts';
import { createPool } from '../../src/database/pool.ts';
import { metadataOfEvents } from '../../src/events/metadata.ts';
import { EventBench, metadataPath, type ShownField } from '../support/event-bench.ts';
import { FULL_EVENT } from '../support/full-event.ts';
import { send } from '../support/series.ts';

const EPISODE = 'dublincore/episode';
const LICENSE = 'license/episode';
const bench = EventBench.forThisFile();

describe('GET /api/events/{id}/metadata', () => {
  test('200 with all catalogs: those of the configuration first, also without values, the default one last', async () => {
    const answer = await send(bench.app, 'GET', metadataPath(await bench.event(FULL_EVENT)), undefined, {
      ...bench.reader,
      Accept: 'application/v1.3.0+json',
    });
    expect(answer).toMatchObject({ status: 200, type: 'application/v1.3.0+json' });
    expect(JSON.parse(answer.text)).toMatchObject([
      {
        flavor: LICENSE,
        title: 'LICENSE.TITLE',
        label: 'LICENSE.TITLE',
        fields: [
          { id: 'licensor', value: '' },
          { id: 'permits', value: [] },
        ],
      },
      {
        flavor: EPISODE,
        title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE',
        fields: [
          { id: 'title', value: 'Lecture 1' },
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
          {},
        ],
      },
    ]);
  });

  test('an empty type means all', async () => {
    const id = await bench.event(FULL_EVENT);
    expect((await send(bench.app, 'GET', metadataPath(id, ''))).text).toBe(
      (await send(bench.app, 'GET', metadataPath(id))).text,
    );
  });

  test('while a workflow runs the catalogs are locked and every field is read-only', async () => {
    const id = await bench.event({ ...FULL_EVENT, processing_state: 'RUNNING' });
    const catalogs = JSON.parse((await send(bench.app, 'GET', metadataPath(id))).text) as {
      locked?: string;
      fields: ShownField[];
    }[];
    expect(catalogs.map(({ locked }) => locked)).toEqual(
      Array(2).fill('EVENTS.EVENTS.DETAILS.METADATA.LOCKED.RUNNING'),
    );
    expect(catalogs.flatMap((catalog) => catalog.fields).every(({ readOnly }) => readOnly)).toBe(true);
    expect((await bench.fields(id)).every(({ readOnly }) => readOnly)).toBe(true);
  });

  test('while a workflow pauses nothing is locked', async () => {
    const { text } = await send(
      bench.app,
      'GET',
      metadataPath(await bench.event({ ...FULL_EVENT, processing_state: 'PAUSED' })),
    );
    expect(text).not.toContain('locked');
  });
});

describe('GET /api/events/{id}/metadata?type=', () => {
  test('200 with the fields of that catalog and their values', async () => {
    const id = await bench.event(FULL_EVENT);
    expect(await bench.values(id)).toEqual({
      title: 'Lecture 1',
      subjects: ['Maths', 'Logic, formal'],
      description: 'Two\nlines',
      language: 'deu',
      rightsHolder: 'The university',
      license: 'CC-BY',
      isPartOf: '',
      creator: ['Ada L.', 'Charles B.'],
      contributor: ['Grace H.'],
      startDate: '2026-04-13',
      startTime: '08:15',
      duration: '01:30:00',
      location: 'Hall 1',
      source: 'Camera',
      created: '2026-04-13T08:15:42.000Z',
      publisher: 'Press',
      identifier: id,
    });
  });

  test('the flavor may be spelled in any case of letters', async () => {
    expect(await bench.fields(await bench.event(FULL_EVENT), 'License/EPISODE')).toMatchObject([
      { id: 'licensor' },
      { id: 'permits' },
    ]);
  });

  test.each(['episode', '/', 'a/b/c', 'dublincore/'])('400 for %s, which is no flavor', async (type) => {
    expect(await send(bench.app, 'GET', metadataPath(await bench.event(FULL_EVENT), type))).toMatchObject({
      status: 400,
      text: `Unable to parse type '${type}' as a flavor so unable to find the matching catalog.`,
    });
  });

  test('404 for a catalog that is not configured', async () => {
    const id = await bench.event(FULL_EVENT);
    expect(await send(bench.app, 'GET', metadataPath(id, 'a/b'))).toMatchObject({
      status: 404,
      text: `Cannot find a catalog with type 'a/b' for event with id '${id}'.`,
    });
  });
});

describe('withmetadata', () => {
  test('adds the catalogs to lists and single events, the start as one instant', async () => {
    const id = await bench.event(FULL_EVENT);
    const [listed] = JSON.parse((await send(bench.app, 'GET', '/api/events?withmetadata=true&limit=1')).text);
    expect(listed.metadata.map(({ flavor }: { flavor: string }) => flavor)).toEqual([LICENSE, EPISODE]);
    const single = JSON.parse((await send(bench.app, 'GET', `/api/events/${id}?withmetadata=TRUE`)).text);
    const shown = single.metadata.at(-1).fields as ShownField[];
    expect(shown.find((field) => field.id === 'startDate')?.value).toBe('2026-04-13T08:15:42.123Z');
    expect(shown.some((field) => field.id === 'startTime')).toBe(false);
    expect(
      JSON.parse((await send(bench.app, 'GET', `/api/events/${id}?withmetadata=1`)).text),
    ).not.toHaveProperty('metadata');
  });

  test('costs one query, however many events there are', async () => {
    for (let i = 0; i < 5; i += 1) await bench.event(FULL_EVENT);
    const pool = createPool(bench.app.context.databaseUrl, { onError: () => undefined });
    let queries = 0;
    pool.on('acquire', () => {
      queries += 1;
    });
    const rows = await bench.app.database.selectFrom('events').selectAll().limit(5).execute();
    const metadata = await metadataOfEvents(
      createDatabase(pool),
      rows,
      bench.app.context.catalogs.event,
      'withmetadata',
    );
    await pool.end();
    expect(metadata.size).toBe(5);
    expect(queries).toBe(1);
  });
});

test.each([
  ['application/v1.0.0+json', undefined],
  ['application/v1.1.0+json', {}],
])('withscheduling in %s is %j for an event that is not scheduled', async (Accept, scheduling) => {
  const { text } = await send(
    bench.app,
    'GET',
    `/api/events/${await bench.event(FULL_EVENT)}?withscheduling=true`,
    undefined,
    {
      Accept,
    },
  );
  expect(JSON.parse(text).scheduling).toEqual(scheduling);
});
