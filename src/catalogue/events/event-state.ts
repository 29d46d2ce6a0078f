import { type Selectable, sql } from 'kysely';
import { type Action, type EffectiveAcl, effectiveAcl, mayAccess } from '#access/acl/acl.queries.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import type { Principal } from '#access/principal.ts';
import { progressOf, type RecordingProgress, type Schedule } from '#capture/states/state.ts';
import type { CatalogValues, FieldValue } from '#metadata/catalog.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { Outdated } from '#platform/database/retry.ts';
import type { Event } from '#platform/database/schema.ts';
import type { Processing } from '#processing/processing.ts';

/** What an edit of an event is decided by, as the transaction sees it that holds the event locked. */
export interface EventState {
  row: Selectable<Event>;
  acl: EffectiveAcl;
  /** The stored catalogs beside the default one, by flavor. */
  catalogs: ReadonlyMap<string, CatalogValues>;
  /** In their order. */
  tracks: readonly StoredTrack[];
  /** Undefined for an event that was never scheduled. */
  schedule: Schedule | undefined;
  /** What is done with the recording of a scheduled event once it comes. */
  processing: Processing | undefined;
  progress: RecordingProgress;
  references: References;
}

/** A track that an event has. */
export interface StoredTrack {
  id: string;
  flavor: string;
  tags: string[];
  objectKey: string;
  isMedia: boolean;
}

/** What a request refers to beside the event itself. */
export interface Referred {
  /** The series that the event is to join. */
  seriesId?: string | undefined;
  /** Some may be user names. */
  presenters?: readonly string[] | undefined;
  /** The capture agent that is to record. */
  agentId?: string | undefined;
}

/** What is known of that. */
export interface References {
  /** Whether the series exists and the sender may read it; it stays as it is until the transaction ends. */
  seriesFound: boolean;
  /** With the names of people in place of their user names (compatibility 3.5). */
  presenters: readonly string[];
  agentKnown: boolean;
}

/** Who asks, and what lets it: the access control list, or an agent's duty to deliver what it was asked to record. */
export interface Sender {
  principal: Principal;
  /** `acl` unless given. With `delivery` the right has been asked for before, and no list is. */
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
 * Locks an event for an edit, in the order that all writers keep (its series, shared, then the event), and loads its state.
 * Run it in `inTransaction`: it throws `Outdated` when the event joins another series at the same time.
 *
 * @param options.missing what to throw for an event that the sender may not read
 * @param options.denied what to throw for one that it may not write
 * @throws {HttpError}
 */
export async function lockEvent(
  trx: Transaction,
  id: string,
  { principal, rights = 'acl' }: Sender,
  { referred = {}, missing, denied }: { referred?: Referred; missing: (id: string) => Error; denied: () => Error },
): Promise<EventState> {
  const may = (of: 'events' | 'series', action: Action) =>
    rights === 'acl' ? mayAccess(of, principal, action) : sql<boolean>`true`;
  const joining = referred.seriesId ?? null;
  const locks = await sql<{ seen: string | null; now: string | null; seriesFound: boolean }>`
    WITH locked AS MATERIALIZED (
      SELECT id, ${may('series', 'read')} AS readable FROM series
      WHERE id IN ((SELECT series_id FROM events WHERE id = ${id}), ${joining}) ORDER BY id FOR SHARE
    )
    SELECT series_id AS now, (SELECT seen.series_id FROM events AS seen WHERE seen.id = ${id}) AS seen,
      coalesce((SELECT readable FROM locked WHERE locked.id = ${joining}), false) AS "seriesFound"
    FROM events WHERE id = ${id} AND (SELECT count(*) FROM locked) >= 0 FOR UPDATE OF events`.execute(trx);
  const [lock] = locks.rows;
  if (!lock) throw missing(id);
  // A statement of its own: it sees what others have written while the first one waited for their locks.
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
  if (lock.seen !== lock.now) throw new Outdated('The event has joined another series.');
  return stateOf(found, lock.seriesFound);
}

/**
 * Looks up what new events refer to. Their series is locked and, if a client has chosen an identifier, that no other event
 * gets it: needed before anything is written that belongs to an event of that identifier.
 *
 * @returns also whether the identifier is taken
 */
export async function lookUp(
  trx: Transaction,
  { id, ...referred }: Referred & { id: string | undefined },
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
  const { referredPresenters: presenters, ...others } = found;
  return { ...others, presenters };
}

function referencesTo({ presenters = [], agentId = '' }: Referred) {
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
      ? {
          eventId: row.id,
          agentId: row.agent_id,
          start: row.technical_start,
          end: row.technical_end,
          inputs,
        }
      : undefined,
    processing: workflow === null ? undefined : { workflow, configuration: configuration as Record<string, string> },
    progress: progressOf(row, hasMedia),
    references: { seriesFound, presenters: referredPresenters, agentKnown },
  };
}
