import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Insertable } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { PublicationElement } from '#platform/database/schema.ts';
import { type DeliveryOptions, deliverCopy, isCopied } from '#platform/media/encode-delivery.ts';
import { type LadderSettings, planLadder } from '#platform/media/ladder.ts';
import { encodePiece, type PieceFile } from '#platform/media/pieces/encode-piece.ts';
import { joinPieces, PiecesUnfit } from '#platform/media/pieces/join-pieces.ts';
import {
  type PictureWork,
  type PieceLimits,
  planPieces,
  type Stretch,
  whyIndivisible,
} from '#platform/media/pieces/piece-plan.ts';
import { type MediaInfo, withoutStreams } from '#platform/media/probe.ts';
import { demuxerFor } from '#platform/media/recording.ts';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { encodingLimit } from '#platform/media/workload.ts';
import type { Commit, OperationContext } from './operation.ts';
import type { MadeRendition, PreparedElement, SourceTrack } from './prepared-elements.ts';
import { storeRenditions } from './rendition-elements.ts';
import { countedContentOf } from './track-content.ts';

/** Of the results of pieces, which only workers read. */
const MEDIATYPE = 'application/octet-stream';

/** The work of a piece. Stored as JSON. */
interface EncodingPiece {
  /** The position of the track. */
  track: number;
  objectKey: string;
  work: PictureWork;
  stretch: Stretch;
}

/** A stored file of a piece. All but its key is stored as JSON. */
interface StoredPieceFile extends Omit<PieceFile, 'path'> {
  /** The operation that encoded the piece. */
  piece: number;
  objectKey: string;
}

/** A finished piece and its files. */
export interface FinishedPiece extends EncodingPiece {
  succeeded: boolean;
  reason: string | null;
  files: readonly StoredPieceFile[];
}

/** A track to be divided. */
interface DividingTask {
  track: SourceTrack;
  /** The beginning of file names. */
  stem: string;
  settings: LadderSettings;
  /** The renditions that an earlier operation of the same workflow has made. */
  copies: readonly MadeRendition[];
  optionsFor: (source: MediaInfo) => DeliveryOptions;
  limits: PieceLimits | undefined;
}

/** The pieces of a track, the earlier copies that belong to the result, and what had to be copied first. */
export interface DividedTrack {
  pieces: EncodingPiece[];
  copies: readonly MadeRendition[];
  copied: PreparedElement[];
}

/** Divides the encoding of a track. @returns undefined if it must be encoded in one go */
export async function divideTrack(context: OperationContext, task: DividingTask): Promise<DividedTrack | undefined> {
  const { tools, log, locate } = context;
  const { track, settings } = task;
  const oneGo = (because: string) => {
    log.info({ track: track.id, because }, 'track encoded in one go');
    return undefined;
  };
  const recording = { demuxer: demuxerFor(track.mediatype) ?? 'none' };
  const indivisible = whyIndivisible({ recording, cut: track.kept !== null });
  if (indivisible) return oneGo(indivisible);
  const source = withoutStreams(await countedContentOf(context, track, await locate(track.object_key)), track.hidden);
  const copies = usableCopies(task, source);
  const plan = (encodeAll: boolean, hasCopy: boolean) => {
    const work = { source, settings, encodeAll, hasCopy };
    const planned = planPieces(work, task.limits);
    return 'whole' in planned ? planned : { work, ...planned };
  };
  const hasCopy = copies.length > 0;
  const canCopy = !hasCopy && isCopied(planLadder(source, settings).renditions[0]);
  let planned = plan(false, hasCopy || canCopy);
  let copied: PreparedElement[] = [];
  if (canCopy && 'work' in planned) {
    const copy = await deliverCopy(tools, source, task.optionsFor(source));
    if (copy) copied = await storeRenditions(context, task, source, copy, { isCopy: true });
    else planned = plan(true, false);
  }
  if (!('work' in planned)) return oneGo(planned.whole);
  const { work, stretches } = planned;
  // Each piece locates the recording for itself.
  const unlocated = { ...source, recording: { ...source.recording, path: '' } };
  const shared = { track: track.position, objectKey: track.object_key, work: { ...work, source: unlocated } };
  return { pieces: stretches.map((stretch) => ({ ...shared, stretch })), copies, copied };
}

