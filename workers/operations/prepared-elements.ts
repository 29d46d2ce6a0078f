import { randomUUID } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import type { KeptPart } from '#platform/media/cutting.ts';
import type { Inspection } from '#platform/media/probe.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import { CAPTIONS, CHAPTERS, flavorOf, PLAYLIST } from '#publications/publication.ts';
import { releaseElements } from '#publications/publish.ts';
import type { OperationContext, StoredFile } from './operation.ts';

/** A track that a client sent or a program of the site made. */
export interface SourceTrack {
  id: string;
  position: number;
  flavor: string;
  object_key: string;
  sha256: string | null;
  mediatype: string;
  /** Milliseconds; null before inspection. */
  duration: number | null;
  /** Empty before inspection. */
  streams: MediaStream[];
  /** Null before inspection. */
  inspection: Inspection | null;
  /** The parts that a cut keeps; null for the whole track, empty when it is left out. */
  kept: KeptPart[] | null;
  /** The kinds of streams that are left out. */
  hidden: readonly string[];
  /** Null for tracks that clients sent. */
  made_by: string | null;
}

/** Returns the audio and video tracks of an event, in order; no captions and no documents. */
export async function sourceTracks(database: Database, eventId: string): Promise<SourceTrack[]> {
  const tracks = await database
    .selectFrom('tracks')
    .select([
      'id',
      'position',
      'flavor',
      'object_key',
      'sha256',
      'mediatype',
      'duration',
      'streams',
      'inspection',
      'kept_parts',
      'hidden_streams',
      'made_by',
    ])
    .where('event_id', '=', eventId)
    .where('is_media', '=', true)
    .orderBy('position')
    .execute();
  return tracks.map(({ streams, inspection, kept_parts, hidden_streams, ...track }) => ({
    ...track,
    inspection: inspection as unknown as Inspection | null,
    hidden: hidden_streams,
    streams: (streams ?? []) as unknown as MediaStream[],
    duration: track.duration === null ? null : Number(track.duration),
    kept: kept_parts as KeptPart[] | null,
  }));
}

/** Returns the tracks to encode or preview; an editor may keep nothing of a track. */
export async function tracksToPrepare(database: Database, eventId: string): Promise<SourceTrack[]> {
  const isLeft = ({ kept, hidden, streams }: SourceTrack) =>
    kept?.length !== 0 && (streams.length === 0 || streams.some(({ type }) => !hidden.includes(type)));
  return (await sourceTracks(database, eventId)).filter(isLeft);
}

/** Returns true if a track has sound that an editor has not left out. */
export function hasSound({ streams, kept, hidden }: SourceTrack): boolean {
  return kept?.length !== 0 && !hidden.includes('audio') && streams.some(({ type }) => type === 'audio');
}

/** Returns true if renditions of a track do not show all of it. */
export function isShortened({ kept, hidden }: SourceTrack): boolean {
  return kept !== null || hidden.length > 0;
}

type WorkflowRun = Pick<OperationContext, 'eventId' | 'workflowId'>;

/** A rendition that a workflow has made, published or not. */
export type MadeRendition = Awaited<ReturnType<typeof madeRenditions>>[number];

function madeRenditions(database: Database, { eventId, workflowId }: WorkflowRun) {
  return database
    .selectFrom('publication_elements')
    .select([
      'id',
      'track',
      'object_key',
      'size',
      'duration',
      'width',
      'height',
      'frame_rate',
      'has_video',
      'has_audio',
      'properties',
    ])
    .where('event_id', '=', eventId)
    .where('workflow_id', '=', workflowId)
    .where('kind', '=', 'media')
    .where('mediatype', '<>', PLAYLIST)
    .orderBy('position')
    .execute();
}

/** Returns the renditions that a workflow has made, by the position of their track, the best one first. */
export async function renditionsOf(database: Database, run: WorkflowRun): Promise<Map<number, MadeRendition[]>> {
  const rows = await madeRenditions(database, run);
  return Map.groupBy(rows, ({ track }) => track ?? 0);
}

type ElementFacts = Omit<
  Insertable<PublicationElement>,
  'event_id' | 'publication_id' | 'workflow_id' | 'kind' | 'object_key' | 'size' | 'sha256'
>;

/** A file to be published later. */
export interface PreparedElement extends Omit<ElementFacts, 'id'> {
  /** Chosen when the operation commits, unless another file names it. */
  id?: string;
  stored: StoredFile;
}

/**
 * Writes the elements that an operation prepared, replaces those of an earlier run that are not yet published, and
 * releases their objects. The next publication replaces media of an earlier run that are published already: the number of
 * their workflow becomes negative. Captions and chapters are attachments too, but prepared by another operation than
 * images.
 *
 * @param options.keeps the earlier elements that belong to the same result
 */
export async function replacePrepared(
  trx: Transaction,
  { eventId, workflowId }: WorkflowRun,
  what: 'media' | 'images' | 'captions',
  elements: readonly PreparedElement[],
  { keeps = [] }: { keeps?: readonly string[] } = {},
): Promise<void> {
  const kind = what === 'media' ? 'media' : 'attachment';
  const isReplaced = sql<boolean>`id <> ALL(${keeps}::uuid[])`;
  const earlier = await trx
    .deleteFrom('publication_elements')
    .where('event_id', '=', eventId)
    .where('publication_id', 'is', null)
    .where('kind', '=', kind)
    .where('flavor', what === 'captions' ? 'in' : 'not in', [CAPTIONS, CHAPTERS])
    .where(isReplaced)
    .returning('object_key')
    .execute();
  await releaseElements(trx, earlier);
  if (what === 'media') {
    await trx
      .updateTable('publication_elements')
      .set({ workflow_id: -workflowId })
      .where('event_id', '=', eventId)
      .where('workflow_id', '=', workflowId)
      .where('publication_id', 'is not', null)
      .where('kind', '=', kind)
      .where(isReplaced)
      .execute();
  }
  if (elements.length === 0) return;
  const rows = elements.map(({ stored, id = randomUUID(), ...facts }) => ({
    ...facts,
    id,
    event_id: eventId,
    workflow_id: workflowId,
    kind,
    object_key: stored.objectKey,
    size: stored.size,
    sha256: stored.sha256,
  }));
  await trx.insertInto('publication_elements').values(rows).execute();
}

/**
 * Returns the beginning of file names for each track: the type of its flavor, and its position if an earlier track has
 * the same type.
 */
export function fileStems(tracks: readonly SourceTrack[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    tracks.map((track) => {
      const type = flavorOf(track).type.replaceAll(/[^A-Za-z0-9._-]+/g, '-');
      const stem = taken.has(type) ? `${type}-${track.position + 1}` : type;
      taken.add(stem);
      return [track.id, stem];
    }),
  );
}
