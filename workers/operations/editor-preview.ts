import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Insertable } from 'kysely';
import type { Database, Transaction } from '#platform/database/kysely.ts';
import type { Attachment } from '#platform/database/schema.ts';
import { deliver } from '#platform/media/encode-delivery.ts';
import { type MediaInfo, probe } from '#platform/media/probe.ts';
import { writeWaveform } from '#platform/media/waveform.ts';
import { encodingLimit } from '#platform/media/workload.ts';
import { flavorOf } from '#publications/publication.ts';
import { releaseElements } from '#publications/publish.ts';
import type { Operation, OperationContext } from './operation.ts';
import { fileStems, isShortened, renditionsOf, type SourceTrack, sourceTracks } from './prepared-elements.ts';
import { contentOf, countedContentOf } from './track-content.ts';

/** Small, and fast to make: people decide by it where to cut. */
const SETTINGS = { quality: { preset: 'veryfast', crf: 28 }, heights: [360] };

type File = Insertable<Attachment>;

/** A track and what editors lack of it. */
interface PreviewTask {
  track: SourceTrack;
  /** The beginning of file names. */
  stem: string;
  lacksMedia: boolean;
  lacksWaveform: boolean;
  onProgress: (fraction: number) => void;
}

/**
 * Makes what an editor shows of each track: a small rendition of all of it, and a waveform. Keeps those that exist.
 * With `media: shortened`, makes no rendition of a track of which the workflow publishes all.
 */
export const editorPreview: Operation = {
  name: 'editor-preview',
  lane: 'heavy',
  async run(context) {
    const { eventId, database, configuration } = context;
    const tracks = await sourceTracks(database, eventId);
    const stems = fileStems(tracks);
    const present = await presentFiles(database, eventId);
    const made: File[] = [];
    for (const [done, track] of tracks.entries()) {
      const lacks = (subtype: string) => !present.has(`${track.id} ${subtype}`);
      const task = {
        track,
        stem: stems.get(track.id) ?? track.id,
        lacksMedia: lacks('preview') && (configuration.media !== 'shortened' || isShortened(track)),
        lacksWaveform: lacks('waveform'),
        onProgress: (fraction: number) => context.progress((done + fraction) / tracks.length),
      };
      if (task.lacksMedia || task.lacksWaveform) made.push(...(await makeFiles(context, task)));
    }
    const ids = tracks.map(({ id }) => id);
    return (trx) => writeFiles(trx, eventId, { ids, made });
  },
};

async function presentFiles(database: Database, eventId: string): Promise<Set<string>> {
  const files = await database
    .selectFrom('attachments')
    .select(['track_id', 'flavor'])
    .where('event_id', '=', eventId)
    .where('track_id', 'is not', null)
    .execute();
  return new Set(files.map(({ track_id, flavor }) => `${track_id} ${flavorOf({ flavor }).subtype}`));
}

async function makeFiles(context: OperationContext, task: PreviewTask): Promise<File[]> {
  const { tools, signal, store, eventId } = context;
  const { track, stem, lacksMedia, lacksWaveform } = task;
  const info = await sourceOf(context, task);
  const fileOf = async (path: string, subtype: string, mediatype: string, extension: string): Promise<File> => {
    const { objectKey: object_key, ...stored } = await store(path, mediatype);
    const flavor = `${flavorOf(track).type}/${subtype}`;
    const filename = `${stem}-${subtype}.${extension}`;
    const place = { id: randomUUID(), event_id: eventId, track_id: track.id };
    return { ...place, flavor, filename, mediatype, tags: ['preview'], object_key, ...stored };
  };
  const files: File[] = [];
  if (lacksMedia) {
    const { path, mediatype, extension } = await smallRendition(context, task, info);
    files.push(await fileOf(path, 'preview', mediatype, extension));
  }
  if (lacksWaveform && info.audio) {
    const path = join(context.folder, `${track.position}-waveform.png`);
    const scratch = `${path}.columns`;
    const options = { signal, timeLimitMs: encodingLimit(info), scratch, onProgress: () => undefined };
    await writeWaveform(tools, info, info.audio, path, options);
    files.push(await fileOf(path, 'waveform', 'image/png', 'png'));
  }
  task.onProgress(1);
  return files;
}

/** Returns what tools read. A waveform needs the smallest rendition only, which is read once. */
async function sourceOf(context: OperationContext, { track, lacksMedia }: PreviewTask): Promise<MediaInfo> {
  const { database, tools, signal, open, locate } = context;
  if (!lacksMedia && !isShortened(track)) {
    const made = (await renditionsOf(database, context)).get(track.position)?.at(-1);
    if (made) return probe(tools, await locate(made.object_key), { signal });
  }
  if (lacksMedia) return countedContentOf(context, track, await open(track.object_key));
  return contentOf(context, track, await locate(track.object_key));
}

async function smallRendition(
  { tools, folder: parent, signal }: OperationContext,
  { track, onProgress }: PreviewTask,
  source: MediaInfo,
) {
  const folder = join(parent, `editor-${track.position}`);
  await mkdir(folder);
  const options = { settings: SETTINGS, folder, signal, onProgress, timeLimitMs: encodingLimit(source) };
  const { renditions, mediatype, extension } = await deliver(tools, source, options);
  const smallest = renditions.at(-1);
  if (!smallest) throw new Error('A ladder has at least one rendition.');
  return { path: smallest.path, mediatype, extension };
}

/** Adds the files, and removes those of tracks that the event no longer has. */
async function writeFiles(
  trx: Transaction,
  eventId: string,
  { ids, made }: { ids: readonly string[]; made: readonly File[] },
): Promise<void> {
  const outdated = await trx
    .deleteFrom('attachments')
    .where('event_id', '=', eventId)
    .where('track_id', 'is not', null)
    .where((is) => is.not(is('track_id', '=', is.fn.any(is.val([...ids])))))
    .returning('object_key')
    .execute();
  await releaseElements(trx, outdated);
  if (made.length > 0) await trx.insertInto('attachments').values(made).execute();
}
