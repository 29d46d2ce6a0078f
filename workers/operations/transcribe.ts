import { createHash, randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeEvents } from '#catalogue/events/write-events.ts';
import type { Database } from '#platform/database/kysely.ts';
import { cutCaptions, writeCaptions } from '#platform/media/captions.ts';
import { CAPTIONS_TYPE } from '#platform/media/media-type.ts';
import type { MediaInfo } from '#platform/media/probe.ts';
import { joinTranscripts, type TranscribedPart } from '#platform/speech/join-transcripts.ts';
import { PART_LENGTHS, type PartLengths, planSoundParts, writeSoundPart } from '#platform/speech/sound-parts.ts';
import { languageTag, type Transcript } from '#platform/speech/transcript.ts';
import { TranscriptionService, TranscriptionUnavailable } from '#platform/speech/transcription-service.ts';
import { releaseObjects } from '#platform/storage/staging-sweep.ts';
import { captionWords } from '#publications/caption-words.ts';
import { addCaptions } from '#publications/publish.ts';
import {
  captionTracks,
  factsOf,
  hasCaptionsIn,
  isTranscript,
  TRANSCRIBE,
  timelineOf,
  transcriptMaker,
} from './captions.ts';
import type { Commit, Operation, OperationContext, StoredFile } from './operation.ts';
import { hasSound, type SourceTrack, sourceTracks } from './prepared-elements.ts';
import { contentOf } from './track-content.ts';

const FLAVOR = 'captions/source';
const SOUND_LIMIT_MS = 3_600_000;
/** The longest wait for a service that fails after it has transcribed a part of the recording. */
const PATIENCE_MS = 10 * 60_000;
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** A transcript of a track, and what it was made with. */
interface Speech {
  /** Names the sound and the settings: the same maker would make the same. */
  maker: string;
  /** WebVTT with the times of the track. */
  captions: string;
  /** Undefined if the service does not detect it. */
  language: string | undefined;
  tags: string[];
}

/**
 * Sends the sound of a recording, as far as a cut keeps it, to a transcription service, and adds what it hears as
 * captions: to the tracks of the event, and to its publications. Captions from clients are never replaced. Settings:
 * `model`, and `language`, which is detected if it is empty.
 */
export const transcribe = transcribeWith();

/** Returns the operation with other lengths of parts. */
export function transcribeWith(lengths: PartLengths = PART_LENGTHS): Operation {
  return {
    name: TRANSCRIBE,
    // It waits for another server for minutes.
    lane: 'long',
    async run(context) {
      const { database, eventId, log, site } = context;
      const settings = settingsOf(context);
      if (!site.transcription || !settings) return nothingToDo(context, 'no transcription service is configured');
      const tracks = await sourceTracks(database, eventId);
      const track = tracks.find(hasSound);
      if (!track) return nothingToDo(context, 'the recording has no sound');
      const captions = await captionTracks(database, eventId);
      const maker = makerOf(track, settings);
      if (captions.some(({ made_by }) => made_by === maker)) return nothingToDo(context, 'the transcript exists');
      const { language: wanted } = settings;
      if (wanted && hasCaptionsIn(wanted, captions)) return nothingToDo(context, 'captions in the language exist');
      const parts = await transcribeTrack(context, track, {
        ...settings,
        lengths,
        service: new TranscriptionService(site.transcription),
      });
      const segments = joinTranscripts(parts);
      if (segments.length === 0) return nothingToDo(context, 'nothing is said');
      const language = wanted ?? languageOf(parts);
      if (language && hasCaptionsIn(language, captions)) return nothingToDo(context, 'captions in the language exist');
      const tags = ['subtitle', 'type:subtitle', 'generator-type:auto', `generator:${settings.model}`];
      if (language) tags.push(`lang:${language}`);
      log.info({ track: track.id, language, parts: parts.length, captions: segments.length }, 'track transcribed');
      return addTranscript(context, tracks, { maker, captions: writeCaptions(segments), language, tags });
    },
  };
}

function nothingToDo({ log }: OperationContext, because: string): Commit {
  log.info({ because }, 'nothing is transcribed');
  return async () => undefined;
}

interface TranscriptionSettings {
  model: string;
  language: string | undefined;
}

/** @returns undefined without a service @throws an error if a setting of the workflow is invalid */
function settingsOf({ configuration, site }: OperationContext): TranscriptionSettings | undefined {
  if (!site.transcription) return undefined;
  const given = configuration.language || site.transcription.language;
  const language = given && languageTag(given);
  if (given && !language) {
    const message = `The setting "language" must be a language tag such as de or en-GB, not ${JSON.stringify(given)}.`;
    throw Object.assign(new Error(message), { permanent: true });
  }
  return { model: configuration.model || site.transcription.model, language };
}

function makerOf(track: SourceTrack, { model, language }: TranscriptionSettings): string {
  const how = JSON.stringify([track.kept, model, language]);
  return transcriptMaker(track) + createHash('sha256').update(how).digest('hex');
}

interface TranscriptionTask extends TranscriptionSettings {
  lengths: PartLengths;
  service: TranscriptionService;
}

type TranscribedSound = TranscribedPart & Pick<Transcript, 'language'>;

