import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transaction } from '#platform/database/kysely.ts';
import { readFor } from '#platform/media/cutting.ts';
import { USUAL_QUALITY } from '#platform/media/delivery-plan.ts';
import { type Delivery, type DeliveryOptions, deliver, deliverCopy } from '#platform/media/encode-delivery.ts';
import { HEIGHTS, type LadderSettings, parseHeights, USUAL_LADDER } from '#platform/media/ladder.ts';
import { type PieceLimits, whyIndivisible } from '#platform/media/pieces/piece-plan.ts';
import { type MediaInfo, withoutStreams } from '#platform/media/probe.ts';
import { encodingLimit, isLongWork } from '#platform/media/workload.ts';
import {
  type DividedTrack,
  divideTrack,
  encodeStretch,
  type FinishedPiece,
  finishedPieces,
  joinTrack,
  usableCopies,
} from './encoding-pieces.ts';
import type { Commit, Operation, OperationContext } from './operation.ts';
import {
  fileStems,
  type MadeRendition,
  type PreparedElement,
  renditionsOf,
  replacePrepared,
  type SourceTrack,
  tracksToPrepare,
} from './prepared-elements.ts';
import { isCopyOf, storePlaylist, storeRenditions } from './rendition-elements.ts';
import { countedContentOf } from './track-content.ts';

/** As in x264, the fastest first. */
const PRESETS = 'ultrafast superfast veryfast faster fast medium slow slower veryslow placebo'.split(' ');

/**
 * Makes the renditions of each track, as far as a cut keeps it: files that every browser plays, and a playlist of them.
 * Settings: `heights` (a list such as `1080,720,source`), `preset` and `crf`, as in x264; with `renditions: copy`, makes
 * only those that need no encoding, which a later run of the operation in the same workflow keeps.
 */
export const encode = encodeWith();

/** Returns the operation with other limits of pieces. */
export function encodeWith(limits?: PieceLimits): Operation {
  return {
    name: 'encode',
    lane: ({ renditions }, tracks) => {
      // Viewers wait for it, and must not wait for hours of encoding.
      if (renditions === 'copy') return 'copies';
      return tracks.some((track) => isLongWork(track) && whyIndivisible(track) !== undefined) ? 'long' : 'heavy';
    },
    runPiece: encodeStretch,
    async run(context) {
      const { database, eventId } = context;
      const settings = settingsOf(context);
      const tracks = await tracksToPrepare(database, eventId);
      const stems = fileStems(tracks);
      const made = await renditionsOf(database, context);
      const pieces = await finishedPieces(database, context);
      const tasks = tracks.map((track, done) => ({
        track,
        settings,
        stem: stems.get(track.id) ?? track.id,
        copies: (made.get(track.position) ?? []).filter((rendition) => isCopyOf(track, rendition)),
        onProgress: (fraction: number) => context.progress((done + fraction) / tracks.length),
      }));
      if (context.configuration.renditions !== 'copy' && pieces.size === 0) {
        const division = await divide(context, tasks, limits);
        if (division) return division;
      }
      const encoded: EncodedTrack[] = [];
      for (const task of tasks)
        encoded.push(await encodeTrack(context, { ...task, pieces: pieces.get(task.track.position) ?? [] }));
      const elements = encoded.flatMap((track) => track.elements);
      const keeps = encoded.flatMap(({ copies }) => copies.map(({ id }) => id));
      return (trx) => replacePrepared(trx, context, 'media', elements, { keeps });
    },
  };
}

/** A track and how to encode it. */
interface TrackTask {
  track: SourceTrack;
  /** The beginning of file names. */
  stem: string;
  settings: LadderSettings;
  /** The renditions that an earlier operation of the same workflow has made. */
  copies: readonly MadeRendition[];
  onProgress: (fraction: number) => void;
}

interface EncodingTask extends TrackTask {
  /** Its pieces, if it was divided. */
  pieces: readonly FinishedPiece[];
}

