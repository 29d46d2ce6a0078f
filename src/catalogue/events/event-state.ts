import { type Selectable, sql } from 'kysely';
import { type Action, type EffectiveAcl, effectiveAcl, mayAccess } from '#access/acl/acl.queries.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import type { Principal } from '#access/principal.ts';
import { progressOf, type RecordingProgress, type Schedule } from '#capture/states/recording-state.ts';
import type { CatalogValues, FieldValue } from '#metadata/catalog.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { PREPARED } from '#platform/database/prepared.ts';
import { TransactionConflict } from '#platform/database/retry.ts';
import type { Event } from '#platform/database/schema.ts';
import type { Processing } from '#processing/processing-request.ts';

/** The state of a locked event, from which edits are decided. */
export interface EventState {
  row: Selectable<Event>;
  acl: EffectiveAcl;
  /** The stored extended catalogs, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  /** By position. */
  tracks: readonly StoredTrack[];
  /** Undefined if the event was never scheduled. */
  schedule: Schedule | undefined;
  /** The processing that starts when the recording of a scheduled event arrives. */
  processing: Processing | undefined;
  progress: RecordingProgress;
  references: References;
}

export interface StoredTrack {
  id: string;
  flavor: string;
  tags: string[];
  objectKey: string;
  isMedia: boolean;
}

/** The identifiers in a request that refer to other resources. */
export interface ReferredIds {
  /** The series that the event joins. */
  seriesId?: string | undefined;
  /** Names of people, or user names of accounts. */
  presenters?: readonly string[] | undefined;
  /** The capture agent of the recording. */
  agentId?: string | undefined;
}

/** The resources that a request refers to. */
export interface References {
  /** True if the series exists and the sender may read it. The series is locked until the transaction ends. */
  seriesFound: boolean;
  /** User names are replaced by the names of their accounts (compatibility 3.5). */
  presenters: readonly string[];
  agentKnown: boolean;
}

/** The author of a request. */
export interface Sender {
  principal: Principal;
  /** Defaults to `acl`. `delivery`: a capture agent delivers a recording; its right was checked before. */
  rights?: 'acl' | 'delivery' | undefined;
}

interface Found extends Selectable<Event>, Pick<References, 'agentKnown'> {
  referredPresenters: string[];
  readable: boolean;
  writable: boolean;
  inputs: string[] | null;
  workflow: string | null;
  configuration: unknown;
  tracks: StoredTrack[];
  ownEntries: AclEntry[];
  seriesEntries: AclEntry[];
  catalogs: Record<string, Record<string, FieldValue>>;
}

/**
 * Locks an event for an edit and loads its state. The lock order of all writers: first the series (shared), then the event.
 * Run it in `inTransaction`, because it throws `TransactionConflict` if the event joins another series at the same time.
 *
 * @param options.missing the error for an event that the sender may not read
 * @param options.denied the error for an event that the sender may not write
 */