/** Returns the copies that are still the best rendition: settings, cuts and hidden streams may have changed since. */
export function usableCopies(
  { track, settings, copies }: Pick<DividingTask, 'track' | 'settings' | 'copies'>,
  source: MediaInfo,
): readonly MadeRendition[] {
  const isBest = track.kept === null && isCopied(planLadder(source, settings).renditions[0]);
  const hasSameStreams = ({ has_audio, has_video }: MadeRendition) =>
    has_audio === source.hasAudio && has_video === source.hasVideo;
  return isBest ? copies.filter(hasSameStreams) : [];
}

/** Encodes a piece. */
export async function encodeStretch(context: OperationContext, piece: unknown): Promise<Commit> {
  const { tools, signal, folder: parent, store, locate, eventId, workflowId, operationId } = context;
  const { track, objectKey, work, stretch } = piece as EncodingPiece;
  const source = { ...work.source, recording: { ...work.source.recording, path: await locate(objectKey) } };
  const folder = join(parent, 'piece');
  await mkdir(folder);
  const limits = { signal, timeLimitMs: encodingLimit(source), onProgress: context.progress };
  const files = await encodePiece(tools, { ...work, source }, stretch, { ...limits, folder });
  const elements: Insertable<PublicationElement>[] = [];
  for (const { path, rank, begin, packets } of files) {
    if (packets === 0) continue;
    const { objectKey: object_key, size, sha256 } = await store(path, MEDIATYPE);
    elements.push({
      ...{ id: randomUUID(), event_id: eventId, workflow_id: workflowId, track, kind: 'piece', flavor: 'piece/piece' },
      ...{ position: elements.length, filename: 'piece', mediatype: MEDIATYPE, object_key, size, sha256 },
      properties: JSON.stringify({ piece: operationId, rank, begin, packets }),
    });
  }
  return async (trx) => {
    if (elements.length > 0) await trx.insertInto('publication_elements').values(elements).execute();
  };
}

/** Returns the pieces of an operation that has been divided, by the position of their track, in order. */
export async function finishedPieces(
  database: Database,
  { eventId, workflowId, operationId }: Pick<OperationContext, 'eventId' | 'workflowId' | 'operationId'>,
): Promise<Map<number, FinishedPiece[]>> {
  const operations = await database
    .selectFrom('workflow_operations')
    .select(['id', 'piece', 'state', 'reason'])
    .where('parent_id', '=', operationId)
    .orderBy('position')
    .execute();
  // Not joined by the database: if it expects few pieces, it reads all results again for each of them.
  const results = await database
    .selectFrom('publication_elements')
    .select(['object_key', 'properties'])
    .where('event_id', '=', eventId)
    .where('workflow_id', '=', workflowId)
    .where('kind', '=', 'piece')
    .execute();
  const stored = results.map(
    ({ object_key: objectKey, properties }) => ({ ...(properties as object), objectKey }) as StoredPieceFile,
  );
  const files = Map.groupBy(stored, ({ piece }) => piece);
  const pieces = operations.map(({ id, piece, state, reason }) => {
    const ended = { succeeded: state === 'succeeded', reason, files: files.get(id) ?? [] };
    return { ...(piece as unknown as EncodingPiece), ...ended };
  });
  return Map.groupBy(pieces, ({ track }) => track);
}

/** Joins the pieces of a track. @returns undefined if it must be encoded in one go after all */
export async function joinTrack(
  context: OperationContext,
  { track, stem }: Pick<DividingTask, 'track' | 'stem'>,
  pieces: readonly FinishedPiece[],
  { folder, timeLimitMs, signal }: Pick<DeliveryOptions, 'folder' | 'timeLimitMs' | 'signal'>,
) {
  const { tools, log, open } = context;
  const failed = pieces.find(({ succeeded }) => !succeeded);
  const [first] = pieces;
  if (!first) return undefined;
  try {
    if (failed) throw new PiecesUnfit(pieces.find(({ reason }) => reason !== null)?.reason ?? 'A piece has failed.');
    const located: PieceFile[][] = [];
    for (const { files } of pieces) {
      const opened: PieceFile[] = [];
      for (const { objectKey, ...file } of files) opened.push({ ...file, path: await open(objectKey) });
      located.push(opened);
    }
    const delivery = await joinPieces(tools, first.work, located, { folder, timeLimitMs, signal });
    return storeRenditions(context, { track, stem }, first.work.source, delivery);
  } catch (error) {
    const isUnfit = error instanceof PiecesUnfit || (error instanceof MediaFailure && error.permanent);
    if (!isUnfit) throw error;
    log.warn({ track: track.id, reason: error.message }, 'the pieces cannot be joined; the track is encoded in one go');
    return undefined;
  }
}