/** Divides the tracks that have enough work. @returns undefined if no track has */
async function divide(
  context: OperationContext,
  tasks: readonly TrackTask[],
  limits: PieceLimits | undefined,
): Promise<Commit | undefined> {
  const divided: DividedTrack[] = [];
  const kept: MadeRendition[] = [];
  for (const task of tasks) {
    const folder = await folderOf(context, task, 'copy');
    // The pieces, which come later, are the progress of the operation.
    const silent = { ...task, onProgress: () => undefined };
    const optionsFor = (source: MediaInfo) => optionsOf(context, silent, source, folder);
    const track = await divideTrack(context, { ...task, optionsFor, limits });
    if (track) divided.push(track);
    // In one go, a later run decides about them.
    kept.push(...(track ?? task).copies);
  }
  const pieces = divided.flatMap((track) => track.pieces);
  if (pieces.length === 0) return undefined;
  const copied = divided.flatMap((track) => track.copied);
  const keeps = kept.map(({ id }) => id);
  return Object.assign((trx: Transaction) => replacePrepared(trx, context, 'media', copied, { keeps }), { pieces });
}

async function folderOf({ folder: parent }: OperationContext, { track }: TrackTask, name: string): Promise<string> {
  const folder = join(parent, `${name}-${track.position}`);
  await mkdir(folder);
  return folder;
}

function optionsOf({ signal }: OperationContext, task: TrackTask, source: MediaInfo, folder: string): DeliveryOptions {
  const { track, settings, onProgress } = task;
  const parts = track.kept ?? undefined;
  const timeLimitMs = encodingLimit(parts ? readFor(source, parts) : source);
  return { settings, folder, parts, onProgress, signal, timeLimitMs };
}

interface EncodedTrack {
  elements: PreparedElement[];
  /** The earlier copies that belong to the result. */
  copies: readonly MadeRendition[];
}

async function encodeTrack(context: OperationContext, task: EncodingTask): Promise<EncodedTrack> {
  const { tools, log, open, locate, configuration } = context;
  const { track, pieces } = task;
  const folder = await folderOf(context, task, 'renditions');
  const [piece] = pieces;
  // A worker of an earlier version does not write which track it has copied.
  if (piece && (!piece.work.hasCopy || task.copies.length > 0)) {
    const joined = await joinTrack(context, task, pieces, optionsOf(context, task, piece.work.source, folder));
    if (joined) return withPlaylist(context, { ...task, copies: piece.work.hasCopy ? task.copies : [] }, joined);
  }
  const isEarly = configuration.renditions === 'copy';
  // A copy is read once from beginning to end, other renditions more often.
  const path = await (isEarly ? locate : open)(track.object_key);
  const source = withoutStreams(await countedContentOf(context, track, path), track.hidden);
  const options = optionsOf(context, task, source, folder);
  if (isEarly) {
    const copy = await deliverCopy(tools, source, options);
    return { elements: copy ? await storeRenditions(context, task, source, copy, { isCopy: true }) : [], copies: [] };
  }
  const copies = usableCopies(task, source);
  const delivery = await deliver(tools, source, { ...options, hasCopy: copies.length > 0 });
  log.info({ track: track.id, flavor: track.flavor, renditions: delivery.renditions.map(describe) }, 'track encoded');
  return withPlaylist(context, { ...task, copies }, await storeRenditions(context, task, source, delivery));
}

async function withPlaylist(
  context: OperationContext,
  task: EncodingTask,
  renditions: Awaited<ReturnType<typeof storeRenditions>>,
): Promise<EncodedTrack> {
  return { elements: [...renditions, await storePlaylist(context, task, renditions)], copies: task.copies };
}

function describe({ size, video, audio }: Delivery['renditions'][number]): string {
  const name = size ? `${size.width}x${size.height}` : 'sound';
  return (video ?? audio)?.copy ? `${name} copied` : name;
}

/** @throws an error if a setting of the workflow is invalid */
function settingsOf({ configuration, workflowConfiguration }: OperationContext): LadderSettings {
  const { preset, crf } = configuration;
  const invalid = (message: string) => Object.assign(new Error(message), { permanent: true });
  const chosen = workflowConfiguration.heights || configuration.heights;
  const heights = chosen ? parseHeights(chosen) : USUAL_LADDER.heights;
  if (!heights) {
    throw invalid(`The setting "heights" must be a list of ${HEIGHTS.join(', ')} and "source", not "${chosen}".`);
  }
  const quality = { preset: preset || USUAL_QUALITY.preset, crf: crf ? Number(crf) : USUAL_QUALITY.crf };
  if (!PRESETS.includes(quality.preset))
    throw invalid(`The setting "preset" must be one of ${PRESETS.join(', ')}, not "${preset}".`);
  // 0 is lossless, which the profile of browsers excludes.
  if (!(quality.crf >= 1 && quality.crf <= 51))
    throw invalid(`The setting "crf" must be a number from 1 to 51, not "${crf}".`);
  return { quality, heights };
}
