import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { insertElement, insertEvent, insertPublication } from '../../test/support/publication.ts';
import { FolderStorage } from '../storage/folder.ts';
import { findRecording, publicationsOfEvents } from './queries.ts';

const folder = join(tmpdir(), `inlet-queries-${randomUUID()}`);
let db: TestDatabase;
let storage: FolderStorage;

beforeAll(async () => {
  db = await createTestDatabase();
  storage = await new FolderStorage(folder).open();
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

test('each event gets its own publications, with their elements in order and types intact', async () => {
  const [one, two, none] = [
    await insertEvent(db.database),
    await insertEvent(db.database),
    await insertEvent(db.database),
  ];
  const later = await insertPublication(db.database, one, 'oaipmh-default');
  const first = await insertPublication(db.database, one, 'engage-player');
  const other = await insertPublication(db.database, two);
  const media = { event_id: one, publication_id: first, kind: 'media', duration: 60_000 } as const;
  const size = { bit_rate: 5_000_000_000, frame_rate: 29.97, tags: ['a', 'b'] };
  const b = await insertElement(db.database, storage, Buffer.from('b'), { ...media, position: 1 });
  const a = await insertElement(db.database, storage, Buffer.from('a'), { ...media, ...size, position: 0 });
  await insertElement(db.database, storage, Buffer.from('prepared'), { event_id: one, kind: 'media' });

  const found = await publicationsOfEvents(db.database, [one, two, none, 'absent']);
  expect([...found].map(([id, publications]) => [id, publications.map((each) => each.id)])).toEqual([
    [one, [first, later]],
    [two, [other]],
    [none, []],
    ['absent', []],
  ]);
  expect(found.get(one)?.[0]?.elements.map(({ id }) => id)).toEqual([a.id, b.id]);
  expect(found.get(one)?.[0]?.elements[0]).toMatchObject({ ...size, duration: 60_000, size: 1 });
  expect(found.get(two)?.[0]?.elements).toEqual([]);
});

test('more events than a statement has parameters are no problem', async () => {
  const ids = Array.from({ length: 70_000 }, (_, i) => `many-${i}`);
  expect((await publicationsOfEvents(db.database, ids)).size).toBe(70_000);
});

test('no events need no query', async () => {
  expect(await publicationsOfEvents(db.database, [])).toEqual(new Map());
});

test('a recording comes with its catalog, also when its series is gone', async () => {
  await db.database.insertInto('series').values({ id: 's1', title: 'Algebra' }).execute();
  const event = await insertEvent(db.database, { title: 'Groups', presenters: ['Ada'], series_id: 's1' });
  const id = await insertPublication(db.database, event);
  expect(await findRecording(db.database, id)).toMatchObject({
    id,
    title: 'Groups',
    presenters: ['Ada'],
    series_title: 'Algebra',
    elements: [],
  });
  await db.database.deleteFrom('series').execute();
  expect(await findRecording(db.database, id)).toMatchObject({ id, series_title: '' });
});

test('what is no identifier of a publication finds nothing', async () => {
  for (const id of [randomUUID(), '', 'x', `${randomUUID()}'`, '\u0000', 'A'.repeat(36)]) {
    expect(await findRecording(db.database, id)).toBeUndefined();
  }
});