export async function lockEvent(
  trx: Transaction,
  id: string,
  { principal, rights = 'acl' }: Sender,
  { referred = {}, missing, denied }: { referred?: ReferredIds; missing: (id: string) => Error; denied: () => Error },
): Promise<EventState> {
  const may = (of: 'events' | 'series', action: Action) =>
    rights === 'acl' ? mayAccess(of, principal, action) : sql<boolean>`true`;
  const joining = referred.seriesId ?? null;
  const locks = await sql<{ seen: string | null; now: string | null; seriesFound: boolean }>`
    ${PREPARED} WITH locked AS MATERIALIZED (
      SELECT id, ${may('series', 'read')} AS readable FROM series
      WHERE id IN ((SELECT series_id FROM events WHERE id = ${id}), ${joining}) ORDER BY id FOR SHARE
    )
    SELECT series_id AS now, (SELECT seen.series_id FROM events AS seen WHERE seen.id = ${id}) AS seen,
      coalesce((SELECT readable FROM locked WHERE locked.id = ${joining}), false) AS "seriesFound"
    FROM events WHERE id = ${id} AND (SELECT count(*) FROM locked) >= 0 FOR UPDATE OF events`.execute(trx);
  const [lock] = locks.rows;
  if (!lock) throw missing(id);
  // A second statement sees what other transactions committed while the first one waited for locks.
  const { rows } = await sql<Found>`
    SELECT events.*, ${may('events', 'read')} AS readable, ${may('events', 'write')} AS writable,
      schedules.inputs, schedules.workflow, schedules.configuration,
      ARRAY(SELECT jsonb_build_object('id', id, 'flavor', flavor, 'tags', tags, 'objectKey', object_key,
        'isMedia', is_media) FROM tracks WHERE tracks.event_id = events.id ORDER BY position) AS tracks,
      ARRAY(SELECT jsonb_build_object('allow', allow, 'action', action, 'role', role) FROM event_acl
        WHERE event_acl.event_id = events.id ORDER BY position) AS "ownEntries",
      ARRAY(SELECT jsonb_build_object('allow', allow, 'action', action, 'role', role) FROM series_acl
        WHERE series_acl.series_id = events.series_id ORDER BY position) AS "seriesEntries",
      coalesce((SELECT jsonb_object_agg(flavor, fields) FROM event_catalogs
        WHERE event_catalogs.event_id = events.id), '{}') AS catalogs, ${referencesTo(referred)}
    FROM events LEFT JOIN schedules ON schedules.event_id = events.id WHERE events.id = ${id}`.execute(trx);
  const [found] = rows;
  if (!found?.readable) throw missing(id);
  if (!found.writable) throw denied();
  if (lock.seen !== lock.now) throw new TransactionConflict('The event has joined another series.');
  return stateOf(found, lock.seriesFound);
}

/**
 * Looks up the resources that new events refer to and locks their series. Also locks an identifier that the client chose,
 * so that no other transaction uses it; rows that belong to the event may be written only after that.
 */
export async function lookUpReferences(
  trx: Transaction,
  { id, ...referred }: ReferredIds & { id: string | undefined },
  { principal, rights = 'acl' }: Sender,
): Promise<References & { taken: boolean }> {
  if (id !== undefined) await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(trx);
  const readable = rights === 'acl' ? mayAccess('series', principal, 'read') : sql`true`;
  const { rows } = await sql<
    Pick<Found, 'referredPresenters' | 'agentKnown'> & Record<'seriesFound' | 'taken', boolean>
  >`
    WITH locked AS MATERIALIZED (
      SELECT ${readable} AS readable FROM series WHERE id = ${referred.seriesId ?? null} FOR SHARE
    )
    SELECT coalesce((SELECT readable FROM locked), false) AS "seriesFound", ${referencesTo(referred)},
      EXISTS (SELECT FROM events WHERE events.id = ${id ?? null}) AS taken`.execute(trx);
  const [found] = rows;
  if (!found) throw new Error('A query without a table has one row.');
  const { referredPresenters: presenters, ...rest } = found;
  return { ...rest, presenters };
}

function referencesTo({ presenters = [], agentId = '' }: ReferredIds) {
  return sql`ARRAY(SELECT coalesce(nullif(name, ''), presenter)
      FROM unnest(${[...presenters]}::text[]) WITH ORDINALITY AS presenters (presenter, position)
      LEFT JOIN accounts ON username = presenter ORDER BY position) AS "referredPresenters",
    EXISTS (SELECT FROM capture_agents WHERE capture_agents.id = ${agentId} AND NOT forgotten) AS "agentKnown"`;
}

function stateOf(found: Found, seriesFound: boolean): EventState {
  const { readable, writable, inputs, workflow, configuration, ...rest } = found;
  const { tracks, ownEntries, seriesEntries, catalogs, referredPresenters, agentKnown, ...row } = rest;
  const hasMedia = tracks.some(({ isMedia }) => isMedia);
  return {
    row,
    acl: effectiveAcl(row, ownEntries, seriesEntries),
    catalogs: new Map(Object.entries(catalogs).map(([flavor, fields]) => [flavor, new Map(Object.entries(fields))])),
    tracks,
    schedule: inputs
      ? { eventId: row.id, agentId: row.agent_id, start: row.technical_start, end: row.technical_end, inputs }
      : undefined,
    processing: workflow === null ? undefined : { workflow, configuration: configuration as Record<string, string> },
    progress: progressOf(row, hasMedia),
    references: { seriesFound, presenters: referredPresenters, agentKnown },
  };
}
