import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { Principal } from '#access/principal.ts';
import { newEventColumns } from '#catalogue/events/event-columns.ts';
import type { NewTrack } from '#catalogue/events/event-files.ts';
import { accept } from '#ingest/accept.ts';
import { addToDraft, extendDraft, readContents } from '#ingest/draft-contents.ts';
import { type AskedDraft, discardDraft, expireDrafts, findDraft, openDraft } from '#ingest/drafts.ts';
import type { ExistingTarget, NewTarget } from '#ingest/intake.ts';
import { folderPlace } from '#platform/storage/folder.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { loadDefinitions } from '#processing/load-definitions.ts';
import { bytes, source } from '../support/bytes.ts';
import { databaseForThisFile } from '../support/database.ts';
import { insertScheduled } from '../support/scheduled-event.ts';
import { newAgent } from '../support/scheduling.ts';
import { FOR_AGES } from '../support/watched.ts';

const DOOR = 'packages';
const HOUR_MS = 3_600_000;
const person = (username: string, ...roles: string[]) =>
  new Principal({ username, name: '', email: '', provider: 'inlet', roles: new Set(roles) });
const agent = person('hall-1');

const db = databaseForThisFile();
const definitions = await loadDefinitions(undefined);

const dataDir = await mkdtemp(join(tmpdir(), 'inlet-drafts-'));
const storage = await folderPlace(dataDir).open();
afterAll(() => rm(dataDir, { recursive: true }));

let draft: AskedDraft;
let ledgers: StagingLedger[];
beforeEach(async () => {
  ledgers = [];
  draft = await opened();
});
afterEach(async () => {
  for (const ledger of ledgers) ledger.close();
  for (const table of ['drafts', 'staging', 'events'] as const) await db.database.deleteFrom(table).execute();
  await storage.remove(await stored());
});

/** The ledger of another process. */
function process(): StagingLedger {
  const parts = { database: db.database, storage, log: silentLogger };
  const ledger = new StagingLedger({ ...parts, owner: randomUUID() });
  ledgers.push(ledger);
  return ledger;
}

const within = <T>(work: Parameters<ReturnType<typeof db.database.transaction>['execute']>[0]) =>
  db.database.transaction().execute(work) as Promise<T>;
const opened = async (principal = agent): Promise<AskedDraft> => {
  const { id } = await openDraft(db.database, { door: DOOR, principal, lifetimeMs: HOUR_MS });
  return { id, door: DOOR, principal };
};

async function stage(by: StagingLedger, flavor = 'presenter/source'): Promise<NewTrack> {
  const objectKey = await by.stage('track');
  await storage.put(objectKey, source(bytes(100)), { mediatype: 'video/mp4' });
  const facts = { filename: 'a.mp4', mediatype: 'video/mp4', size: 100 };
  const sha256 = randomBytes(32).toString('hex');
  return { id: randomUUID(), flavor, tags: ['archive'], objectKey, sha256, ...facts };
}

async function add(by = process(), flavor?: string): Promise<NewTrack> {
  const track = await stage(by, flavor);
  await handOver(track, by);
  return track;
}

/** What a process leaves behind that is gone: nobody renews what it has staged. */
const leasesRunOut = () =>
  sql`UPDATE staging SET expires_at = now() - interval '1 second' WHERE owner NOT LIKE 'draft %'`.execute(db.database);
const expire = () =>
  within(async (trx) => {
    const past = sql<Date>`now() - interval '1 second'`;
    await trx.updateTable('drafts').set({ expires_at: past }).execute();
    await trx.updateTable('staging').set({ expires_at: past }).where('owner', 'like', 'draft %').execute();
  });
const stored = async () => (await Array.fromAsync(storage.list(''))).map(({ key }) => key);
const held = async () => (await readContents(db.database, draft.id)).tracks;
const GONE = /^The draft '.*' does not exist or has expired\.$/;
const expectGone = (work: Promise<unknown>) =>
  expect(work).rejects.toMatchObject({ status: 404, message: expect.stringMatching(GONE) });
const handOver = (track: NewTrack, by: StagingLedger) =>
  within((trx) => addToDraft(trx, draft, { tracks: [track] }, by));
const extend = (lifetimeMs: number) => within<{ expiresAt: Date }>((trx) => extendDraft(trx, draft, lifetimeMs));
const rows = (table: 'drafts' | 'draft_tracks' | 'staging' | 'events' | 'tracks' | 'workflows') =>
  db.database.selectFrom(table).selectAll().execute() as Promise<Record<string, unknown>[]>;

