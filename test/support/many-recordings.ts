import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { forEachConcurrent } from '#maintenance/concurrency.ts';
import type { Database } from '#platform/database/kysely.ts';
import {
  addCaptions,
  createFailed,
  createPlain,
  createRecording,
  createSeries,
  formOf,
  partsOf,
  schedule,
  sent,
} from './catalogue-scene.ts';
import type { Client } from './client.ts';
import { recording } from './clips.ts';
import type { EditorData } from './editor.ts';
import { middleThird } from './editor.ts';

const CATALOGS = ['event', 'series'].map((resource) => {
  const kind = resource === 'event' ? 'episode' : 'series';
  return `resource: ${resource}
flavor: university/${kind}
title: University
fields:
  - { id: course, label: Course, type: text }
  - { id: people, label: People, type: mixed_text }
`;
});

/** A folder for METADATA_DIR with the catalogs `university/episode` and `university/series`. */
export async function universityCatalogs(): Promise<{ dir: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
  for (const [i, catalog] of CATALOGS.entries()) await writeFile(join(dir, `university-${i}.yaml`), catalog);
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** Sets the extended catalog of an event or a series. */
export async function classify(client: Client, path: string, n: number): Promise<void> {
  const type = path.startsWith('/api/series') ? 'university/series' : 'university/episode';
  const fields = [
    { id: 'course', value: `C-${n} "Ä & <Ö>"` },
    { id: 'people', value: ['Ada, Countess', `№ ${n}`] },
  ];
  const body = new URLSearchParams({ metadata: JSON.stringify(fields) });
  const { ok, status } = await client.fetch(`${path}/metadata?type=${encodeURIComponent(type)}`, {
    method: 'PUT',
    body,
  });
  expect(ok, `${path} is answered with ${status}`).toBe(true);
}

/** Uploads a recording that is neither inspected nor published. */
export async function createUnpublished(client: Client, n: number, seriesId?: string): Promise<string> {
  const file = { name: 'presenter', filename: `Größe ${n} #1?.mp4`, content: await recording() };
  const id = await client.create([...partsOf(n, seriesId, { processing: { workflow: 'retract' } }), file]);
  await client.processed(id);
  return id;
}

/** Uploads a recording whose workflow is stopped while it waits for review. */
export async function createStopped(client: Client, database: Database, n: number): Promise<string> {
  const processing = { workflow: 'schedule-and-upload', configuration: { flagForReview: 'true' } };
  const file = { name: 'presenter', filename: 'review.mp4', content: await recording() };
  const id = await client.create([...partsOf(n, undefined, { processing }), file]);
  await client.reached(id, ['PAUSED']);
  const workflows = database.selectFrom('workflows').select('id').where('event_id', '=', id);
  const workflow = await workflows.executeTakeFirstOrThrow();
  await sent(client.fetch(`/api/workflows/${workflow.id}`, { ...formOf({ state: 'stopped' }), method: 'PUT' }), 200);
  await client.reached(id, ['STOPPED']);
  return id;
}

/** Keeps the middle third of a recording, and publishes it again. */
export async function cut(client: Client, id: string): Promise<void> {
  const { duration, tracks } = await client.json<EditorData>(`/editor/${id}/edit.json`);
  const changes = { segments: middleThird(duration), tracks, workflows: [{ id: 'publish' }] };
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(changes);
  await sent(client.fetch(`/editor/${id}/edit.json`, { method: 'POST', headers, body }), 200);
  expect(await client.processed(id)).toMatchObject({ processing_state: 'SUCCEEDED' });
}

/** The number of events by kind: 300. */
const COUNTS = {
  published: 42,
  captions: 6,
  cut: 6,
  stopped: 6,
  failed: 40,
  unpublished: 60,
  plain: 70,
  future: 50,
  past: 20,
};
const SERIES = 12;
const CONCURRENCY = 8;

export interface ManyRecordings {
  series: string[];
  /** The identifiers of events by their kind. */
  events: Map<string, string[]>;
  /** Events whose previews for editors belong to no publication, so that no client of the External API can read them. */
  hiddenPreviews: Set<string>;
}

/** Fills an Inlet with 300 recordings of all kinds, in twelve series. */
export async function createMany(client: Client, database: Database): Promise<ManyRecordings> {
  const series = await Promise.all(Array.from({ length: SERIES }, (_, i) => createSeries(client, `Reihe ${i} & mehr`)));
  for (const [i, id] of series.entries()) if (i % 3 === 0) await classify(client, `/api/series/${id}`, i);
  const seriesOf = (n: number) => (n % 5 === 4 ? undefined : series[n % series.length]);
  const hiddenPreviews = new Set<string>();
  const events = new Map<string, string[]>();
  const create: Record<keyof typeof COUNTS, (n: number) => Promise<string>> = {
    published: (n) => createRecording(client, n, seriesOf(n)),
    captions: async (n) => {
      const id = await createRecording(client, n, seriesOf(n), 'publish');
      await addCaptions(client, id);
      return id;
    },
    cut: async (n) => {
      const id = await createRecording(client, n, seriesOf(n));
      await cut(client, id);
      hiddenPreviews.add(id);
      return id;
    },
    stopped: async (n) => {
      const id = await createStopped(client, database, n);
      hiddenPreviews.add(id);
      return id;
    },
    failed: (n) => createFailed(client, n, seriesOf(n)),
    unpublished: (n) => createUnpublished(client, n, seriesOf(n)),
    plain: (n) => createPlain(client, n, seriesOf(n)),
    future: (n) => schedule(client, n, 48 + n, seriesOf(n)),
    past: (n) => schedule(client, n, -48 - n, seriesOf(n)),
  };
  const all = Object.entries(COUNTS).flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
  const work = async ([n, kind]: [number, string]) => {
    const id = await create[kind as keyof typeof COUNTS](n);
    events.set(kind, [...(events.get(kind) ?? []), id]);
    if (n % 4 === 0) await classify(client, `/api/events/${id}`, n);
  };
  await forEachConcurrent(all.entries(), work, { concurrency: CONCURRENCY });
  return { series, hiddenPreviews, events };
}
