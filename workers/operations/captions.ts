import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '#platform/database/kysely.ts';
import { cutCaptions, MAX_CAPTION_BYTES, readCaptions } from '#platform/media/captions.ts';
import { type KeptPart, lengthOf } from '#platform/media/cutting.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import { isSameLanguage } from '#platform/speech/transcript.ts';
import { captionWords, saveCaptionWords } from '#publications/caption-words.ts';
import { CAPTIONS, CHAPTERS, flavorOf } from '#publications/publication.ts';
import type { Operation } from './operation.ts';
import {
  hasSound,
  type PreparedElement,
  replacePrepared,
  type SourceTrack,
  sourceTracks,
} from './prepared-elements.ts';

/** The largest total of captions and chapters of an event. */
const MAX_BYTES = 16 * MAX_CAPTION_BYTES;
const UNREADABLE = 'the file is not WebVTT or SubRip, or has no captions.';
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;
const TOO_LARGE = `the file is larger than ${mebibytes(MAX_CAPTION_BYTES)}, or the event has more than ${mebibytes(MAX_BYTES)} of such files.`;

/** Captions or chapters, as a client sent them or an operation made them. */
export type CaptionTrack = Awaited<ReturnType<typeof captionTracks>>[number];

/**
 * Converts the captions and chapters that clients sent to WebVTT, with times that match the cut. Unreadable ones are left
 * out with a warning, since the recording is useful without them.
 */
export const captions: Operation = {
  name: 'captions',
  lane: 'light',
  async run({ eventId, workflowId, database, folder, log, open, store }) {
    const sources = await sourceTracks(database, eventId);
    const tracks = withoutUnwanted(await captionTracks(database, eventId), sources);
    const parts = timelineOf(sources);
    const elements: PreparedElement[] = [];
    const words = new Map<string, string[]>();
    let bytes = 0;
    const warnings = new Map<string, string[]>();
    for (const track of tracks) {
      const tooLarge = track.size > MAX_CAPTION_BYTES || bytes + track.size > MAX_BYTES;
      if (!tooLarge) bytes += track.size;
      const text = tooLarge ? undefined : readCaptions(await readFile(await open(track.object_key)));
      const reason = tooLarge ? TOO_LARGE : UNREADABLE;
      warnings.set(track.id, text === undefined ? [`The ${nameOf(track)} are left out: ${reason}`] : []);
      if (text === undefined) log.warn({ track: track.id, tooLarge }, 'captions are left out');
      const kept = text && parts ? cutCaptions(text, parts) : text;
      if (kept === undefined) continue;
      const facts = factsOf(track, elements);
      const path = join(folder, facts.filename);
      await writeFile(path, kept);
      const id = randomUUID();
      elements.push({ ...facts, id, stored: await store(path, CAPTIONS_TYPE) });
      if (facts.flavor === CAPTIONS) words.set(id, captionWords(kept));
    }
    return async (trx) => {
      for (const [id, sentences] of warnings) {
        await trx.updateTable('tracks').set({ warnings: sentences }).where('id', '=', id).execute();
      }
      await replacePrepared(trx, { eventId, workflowId }, 'captions', elements);
      for (const [elementId, said] of words) await saveCaptionWords(trx, { elementId, eventId }, said);
    };
  },
};

/** Returns the captions and chapters of an event, in order. */
export function captionTracks(database: Database, eventId: string) {
  return database
    .selectFrom('tracks')
    .select(['id', 'position', 'flavor', 'tags', 'size', 'object_key', 'made_by'])
    .where('event_id', '=', eventId)
    .where('is_media', '=', false)
    .where((eb) =>
      eb.or([
        eb('mediatype', '=', CAPTIONS_TYPE),
        ...['captions/%', 'chapters/%', '%/chapters'].map((pattern) => eb('flavor', 'like', pattern)),
      ]),
    )
    .orderBy('position')
    .execute();
}

/** Leaves out transcripts of sound that is not published, and those in languages in which a client has sent captions. */
function withoutUnwanted(tracks: readonly CaptionTrack[], sources: readonly SourceTrack[]): CaptionTrack[] {
  const makers = sources.filter(hasSound).map(transcriptMaker);
  return tracks.filter((track) => {
    if (!isTranscript(track)) return true;
    const language = languageIn(track.tags);
    const isHeard = makers.some((maker) => track.made_by?.startsWith(maker));
    return isHeard && !(language && hasCaptionsIn(language, tracks));
  });
}

/** The beginning of the makers of transcripts. */
export const TRANSCRIBE = 'transcribe';

/** Returns the beginning of the makers of transcripts of a track. */
export function transcriptMaker({ id, sha256 }: SourceTrack): string {
  return `${TRANSCRIBE} ${sha256 ?? id} `;
}

/** Returns true if the operation `transcribe` made a track. */
export function isTranscript({ made_by }: { made_by: string | null }): boolean {
  return made_by?.startsWith(`${TRANSCRIBE} `) ?? false;
}

/** Returns true if captions in a language exist that are not generated here. */
export function hasCaptionsIn(language: string, tracks: readonly CaptionTrack[]): boolean {
  return tracks.some((track) => {
    const own = languageIn(tagsOf(track));
    return !isTranscript(track) && nameOf(track) === 'captions' && own !== undefined && isSameLanguage(own, language);
  });
}

/** Returns the kept parts of the longest track, which sets the timeline; undefined if all of it is kept. */
export function timelineOf(tracks: readonly SourceTrack[]): KeptPart[] | undefined {
  const lengths = tracks.map(({ kept, duration }) => (kept ? lengthOf(kept) : (duration ?? 0)));
  return tracks[lengths.indexOf(Math.max(...lengths))]?.kept ?? undefined;
}

/** Returns how captions or chapters are published. */
export function factsOf(
  track: Pick<CaptionTrack, 'position' | 'flavor' | 'tags'>,
  others: readonly { filename: string }[],
) {
  const tags = tagsOf(track);
  const language = languageIn(tags)
    ?.replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .slice(0, 35);
  const name = nameOf(track);
  const stem = language ? `${name}-${language}` : name;
  const taken = others.some(({ filename }) => filename === `${stem}.vtt`);
  return {
    position: track.position,
    flavor: name === 'chapters' ? CHAPTERS : CAPTIONS,
    filename: `${taken ? `${stem}-${track.position + 1}` : stem}.vtt`,
    mediatype: CAPTIONS_TYPE,
    tags,
  };
}

function nameOf({ flavor }: Pick<CaptionTrack, 'flavor'>): 'chapters' | 'captions' {
  const { type, subtype } = flavorOf({ flavor });
  return type === 'chapters' || subtype === 'chapters' ? 'chapters' : 'captions';
}

/**
 * Returns the client's tags, which name the language and the author. Older clients name them in flavors like
 * `captions/vtt+de`.
 */
function tagsOf({ flavor, tags }: Pick<CaptionTrack, 'flavor' | 'tags'>): string[] {
  const [, automatic, language] = /^captions\/[a-z]+\+(auto-)?([A-Za-z0-9_-]+)$/.exec(flavor) ?? [];
  const own = tags.filter((tag) => tag !== 'archive');
  if (!language || languageIn(own)) return own;
  return [...own, `lang:${language}`, ...(automatic ? ['generator-type:auto'] : [])];
}

function languageIn(tags: readonly string[]): string | undefined {
  return tags.find((tag) => /^lang:./.test(tag))?.slice('lang:'.length);
}