const newEvent = (id: string = randomUUID()): NewTarget => {
  const columns = newEventColumns(new Map([['title', 'Lecture']]), new Date());
  const processing = { workflow: 'publish', configuration: {} };
  const events = { id, columns, catalogs: new Map(), acl: [], processing, recordings: undefined };
  return { kind: 'new', events, gapMs: 0 };
};
const acceptDraft = (by: StagingLedger, into: NewTarget | ExistingTarget = newEvent(), which = draft) => {
  const { principal } = which;
  const intake = { principal, requestId: 'r', target: into, tracks: [], draft: which };
  return within((trx) => accept(trx, intake, { staging: by, definitions }));
};

test('objects of a draft outlive the process that stored them, and another one makes an event of them', async () => {
  const first = process();
  const tracks = [await add(first), await add(first, 'presentation/source')];
  first.close();
  await leasesRunOut();
  const second = process();
  expect(await second.sweep(FOR_AGES)).toBe(0);
  expect(await held()).toEqual(tracks);
  await acceptDraft(second, newEvent('lecture'));
  const common = { event_id: 'lecture', tags: ['archive'] };
  expect(await rows('tracks')).toMatchObject(
    tracks.map(({ id, flavor, objectKey }) => ({ id, flavor, object_key: objectKey, ...common })),
  );
  expect(await rows('workflows')).toMatchObject([{ event_id: 'lecture', creator: 'hall-1', request_id: 'r' }]);
  for (const table of ['draft_tracks', 'staging'] as const) expect(await rows(table)).toEqual([]);
  const [{ id: workflow_id } = {}] = await rows('workflows');
  expect(await rows('drafts')).toMatchObject([{ id: draft.id, event_id: 'lecture', workflow_id }]);
  await second.sweep(FOR_AGES);
  expect((await stored()).sort()).toEqual(tracks.map(({ objectKey }) => objectKey).sort());
});

test('an object that is not complete when its process goes is swept, and the draft keeps the others', async () => {
  const [first, second] = [process(), process()];
  const kept = await add(first);
  await stage(first);
  first.close();
  await leasesRunOut();
  expect(await second.sweep(FOR_AGES)).toBe(1);
  expect(await stored()).toEqual([kept.objectKey]);
});

test('a track whose object was swept before it was handed over is not part of the draft', async () => {
  const by = process();
  const track = await stage(by);
  await leasesRunOut();
  await process().sweep(FOR_AGES);
  await expect(handOver(track, by)).rejects.toThrow('has been swept');
  expect(await held()).toEqual([]);
});

test('a draft is the recording of a scheduled event', async () => {
  const period = { start: '2030-01-07T08:00:00Z', end: '2030-01-07T09:00:00Z' };
  const id = await insertScheduled(db.database, { agent_id: newAgent(), ...period });
  draft = await opened(person('admin', 'ROLE_ADMIN'));
  const track = await add();
  await acceptDraft(process(), { kind: 'existing', id, edits: {}, takes: { kind: 'recording' } });
  expect(await rows('tracks')).toMatchObject([{ id: track.id, event_id: id }]);
  expect(await rows('events')).toMatchObject([{ recording_state: 'upload_finished', archive_version: 1 }]);
  expect(await rows('workflows')).toMatchObject([{ event_id: id }]);
});

