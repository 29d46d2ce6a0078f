import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { retractPublications } from '#publications/publish.ts';
import { Client } from '../support/client.ts';
import { Harvester } from '../support/harvester.ts';
import { insertPublished, publishEvent } from '../support/portal-scene.ts';
import { insertEvent } from '../support/publication.ts';
import { ace, catalogOf } from '../support/series.ts';
import { startServerFor } from '../support/server.ts';

const CHANGES = 10_000;
const WRITERS = 8;
const KILLS = 6;
const EVENTS = 60;
const [SERIES, PLAYLISTS] = [12, 20];

const pick = <T>(all: readonly T[]) => all[Math.floor(Math.random() * all.length)] as T;
const names = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `${kind}-${n}`);
const randomAcl = () =>
  ['read', 'write', 'annotate'].flatMap((action) => (Math.random() < 0.6 ? [ace(pick(names('ROLE', 5)), action)] : []));

/** What a writer does with resources that others change and delete at the same time. */
class Writer {
  readonly #admin: Client;
  readonly #database: Database;
  /** Shared by all writers, with what was created and may be gone. */
  readonly #playlists: string[];
  readonly #events = names('event', EVENTS);
  readonly #series = names('series', SERIES);
  #count = 0;
  #isMade = false;

  constructor(admin: Client, database: Database, playlists: string[]) {
    this.#admin = admin;
    this.#database = database;
    this.#playlists = playlists;
  }

  /** Tries one change. @returns whether it was made; without an answer it may have been made, too */
  async change(): Promise<boolean> {
    this.#count += 1;
    this.#isMade = false;
    const ways: (() => Promise<unknown>)[] = [
      ...[this.#changeEvent, this.#changeEvent, this.#moveEvent, this.#replaceEventAcl, this.#deleteEvent],
      ...[this.#workOnEvent, this.#workOnEvent, this.#workOnEvent, this.#changeSeries, this.#replaceSeriesAcl],
      ...[this.#replaceSeriesAcl, this.#replaceSeries, this.#createPlaylist, this.#changePlaylist],
      ...[this.#changePlaylist, this.#deletePlaylist],
    ];
    await pick(ways).call(this);
    return this.#isMade;
  }

  async #send(method: string, path: string, fields?: Record<string, string>): Promise<Response | undefined> {
    const body = fields && new URLSearchParams(fields);
    const headers = { Authorization: this.#admin.authorization };
    const answer = await fetch(`${this.#admin.url}/api/${path}`, { method, headers, body }).catch(() => undefined);
    // The API is being killed, or starts again.
    if (!answer) await sleep(100);
    else expect(answer.status, `${method} ${path}: ${await answer.clone().text()}`).toBeLessThan(500);
    this.#isMade = answer?.ok ?? false;
    return answer;
  }

  #setFields(event: string, values: Record<string, string>) {
    const fields = Object.entries(values).map(([id, value]) => ({ id, value }));
    const metadata = JSON.stringify(fields);
    return this.#send('PUT', `events/${event}/metadata?type=dublincore/episode`, { metadata });
  }

  #changeEvent() {
    return this.#setFields(pick(this.#events), { title: `Title ${this.#count}`, language: pick(['deu', 'eng']) });
  }

  #moveEvent() {
    return this.#setFields(pick(this.#events), { isPartOf: pick(['', ...this.#series]) });
  }

  #replaceEventAcl() {
    return this.#send('PUT', `events/${pick(this.#events)}/acl`, { acl: JSON.stringify(randomAcl()) });
  }