async function transcribeTrack(
  context: OperationContext,
  track: SourceTrack,
  task: TranscriptionTask,
): Promise<TranscribedSound[]> {
  const { locate, progress } = context;
  const info = await contentOf(context, track, await locate(track.object_key));
  const planned = planSoundParts(track.kept ?? [{ begin: 0, end: info.duration }], task.lengths);
  const parts: TranscribedSound[] = [];
  for (const part of planned) {
    const transcript = await transcribePart(context, info, part, { ...task, isFirst: parts.length === 0 });
    const moved = transcript.segments.map(({ begin, end, text }) => ({
      begin: part.begin + begin,
      end: part.begin + end,
      text,
    }));
    parts.push({ ...part, segments: moved, language: transcript.language });
    progress(parts.length / planned.length);
  }
  return parts;
}

async function transcribePart(
  { tools, folder, signal, log }: OperationContext,
  info: MediaInfo,
  part: { begin: number; end: number },
  { service, model, language, isFirst }: TranscriptionTask & { isFirst: boolean },
): Promise<Transcript> {
  const silence = { segments: [], language: undefined };
  const target = join(folder, 'speech.flac');
  const limits = { signal, timeLimitMs: SOUND_LIMIT_MS };
  if (!info.audio || !(await writeSoundPart(tools, info, info.audio, { ...part, target }, limits))) return silence;
  const sound = new Uint8Array(await readFile(target));
  await rm(target);
  const file = { sound, filename: 'speech.flac', mediatype: 'audio/flac', lengthMs: part.end - part.begin };
  const deadline = performance.now() + (isFirst ? 0 : PATIENCE_MS);
  for (let tries = 0; ; tries += 1) {
    try {
      return await service.transcribe({ ...file, model, language, signal });
    } catch (error) {
      if (!(error instanceof TranscriptionUnavailable)) throw error;
      const againInMs = Math.max(error.againInMs ?? 0, Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS));
      // Without results, waiting here would only keep a slot of the worker.
      if (performance.now() + againInMs > deadline) throw error;
      log.warn({ reason: error.message, againInMs }, 'the transcription service is away; the transcript waits for it');
      await delay(againInMs, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

/** Returns the language in which most is said. */
function languageOf(parts: readonly TranscribedSound[]): string | undefined {
  const lengths = new Map<string, number>();
  for (const { language, segments } of parts) {
    const length = segments.reduce((sum, { text }) => sum + text.length, 0);
    if (language) lengths.set(language, (lengths.get(language) ?? 0) + length);
  }
  return [...lengths].sort(([, a], [, b]) => b - a)[0]?.[0];
}

async function addTranscript(
  { eventId, workflowId, database, folder, store }: OperationContext,
  tracks: readonly SourceTrack[],
  speech: Speech,
): Promise<Commit> {
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return () => store(path, CAPTIONS_TYPE);
  };
  const { tags, maker, language } = speech;
  const { position: _, ...facts } = factsOf({ position: 0, flavor: FLAVOR, tags }, []);
  const stored = await (await write('source.vtt', speech.captions))();
  const track = {
    id: randomUUID(),
    flavor: FLAVOR,
    tags,
    filename: facts.filename,
    mediatype: CAPTIONS_TYPE,
    ...stored,
  };
  const kept = timelineOf(tracks);
  const text = kept ? cutCaptions(speech.captions, kept) : speech.captions;
  const words = captionWords(text ?? '');
  const storeAgain = await write('published.vtt', text ?? '');
  const places: { publicationId: string | null; file: StoredFile }[] = [];
  for (const publicationId of text ? await placesOf(database, eventId) : [])
    places.push({ publicationId, file: await storeAgain() });
  return async (trx) => {
    await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
    const captions = await captionTracks(trx, eventId);
    // A client may have sent captions in the last minutes.
    if (language && hasCaptionsIn(language, captions))
      return releaseObjects(
        trx,
        [stored, ...places.map(({ file }) => file)].map(({ objectKey }) => objectKey),
      );
    const earlier = captions.filter(isTranscript);
    await writeEvents(trx, {
      ids: [eventId],
      actor: undefined,
      rows: { kind: 'changed', columns: {}, parts: ['tracks'] },
      removedTracks: earlier.map(({ id, object_key: objectKey }) => ({ id, objectKey })),
      tracks: [track],
      madeBy: maker,
    });
    const replacedTags = earlier.map((each) => each.tags);
    for (const { publicationId, file } of places) {
      const { objectKey: object_key, ...stored } = file;
      const element = { ...facts, ...stored, id: randomUUID(), event_id: eventId, workflow_id: workflowId, object_key };
      await addCaptions(trx, { ...element, publicationId, replacedTags, words });
    }
  };
}

/** Returns the publications of an event, and null if it has media that are prepared for publication. */
async function placesOf(database: Database, eventId: string): Promise<(string | null)[]> {
  const rows = await database
    .selectFrom('publication_elements')
    .select('publication_id')
    .distinct()
    .where('event_id', '=', eventId)
    .where('kind', '=', 'media')
    .execute();
  return rows.map(({ publication_id }) => publication_id);
}