test('of two who accept one draft at once, one makes an event, and the other hears that it has been ingested', async () => {
  for (let round = 0; round < 3; round += 1) {
    await db.database.deleteFrom('events').execute();
    draft = await opened();
    await add();
    const outcomes = await Promise.allSettled([acceptDraft(process()), acceptDraft(process())]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({ status: 409 });
    expect(await rows('events')).toHaveLength(1);
    expect(await rows('tracks')).toHaveLength(1);
  }
});

test('an acceptance that is refused leaves the draft as it was', async () => {
  const track = await add();
  await acceptDraft(process(), newEvent('taken'), await opened());
  await expect(acceptDraft(process(), newEvent('taken'))).rejects.toThrow('already exists');
  expect(await held()).toEqual([track]);
  await acceptDraft(process(), newEvent('free'));
  expect(await rows('tracks')).toMatchObject([{ id: track.id, event_id: 'free' }]);
});

test('a track that comes while the draft is accepted is part of the event, or nothing is left of it', async () => {
  for (let round = 0; round < 3; round += 1) {
    await db.database.deleteFrom('events').execute();
    draft = await opened();
    await add();
    const by = process();
    const late = await stage(by);
    const [, added] = await Promise.allSettled([acceptDraft(process()), handOver(late, by)]);
    if (added.status === 'rejected') {
      expect(added.reason).toMatchObject({ status: 409 });
      await by.discard([late.objectKey]);
    }
    expect(await rows('tracks')).toHaveLength(added.status === 'fulfilled' ? 2 : 1);
    expect(await rows('staging')).toEqual([]);
    expect((await stored()).includes(late.objectKey)).toBe(added.status === 'fulfilled');
  }
});

test('a draft that has expired is gone, and its objects with it', async () => {
  await add();
  const by = process();
  expect(await expireDrafts(db.database)).toBe(0);
  expect(await by.sweep(FOR_AGES)).toBe(0);
  await expire();
  await expectGone(acceptDraft(by));
  await expectGone(findDraft(db.database, draft));
  await expectGone(extend(HOUR_MS));
  expect(await expireDrafts(db.database)).toBe(1);
  expect(await by.sweep(FOR_AGES)).toBe(1);
  expect(await stored()).toEqual([]);
  expect(await rows('events')).toEqual([]);
  expect(await rows('draft_tracks')).toEqual([]);
});

test('an expired draft frees its name at once, and what came of it is swept beside the new one', async () => {
  await add();
  await expire();
  await openDraft(db.database, { ...draft, lifetimeMs: HOUR_MS });
  const track = await add();
  await extend(HOUR_MS);
  const by = process();
  expect(await held()).toEqual([track]);
  await acceptDraft(by);
  expect(await rows('staging')).toHaveLength(1);
  expect(await by.sweep(FOR_AGES)).toBe(1);
  expect(await stored()).toEqual([track.objectKey]);
});

test('a draft with tracks cannot become the many events of a rule', async () => {
  const track = await add();
  const { events, gapMs } = newEvent();
  const at = (day: number, hour: number) => new Date(Date.UTC(2030, 0, day, hour));
  const periods = [1, 2].map((day) => ({ start: at(day, 8), end: at(day, 9) }));
  const recordings = { agentId: newAgent(), inputs: [], periods, recurring: true };
  const many: NewTarget = { kind: 'new', events: { ...events, recordings }, gapMs };
  await expect(acceptDraft(process(), many)).rejects.toMatchObject({ status: 400 });
  expect(await held()).toEqual([track]);
  expect(await rows('events')).toEqual([]);
});

test('a draft whose objects the sweep took is gone, though its time has not come', async () => {
  await add();
  await sql`UPDATE staging SET expires_at = now() - interval '1 second'`.execute(db.database);
  await process().sweep(FOR_AGES);
  await expectGone(extend(HOUR_MS));
  await expectGone(acceptDraft(process()));
  expect(await rows('events')).toEqual([]);
});

test('a draft that is extended lives on with all its objects', async () => {
  const track = await add();
  const { expiresAt } = await extend(3 * HOUR_MS);
  expect(expiresAt.getTime() - Date.now()).toBeGreaterThan(2 * HOUR_MS);
  expect(await findDraft(db.database, draft)).toMatchObject({ expiresAt, owner: 'hall-1' });
  expect(await rows('staging')).toMatchObject([{ object_key: track.objectKey, expires_at: expiresAt }]);
});

test('a process neither renews nor removes what it has handed to a draft', async () => {
  const by = process();
  const { objectKey } = await add(by);
  const before = await rows('staging');
  await by.renew();
  await by.discard([objectKey]);
  expect(await rows('staging')).toEqual(before);
  expect(await stored()).toEqual([objectKey]);
});

test('a draft that is discarded leaves nothing', async () => {
  await add();
  await within((trx) => discardDraft(trx, draft));
  await expectGone(findDraft(db.database, draft));
  expect(await process().sweep(FOR_AGES)).toBe(1);
  expect(await stored()).toEqual([]);
  expect(await rows('staging')).toEqual([]);
});

test('a draft is there for its door, its account and administrators alone', async () => {
  for (const other of [
    { ...draft, principal: person('somebody') },
    { ...draft, door: 'uploads' },
    { ...draft, id: randomUUID() },
  ]) {
    await expectGone(findDraft(db.database, other));
    await expectGone(acceptDraft(process(), newEvent(), other));
    await expectGone(within((trx) => discardDraft(trx, other)));
  }
  const administrators = { ...draft, principal: person('x', 'ROLE_ADMIN') };
  expect(await findDraft(db.database, administrators)).toMatchObject({ id: draft.id });
});

test('a name that a draft has is not given to another', async () => {
  const again = openDraft(db.database, { ...draft, lifetimeMs: HOUR_MS });
  await expect(again).rejects.toMatchObject({ status: 409 });
  expect(await rows('drafts')).toHaveLength(1);
});