  #deleteEvent() {
    return this.#send('DELETE', `events/${pick(this.#events)}`);
  }

  /** What workers do, in transactions that stay open for different times: create, publish, retract. */
  async #workOnEvent(): Promise<void> {
    const eventId = pick(this.#events);
    await inTransaction(this.#database, async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${eventId}, 0))`.execute(trx);
      const found = await trx
        .selectFrom('events')
        .select('id')
        .where('id', '=', eventId)
        .forUpdate()
        .executeTakeFirst();
      if (!found) await insertEvent(trx as Transaction & Database, { id: eventId, series_id: pick(this.#series) });
      if (!found || Math.random() < 0.6) await publishEvent(trx, eventId);
      else await retractPublications(trx, { eventId, channel: undefined });
      await sleep(Math.random() * 30);
    });
    this.#isMade = true;
  }

  #changeSeries() {
    const metadata = catalogOf({ title: `Course ${this.#count}` });
    return this.#send('PUT', `series/${pick(this.#series)}`, { metadata });
  }

  #replaceSeriesAcl() {
    return this.#send('PUT', `series/${pick(this.#series)}/acl`, { acl: JSON.stringify(randomAcl()) });
  }

  /** Deletes a series, or creates it again. */
  async #replaceSeries(): Promise<void> {
    const identifier = pick(this.#series);
    if (Math.random() < 0.5) await this.#send('DELETE', `series/${identifier}`);
    else {
      const metadata = catalogOf({ identifier, title: `Course ${this.#count}` });
      await this.#send('POST', 'series', { metadata, acl: JSON.stringify(randomAcl()) });
    }
  }

  #playlist() {
    const entries = Array.from({ length: Math.floor(Math.random() * 5) }, () => ({ contentId: pick(this.#events) }));
    return { title: `List ${this.#count}`, entries, accessControlEntries: randomAcl() };
  }

  async #createPlaylist(): Promise<void> {
    if (this.#playlists.length >= PLAYLISTS) return void (await this.#changePlaylist());
    const answer = await this.#send('POST', 'playlists/', { playlist: JSON.stringify(this.#playlist()) });
    if (answer?.ok) this.#playlists.push(((await answer.json()) as { id: string }).id);
  }

  async #changePlaylist(): Promise<void> {
    const { title, entries } = this.#playlist();
    const playlist = JSON.stringify(pick([{ title }, { entries }, this.#playlist()]));
    await this.#send('PUT', `playlists/${pick(this.#playlists)}`, { playlist });
  }

  async #deletePlaylist(): Promise<void> {
    if (this.#playlists.length < PLAYLISTS / 2) return void (await this.#createPlaylist());
    const [id] = this.#playlists.splice(Math.floor(Math.random() * this.#playlists.length), 1);
    await this.#send('DELETE', `playlists/${id}`);
  }
}

type State = Record<string, unknown>;

/** What the database says that a portal shows, found without the code that harvests. */
async function stateOf(database: Database): Promise<State> {
  const acl = (entries: string) =>
    sql.raw(`(SELECT coalesce(jsonb_object_agg(action, roles), '{}') FROM
    (SELECT action, jsonb_agg(DISTINCT role ORDER BY role) AS roles FROM (${entries}) AS e WHERE allow GROUP BY action) AS a)`);
  const own = 'SELECT * FROM event_acl WHERE event_id = events.id';
  const ofSeries = 'SELECT * FROM series_acl WHERE series_id = events.series_id';
  const { rows } = await sql<{ key: string; shown: object }>`
    SELECT 'event ' || id AS key, jsonb_build_object('title', title, 'partOf', series_id, 'acl',
        CASE WHEN own_acl THEN ${acl(own)} ELSE ${acl(ofSeries)} END, 'language', language, 'files',
        (SELECT jsonb_agg(e.id ORDER BY e.id) FROM publication_elements AS e JOIN publications AS p ON p.id = publication_id
          WHERE p.event_id = events.id AND kind = 'media')) AS shown
      FROM events WHERE EXISTS (SELECT FROM publications WHERE event_id = events.id AND channel = 'engage-player')
    UNION ALL SELECT 'series ' || id, jsonb_build_object('title', title, 'acl',
      ${acl('SELECT * FROM series_acl WHERE series_id = series.id')}) FROM series
    UNION ALL SELECT 'playlist ' || id, jsonb_build_object('title', title, 'acl',
      ${acl('SELECT * FROM playlist_acl WHERE playlist_id = playlists.id')}, 'entries',
      (SELECT coalesce(jsonb_agg(jsonb_build_array(id, content_id) ORDER BY position), '[]') FROM playlist_entries
        WHERE playlist_id = playlists.id)) FROM playlists`.execute(database);
  return Object.fromEntries(rows.map(({ key, shown }) => [key, shown]));
}

/** The same of what a portal has. */
function stateIn(portal: Harvester): State {
  const roles = (acl: Record<string, string[]>) =>
    Object.fromEntries(
      Object.entries(acl).flatMap(([action, all]) => (all.length > 0 ? [[action, all.toSorted()]] : [])),
    );
  const shown = [...portal.items].map(([key, item]) => {
    if (item.kind === 'event') {
      const { title, partOf, acl, metadata, tracks } = item;
      const language = metadata.dcterms?.language?.[0] ?? '';
      const files = tracks.map(({ uri }) => uri.split('/').at(-2)).toSorted();
      return [key, { title, partOf, acl: roles(acl), language, files }];
    }
    if (item.kind === 'series') return [key, { title: item.title, acl: roles(item.acl) }];
    if (item.kind !== 'playlist') return [key, item];
    const entries = item.entries.map(({ id, contentId }) => [id, contentId]);
    return [key, { title: item.title, acl: roles(item.acl), entries }];
  });
  return Object.fromEntries(shown);
}

test(`a portal that follows ${CHANGES} changes by ${WRITERS} writers, with kills of the API, ends with the state of the database`, async (context) => {
  const server = await startServerFor(context, { runtime: 'deno', roles: ['api'] });
  const { database } = server;
  const admin = new Client(server.url);
  for (const id of names('event', EVENTS))
    await insertPublished(database, { id, series_id: pick(names('series', SERIES)) });
  for (const id of names('series', SERIES)) {
    const fields = { metadata: catalogOf({ identifier: id, title: id }), acl: '[]' };
    expect((await admin.fetch('/api/series', { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(201);
  }

  let over = false;
  const portal = new Harvester((path) => admin.fetch(path), 20);
  let harvests = 0;
  const following = (async () => {
    while (!over) {
      const found = await portal.step().catch((error: Error) => error);
      // Without an answer it asks once more from where it was.
      if (found instanceof TypeError) await sleep(100);
      else if (found instanceof Error) throw found;
      else harvests += 1;
    }
  })();
  const playlists: string[] = [];
  let left = CHANGES;
  onTestFinished(() => {
    over = true;
    left = 0;
  });
  const writing = Array.from({ length: WRITERS }, async () => {
    const writer = new Writer(admin, database, playlists);
    while (left > 0) if (await writer.change()) left -= 1;
  });
  const written = Promise.all(writing);
  const killing = (async () => {
    for (let kill = 1; kill <= KILLS && left > 0; kill += 1) {
      while (left > CHANGES * (1 - kill / (KILLS + 1))) await sleep(50);
      await server.api.kill();
      server.api.start();
      await server.ready();
    }
  })();
  await Promise.race([Promise.all([written, killing]), following]);
  over = true;
  await following;
  await portal.catchUp();
  expect(stateIn(portal)).toEqual(await stateOf(database));
  const anew = new Harvester((path) => admin.fetch(path));
  await anew.catchUp();
  expect([...anew.items].toSorted()).toEqual([...portal.items].toSorted());
  expect(harvests).toBeGreaterThan(CHANGES / 200);
}, 900_000);
