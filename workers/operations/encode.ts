import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFor } from '#platform/media/cutting.ts';
import { USUAL_QUALITY, type VideoQuality } from '#platform/media/delivery-plan.ts';
import { deliver } from '#platform/media/encode-delivery.ts';
import { countFrames, type MediaInfo, probe } from '#platform/media/probe.ts';
import { assertPlausible, encodingLimit, isLongWork } from '#platform/media/workload.ts';
import { flavorOf } from '#publications/publication.ts';
import type { Operation, OperationContext } from './operation.ts';
import {
  fileStems,
  type PreparedElement,
  replacePrepared,
  type SourceTrack,
  tracksToPrepare,
} from './prepared-elements.ts';

const TAGS = ['engage-download', 'engage-streaming'];

/**
 * Encodes each track, as far as a cut keeps it, to a file that every browser plays. Settings: `preset` and `crf`, as in
 * x264.
 */
export const encode: Operation = {
  name: 'encode',
  lane: 'heavy',
  isLong: (tracks) => tracks.some(isLongWork),
  async run(context) {
    const quality = qualityOf(context.configuration);
    const tracks = await tracksToPrepare(context.database, context.eventId);
    const stems = fileStems(tracks);
    const elements: PreparedElement[] = [];
    for (const [done, track] of tracks.entries()) {
      const report = (fraction: number) => context.progress((done + fraction) / tracks.length);
      elements.push(await deliveryOf(context, track, stems.get(track.id) ?? track.id, quality, report));
    }
    return (trx) => replacePrepared(trx, context.eventId, 'media', elements);
  },
};

async function deliveryOf(
  { tools, folder, signal, log, open, store }: OperationContext,
  track: SourceTrack,
  stem: string,
  quality: VideoQuality,
  onProgress: (fraction: number) => void,
): Promise<PreparedElement> {
  const source = await countFrames(tools, await probe(tools, await open(track.object_key), { signal }), {
    signal,
  });
  assertPlausible(source);
  const path = join(folder, `delivery-${track.position}`);
  const parts = track.kept ?? undefined;
  const timeLimitMs = encodingLimit(parts ? readFor(source, parts) : source);
  const plan = await deliver(tools, source, path, { quality, parts, onProgress, signal, timeLimitMs });
  log.info(
    { track: track.id, flavor: track.flavor, video: describe(plan.video), audio: describe(plan.audio) },
    'track encoded',
  );
  const result = await probe(tools, path, { signal });
  const stored = await store(path, plan.mediatype);
  await rm(path);
  return {
    stored,
    position: track.position,
    flavor: `${flavorOf(track).type}/delivery`,
    filename: `${stem}.${plan.extension}`,
    mediatype: plan.mediatype,
    ...elementFacts(result),
    // MP4 tables are too coarse for some rates. For copied frames, the source is more exact.
    frame_rate: (plan.video?.copy ? source : result).video?.frameRate ?? null,
  };
}

function elementFacts({ duration, hasAudio, hasVideo, video, size }: MediaInfo) {
  const quality = video ? [`${Math.min(video.width, video.height)}p-quality`] : [];
  return {
    tags: [...TAGS, ...quality],
    duration,
    has_audio: hasAudio,
    has_video: hasVideo,
    width: video?.width ?? null,
    height: video?.height ?? null,
    frame_count: video?.frameCount ?? null,
    bit_rate: duration > 0 ? Math.round((size * 8000) / duration) : null,
  };
}

function describe(plan: { copy: boolean } | undefined): string {
  if (!plan) return 'none';
  return plan.copy ? 'copied' : 'encoded';
}

function qualityOf({ preset, crf }: OperationContext['configuration']): VideoQuality {
  return { preset: preset || USUAL_QUALITY.preset, crf: crf ? Number(crf) : USUAL_QUALITY.crf };
}
