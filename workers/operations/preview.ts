import { join } from 'node:path';
import { type MediaInfo, probe, withoutStreams } from '#platform/media/probe.ts';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { watched } from '#platform/media/tools/output-watch.ts';
import type { RunLimits } from '#platform/media/tools/run-tool.ts';
import { type Still, scalePicture, takeStills, writeTimeline } from '#platform/media/video-previews.ts';
import { writeWaveform } from '#platform/media/waveform.ts';
import { allSettled } from '#platform/process/all-settled.ts';
import { CHOSEN, POSTER_SUBTYPE } from '#publications/editor-files.ts';
import { flavorOf } from '#publications/publication.ts';
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
import { contentOf } from './track-content.ts';

const POSTER = { width: 1280, height: 1280 };
const THUMBNAIL = { width: 320, height: 320 };
const TAGS = ['engage-download'];
/** In pixels of the shorter side. */
const LARGE_ENOUGH = 720;
const RUN_LIMIT_MS = 3_600_000;
/** A hundred seeks read some hundred megabytes. */
const SEEKING_BYTES = 512 * 2 ** 20;

type Image = Omit<PreparedElement, 'position'>;

/**
 * Makes a poster, a thumbnail and a timeline of each track with video, and a waveform of each other track. Reads
 * renditions if they exist: they are smaller and faster to seek than the source.
 */
export const preview: Operation = {
  name: 'preview',
  lane: 'heavy',
  async run(context) {
    const { eventId, database, signal } = context;
    const tracks = await tracksToPrepare(database, eventId);
    const stems = fileStems(tracks);
    const renditions = await renditionsOf(database, context);
    const images: Image[] = [];
    for (const [done, track] of tracks.entries()) {
      const report = (fraction: number) => context.progress((done + fraction) / tracks.length);
      const info = await openSource(context, track, renditions.get(track.position) ?? []);
      await watched({ path: context.folder, maxBytes: Number.POSITIVE_INFINITY }, signal, async (until) => {
        const stem = stems.get(track.id) ?? track.id;
        images.push(...(await imagesOf({ ...context, signal: until }, track, stem, info, report)));
      });
      report(1);
    }
    const elements = images.map((image, position) => ({ ...image, position }));
    return (trx) => replacePrepared(trx, context, 'images', elements);
  },
};

/** Opens the smallest rendition that is large enough for a poster, or else the best one, or the track. */
async function openSource(
  context: OperationContext,
  track: SourceTrack,
  renditions: readonly MadeRendition[],
): Promise<MediaInfo> {
  const { tools, signal, open, locate } = context;
  const large = renditions.filter(({ width, height }) => Math.min(width ?? 0, height ?? 0) >= LARGE_ENOUGH);
  const rendition = large.at(-1) ?? renditions[0];
  if (!rendition) return withoutStreams(await contentOf(context, track, await open(track.object_key)), track.hidden);
  return probe(tools, await (rendition.size >= SEEKING_BYTES ? locate : open)(rendition.object_key), { signal });
}

async function imagesOf(
  context: OperationContext,
  track: SourceTrack,
  stem: string,
  info: MediaInfo,
  onProgress: (fraction: number) => void,
): Promise<Image[]> {
  const { tools, folder, signal, store } = context;
  const limits = { signal, timeLimitMs: RUN_LIMIT_MS };
  const pathOf = (name: string) => join(folder, `${track.position}-${name}`);
  const keep = async (name: string, flavor: string, properties = {}): Promise<Image> => {
    const mediatype = name.endsWith('.png') ? 'image/png' : 'image/jpeg';
    return {
      stored: await store(pathOf(name), mediatype),
      track: track.position,
      flavor: `${flavorOf(track).type}/${flavor}`,
      filename: `${stem}-${name}`,
      mediatype,
      tags: TAGS,
      properties,
    };
  };
  const { video, audio } = info;
  if (video) {
    const stills = [
      { target: pathOf('poster.jpg'), box: POSTER },
      { target: pathOf('thumbnail.jpg'), box: THUMBNAIL },
    ];
    const source = { tools, info, video };
    const options = { ...limits, scratch: pathOf('tiles'), onProgress };
    // Neither keeps two cores busy.
    const [timeline] = await allSettled([
      writeTimeline(source, pathOf('timeline.jpg'), options),
      (async () => {
        const isChosen = await useChosenPicture(context, flavorOf(track).type, { stills, limits });
        if (!isChosen) await takeStills(source, stills, limits);
      })(),
    ]);
    return [
      await keep('poster.jpg', 'player+preview'),
      await keep('thumbnail.jpg', 'search+preview'),
      await keep('timeline.jpg', 'timeline+preview', timeline),
    ];
  }
  if (!audio) return [];
  const options = { ...limits, scratch: pathOf('columns'), onProgress };
  await writeWaveform(tools, info, audio, pathOf('waveform.png'), options);
  return [await keep('waveform.png', 'waveform')];
}

/** Copies the picture that a person has chosen in an editor. @returns false without a readable one */
async function useChosenPicture(
  { tools, database, eventId, open, log }: OperationContext,
  type: string,
  { stills, limits }: { stills: readonly Still[]; limits: RunLimits },
): Promise<boolean> {
  const chosen = await database
    .selectFrom('attachments')
    .select(['object_key', 'mediatype'])
    .where('event_id', '=', eventId)
    .where('flavor', '=', `${type}/${POSTER_SUBTYPE}`)
    .where('tags', '@>', [[CHOSEN]])
    .limit(1)
    .executeTakeFirst();
  if (!chosen) return false;
  try {
    await scalePicture(tools, { ...chosen, path: await open(chosen.object_key) }, stills, limits);
    return true;
  } catch (error) {
    if (!(error instanceof MediaFailure) || !error.permanent) throw error;
    log.warn({ reason: error.message }, 'the chosen picture cannot be read; another one is taken');
    return false;
  }
}
