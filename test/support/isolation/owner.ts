import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { takesList } from '#metadata/catalog.ts';
import type { CoreField } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';
import type { TestApp } from '../app.ts';
import { created, post, postTo } from '../app-uploads.ts';
import { bytes } from '../bytes.ts';
import { field, file } from '../form.ts';
import { insertElement } from '../publication.ts';
import { insertSchedule } from '../scheduled-event.ts';
import { send } from '../series.ts';
import { AGENT, type Target, TUS } from './target.ts';

/** Catalogs beside the default ones, for events and for series. @returns the folder that defines them */
export async function extendedCatalogs(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
  for (const resource of ['event', 'series']) {
    const flavor = `license/${resource === 'event' ? 'episode' : 'series'}`;
    const fields = '[{ id: remarks, label: REMARKS, type: text }]';
    await writeFile(
      join(folder, `${resource}.yaml`),
      `resource: ${resource}\nflavor: ${flavor}\ntitle: LICENSES\nfields: ${fields}\n`,
    );
  }
  return folder;
}

/**
 * Makes everything that a target names, in the name of its account: a series, an event in it with a recording that is
 * being processed, and a publication.
 *
 * @param roles of the account, beside the one the access control lists name
 * @param readers further roles that may read event and series
 */
export async function make(
  app: TestApp,
  target: Target,
  roles: readonly string[],
  readers: readonly string[] = [],
): Promise<void> {
  const Authorization = await app.account(target.account, ...roles, target.role);
  const acl = JSON.stringify([
    ...['read', 'write'].map((action) => ({ allow: true, action, role: target.role })),
    ...readers.map((role) => ({ allow: true, action: 'read', role })),
  ]);
  const headers = { Authorization, 'Idempotency-Key': target.idempotencyKey };
  const series = await send(app, 'POST', '/api/series', { metadata: seriesMetadata(target), acl }, headers);
  expect(series.status, series.text).toBe(201);
  const properties = JSON.stringify({ [target.property]: target.propertyValue });
  const stored = await send(app, 'PUT', `/api/series/${target.series}/properties`, { properties }, headers);
  expect(stored.status, stored.text).toBe(200);
  await list(app, target, acl, Authorization);
  await sql.raw(`ALTER TABLE workflows ALTER COLUMN id RESTART WITH ${target.workflow}`).execute(app.database);
  const recording = [
    field('acl', acl),
    field('metadata', eventMetadata(target)),
    field('processing', '{"workflow":"schedule-and-upload"}'),
    file('presenter', target.filename, bytes(1000)),
  ];
  await created(await post(app, recording, { Authorization }));
  await schedule(app, target);
  await publish(app, target);
  await beginUpload(app, target, Authorization);
  await handOut(app, target, Authorization);
}

/** Addresses to upload to, under an identifier that is known beforehand. */
async function handOut(app: TestApp, target: Target, Authorization: string): Promise<void> {
  const values = { title: target.eventWords.title, isPartOf: target.series };
  const fields = [
    field('acl', '[]'),
    field('metadata', catalogs('episode', target.eventWords.remarks, values)),
    field('processing', '{"workflow":"schedule-and-upload"}'),
  ];
  const identifier = await created(await postTo(app, '/api/uploads', fields, { Authorization }));
  const id = target.directUpload;
  await sql`INSERT INTO drafts SELECT (jsonb_populate_record(made, ${{ id }}::jsonb)).*
    FROM drafts AS made WHERE id = ${identifier}`.execute(app.database);
  await sql`UPDATE draft_uploads SET draft_id = ${id} WHERE draft_id = ${identifier}`.execute(app.database);
  await app.database.deleteFrom('drafts').where('id', '=', identifier).execute();
}

