import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { isMedia } from '#catalogue/events/event-files.ts';
import { isActive, OPERATION_MOVES, WORKFLOW_MOVES } from '#processing/workflow-states.ts';
import { workerApp } from '../support/app.ts';
import { insertEvent } from '../support/publication.ts';

const { database } = await workerApp();
const ARCHITECTURE = new URL('../../docs/architecture.md', import.meta.url);
const MOST_TRIGGERS = 12;

test('docs/architecture.md lists the triggers of the database', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT tgname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace`.execute(database);
  const [, section = ''] = (await readFile(ARCHITECTURE, 'utf8')).split(/^## What the database does by itself$/m);
  const [table = ''] = section.split(/^## /m);
  const listed = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(listed.sort()).toEqual(rows.map(({ name }) => name).sort());
  expect(listed.length).toBeLessThanOrEqual(MOST_TRIGGERS);
});

test('a track is to be seen or heard for the database as for the application', async () => {
  const flavors = ['presenter/source', 'presenter-audio/source', 'captions/source', 'presenter/other', 'a/b'];
  const types = ['video/mp4', 'audio/mpeg', 'application/mxf', 'application/octet-stream', 'text/vtt', 'image/png'];
  const tracks = flavors.flatMap((flavor) => types.map((mediatype) => ({ flavor, mediatype })));
  const eventId = await insertEvent(database);
  const rows = await database
    .insertInto('tracks')
    .values(
      tracks.map(({ flavor, mediatype }, position) => ({
        ...{ id: randomUUID(), event_id: eventId, position, flavor, mediatype },
        ...{ filename: 'a', object_key: `${eventId}-${position}`, size: 1, sha256: null },
      })),
    )
    .returning(['flavor', 'mediatype', 'is_media'])
    .execute();
  expect(rows).toEqual(tracks.map((track) => ({ ...track, is_media: isMedia(track) })));
});

test.each([
  ['workflows', 'state', Object.keys(WORKFLOW_MOVES)],
  ['events', 'processing_state', ['', ...Object.keys(WORKFLOW_MOVES)]],
  ['workflow_operations', 'state', Object.keys(OPERATION_MOVES)],
])('the states that %s.%s allows are those that have moves', async (table, column, states) => {
  const { rows } = await sql<{ definition: string }>`
    SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE conname = ${`${table}_${column}_check`}`.execute(database);
  const allowed = [...(rows[0]?.definition ?? '').matchAll(/'(\w*)'::text/g)].map(([, state]) => state);
  expect(allowed.sort()).toEqual(states.sort());
});

test('the database allows one workflow of an event that is active', async () => {
  const { rows } = await sql<{ definition: string }>`
    SELECT pg_get_indexdef('workflows_one_active'::regclass) AS definition`.execute(database);
  const active = [...(rows[0]?.definition ?? '').matchAll(/'(\w+)'::text/g)].map(([, state]) => state);
  expect(active.sort()).toEqual(Object.keys(WORKFLOW_MOVES).filter(isActive).sort());
});
