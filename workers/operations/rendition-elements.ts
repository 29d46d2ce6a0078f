import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery } from '#platform/media/encode-delivery.ts';
import { shownSize } from '#platform/media/ffmpeg-command.ts';
import { indexFile } from '#platform/media/fragment-index.ts';
import { bitRatesOf, multivariantPlaylist, type Variant } from '#platform/media/hls-playlists.ts';
import { type MediaInfo, probe } from '#platform/media/probe.ts';
import { allSettled } from '#platform/process/all-settled.ts';
import { flavorOf, PLAYLIST, renditionPlaylist, renditionProperties } from '#publications/publication.ts';
import type { OperationContext } from './operation.ts';
import { isShortened, type MadeRendition, type PreparedElement, type SourceTrack } from './prepared-elements.ts';

const STREAMED = 'engage-streaming';
const TAGS = ['engage-download', STREAMED];
const AAC_OBJECTS: Readonly<Record<string, number>> = { 'HE-AAC': 5, 'HE-AACv2': 29 };
/** More than the renditions of a track. */
const POSITIONS_A_TRACK = 10;

interface RenditionTrack {
  track: SourceTrack;
  /** The beginning of file names. */
  stem: string;
}

/** Returns true for a rendition that an earlier run in the same workflow has copied from the same track. */
export function isCopyOf({ id }: SourceTrack, { properties }: MadeRendition): boolean {
  return renditionProperties(properties).copyOf === id;
}

/** Stores the renditions of a track. @param options.isCopy marks those that a later run in the same workflow keeps */
export async function storeRenditions(
  context: OperationContext,
  { track, stem }: RenditionTrack,
  source: MediaInfo,
  { renditions, mediatype, extension }: Delivery,
  { isCopy = false } = {},
): Promise<(PreparedElement & MadeFacts)[]> {
  let turn: Promise<unknown> = Promise.resolve();
  const elements = renditions.map(async ({ path, rank, video, audio }) => {
    // One after the other: each may take the memory of an upload.
    const storing = turn.then(() => context.store(path, mediatype));
    turn = storing;
    const [stored, { result, index }] = await allSettled([storing, examine(context, path)]);
    await rm(path);
    const duration = Math.round(index.segments.reduce((sum, { seconds }) => sum + seconds, 0) * 1000);
    const size = result.video && shownSize(result.video);
    const short = size && Math.min(size.width, size.height);
    const kbits = audio?.bitRate && `${Math.round(audio.bitRate / 1000)}k`;
    const quality = short ? `${short}p` : kbits;
    return {
      stored,
      id: randomUUID(),
      track: track.position,
      position: track.position * POSITIONS_A_TRACK + rank,
      flavor: `${flavorOf(track).type}/delivery`,
      filename: rank === 0 ? `${stem}.${extension}` : `${stem}-${quality}.${extension}`,
      mediatype,
      tags: [...TAGS, ...(quality ? [`${quality}-quality`] : [])],
      duration,
      has_audio: result.hasAudio,
      has_video: result.hasVideo,
      width: size?.width ?? null,
      height: size?.height ?? null,
      frame_count: result.video ? index.frames : null,
      // MP4 tables are too coarse for some rates. For copied frames, the source is more exact.
      frame_rate: (video?.copy ? source : result).video?.frameRate ?? null,
      bit_rate: duration > 0 ? Math.round((result.size * 8000) / duration) : null,
      properties: {
        headBytes: index.headBytes,
        codecs: [index.videoCodec, result.audio && aacCodec(result.audio.profile)].filter(
          (codec) => codec !== undefined,
        ),
        ...bitRatesOf(index.segments),
        ...(isCopy && { copyOf: track.id }),
        ...(isShortened(track) && { isShortened: true }),
      },
    };
  });
  return allSettled(elements);
}

async function examine({ tools, signal }: OperationContext, path: string) {
  // First, because it blames the recording for a file without sound and pictures.
  const result = await probe(tools, path, { signal });
  return { result, index: await indexFile(path) };
}

type MadeFacts = Pick<
  MadeRendition,
  'id' | 'duration' | 'width' | 'height' | 'frame_rate' | 'has_video' | 'has_audio' | 'properties'
>;

function aacCodec(profile: string | null): string {
  return `mp4a.40.${AAC_OBJECTS[profile ?? ''] ?? 2}`;
}

/** Stores the playlist of all renditions of a track. @param task.copies those that an earlier run has stored */
export async function storePlaylist(
  { folder, store }: OperationContext,
  { track, stem, copies }: RenditionTrack & { copies: readonly MadeRendition[] },
  made: readonly MadeFacts[],
): Promise<PreparedElement> {
  const all = [...copies, ...made];
  const path = join(folder, `${stem}.m3u8`);
  await writeFile(path, multivariantPlaylist(all.map(variantOf)));
  const stored = await store(path, PLAYLIST);
  const [best] = all;
  return {
    stored,
    track: track.position,
    position: track.position * POSITIONS_A_TRACK + POSITIONS_A_TRACK - 1,
    flavor: `${flavorOf(track).type}/delivery`,
    filename: `${stem}.m3u8`,
    mediatype: PLAYLIST,
    tags: [STREAMED],
    has_audio: best?.has_audio ?? false,
    has_video: best?.has_video ?? false,
    duration: best?.duration ?? null,
    width: best?.width ?? null,
    height: best?.height ?? null,
  };
}

function variantOf({ id, width, height, frame_rate: frameRate, properties }: MadeFacts): Variant {
  const picture = width && height ? { width, height, frameRate } : undefined;
  return { uri: renditionPlaylist(id), picture, ...renditionProperties(properties) };
}