/** A playlist with the event, under an identifier that is known beforehand. */
async function list(app: TestApp, target: Target, acl: string, Authorization: string): Promise<void> {
  const { title, description, presenters: creator } = target.eventWords;
  const playlist = {
    ...{ title, description, creator, accessControlEntries: JSON.parse(acl) },
    entries: [{ contentId: target.event, type: 'EVENT' }],
  };
  const fields = { playlist: JSON.stringify(playlist) };
  const made = await send(app, 'POST', '/api/playlists', fields, { Authorization });
  expect(made.status, made.text).toBe(201);
  const { id: given } = JSON.parse(made.text) as { id: string };
  const id = target.playlist;
  await sql`INSERT INTO playlists SELECT (jsonb_populate_record(made, ${{ id }}::jsonb)).*
    FROM playlists AS made WHERE id = ${given}`.execute(app.database);
  for (const table of ['playlist_entries', 'playlist_acl'] as const) {
    await app.database.updateTable(table).set({ playlist_id: id }).where('playlist_id', '=', given).execute();
  }
  await app.database.deleteFrom('playlists').where('id', '=', given).execute();
  await app.database.updateTable('changes').set({ playlist_id: id }).where('playlist_id', '=', given).execute();
}

async function beginUpload(app: TestApp, target: Target, Authorization: string): Promise<void> {
  const metadata = `filename ${Buffer.from(target.filename).toString('base64')}`;
  const headers = { Authorization, ...TUS, 'Upload-Length': '100', 'Upload-Metadata': metadata };
  const begun = await app.request('/uploads', { method: 'POST', headers });
  expect(begun.status, await begun.text()).toBe(201);
  const id = begun.headers.get('Location')?.split('/').at(-1) ?? '';
  await app.database.updateTable('uploads').set({ id: target.upload }).where('id', '=', id).execute();
}

/** As if it had been recorded by the capture agent that records everybody's events. */
async function schedule({ database }: TestApp, { event, start }: Target): Promise<void> {
  await insertSchedule(database, {
    ...{ event_id: event, agent_id: AGENT, workflow: 'schedule-and-upload', allow_conflict: true },
    ...{ start_date: new Date(start), end_date: new Date(Date.parse(start) + 60_000) },
    recording_state: 'upload_finished',
  });
}

/** What a worker would do, and identifiers that are known beforehand. */
async function publish({ database, storage }: TestApp, target: Target): Promise<void> {
  await database.updateTable('tracks').set({ id: target.track }).where('event_id', '=', target.event).execute();
  const publication = { id: target.publication, event_id: target.event };
  await database
    .insertInto('publications')
    .values({ ...publication, channel: target.channel, mediatype: 'text/html' })
    .execute();
  await insertElement(database, storage, bytes(100), {
    ...{ id: target.element, event_id: target.event, publication_id: target.publication },
    ...{ kind: 'media', filename: target.filename, tags: [target.channel] },
  });
}

/** Values of a catalog, from words as the filters call them. */
function valuesOf(fields: readonly CoreField[], words: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const word = field.filter && words[field.filter.name];
      return word === undefined ? [] : [[field.id, takesList(field) ? [word] : word]];
    }),
  );
}

function seriesMetadata({ series, seriesWords: words }: Target): string {
  return catalogs('series', words.remarks, { identifier: series, ...valuesOf(SERIES_CORE_FIELDS, words) });
}

function eventMetadata({ event, series, start, eventWords: words }: Target): string {
  return catalogs('episode', words.remarks, {
    ...{ identifier: event, isPartOf: series, startDate: start.slice(0, 10), startTime: start.slice(11, 19) },
    ...valuesOf(EVENT_CORE_FIELDS, words),
  });
}

function catalogs(subtype: 'episode' | 'series', remarks: string, values: Record<string, unknown>): string {
  const fields = Object.entries(values).map(([id, value]) => ({ id, value }));
  return JSON.stringify([
    { flavor: `dublincore/${subtype}`, fields },
    { flavor: `license/${subtype}`, fields: [{ id: 'remarks', value: remarks }] },
  ]);
}
