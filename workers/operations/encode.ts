import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readFor } from '#platform/media/cutting.ts';
import { USUAL_QUALITY } from '#platform/media/delivery-plan.ts';
import { type Delivery, deliver, deliverCopy } from '#platform/media/encode-delivery.ts';
import { HEIGHTS, type LadderSettings, parseHeights, USUAL_LADDER } from '#platform/media/ladder.ts';
import { countFrames, type MediaInfo, probe } from '#platform/media/probe.ts';
import { assertPlausible, encodingLimit, isLongWork } from '#platform/media/workload.ts';
import type { Operation, OperationContext } from './operation.ts';
import {
  fileStems,
  type MadeRendition,
  type PreparedElement,
  renditionsOf,
  replacePrepared,
  type SourceTrack,
  tracksToPrepare,
} from './prepared-elements.ts';
import { isCopy, storePlaylist, storeRenditions } from './rendition-elements.ts';

/**
 * Makes the renditions of each track, as far as a cut keeps it: files that every browser plays, and a playlist of them.
 * Settings: `heights` (a list such as `1080,720,source`), `preset` and `crf`, as in x264; with `renditions: copy`, makes
 * only those that need no encoding, which a later run of the operation in the same workflow keeps.
 */
export const encode: Operation = {
  name: 'encode',
  lane: 'heavy',
  isLong: (tracks) => tracks.some(isLongWork),
  async run(context) {
    const { database, eventId } = context;
    const settings = settingsOf(context);
    const tracks = await tracksToPrepare(database, eventId);
    const stems = fileStems(tracks);
    const made = await renditionsOf(database, context);
    const elements: PreparedElement[] = [];
    for (const [done, track] of tracks.entries()) {
      const onProgress = (fraction: number) => context.progress((done + fraction) / tracks.length);
      const stem = stems.get(track.id) ?? track.id;
      const copies = (made.get(track.position) ?? []).filter(isCopy);
      elements.push(...(await encodeTrack(context, { track, stem, settings, copies, onProgress })));
    }
    const keeps = [...made.values()]
      .flat()
      .filter(isCopy)
      .map(({ id }) => id);
    return (trx) => replacePrepared(trx, context, 'media', elements, { keeps });
  },
};

/** A track and how to encode it. */
interface EncodingTask {
  track: SourceTrack;
  /** The beginning of file names. */
  stem: string;
  settings: LadderSettings;
  /** The renditions that an earlier operation of the same workflow has made. */
  copies: readonly MadeRendition[];
  onProgress: (fraction: number) => void;
}

async function encodeTrack(context: OperationContext, task: EncodingTask): Promise<PreparedElement[]> {
  const { tools, signal, log, open, configuration } = context;
  const { track, settings, copies, onProgress } = task;
  const found = await probe(tools, await open(track.object_key), { signal });
  assertPlausible(found);
  const folder = join(context.folder, `renditions-${track.position}`);
  await mkdir(folder);
  const parts = track.kept ?? undefined;
  const optionsFor = (source: MediaInfo) => {
    const timeLimitMs = encodingLimit(parts ? readFor(source, parts) : source);
    return { settings, folder, parts, onProgress, signal, timeLimitMs };
  };
  if (configuration.renditions === 'copy') {
    const copy = await deliverCopy(tools, found, optionsFor(found));
    return copy ? storeRenditions(context, task, found, copy) : [];
  }
  const source = await countFrames(tools, found, { signal });
  const delivery = await deliver(tools, source, { ...optionsFor(source), hasCopy: copies.length > 0 });
  log.info({ track: track.id, flavor: track.flavor, renditions: delivery.renditions.map(describe) }, 'track encoded');
  const renditions = await storeRenditions(context, task, source, delivery);
  return [...renditions, await storePlaylist(context, task, renditions)];
}

function describe({ size, video, audio }: Delivery['renditions'][number]): string {
  const name = size ? `${size.width}x${size.height}` : 'sound';
  return (video ?? audio)?.copy ? `${name} copied` : name;
}

/** @throws an error if a setting of the workflow is invalid */
function settingsOf({ configuration, workflowConfiguration }: OperationContext): LadderSettings {
  const { preset, crf } = configuration;
  const chosen = workflowConfiguration.heights || configuration.heights;
  const heights = chosen ? parseHeights(chosen) : USUAL_LADDER.heights;
  if (!heights) {
    const message = `The setting "heights" must be a list of ${HEIGHTS.join(', ')} and "source", not "${chosen}".`;
    throw Object.assign(new Error(message), { permanent: true });
  }
  const quality = { preset: preset || USUAL_QUALITY.preset, crf: crf ? Number(crf) : USUAL_QUALITY.crf };
  return { quality, heights };
}
