import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, lstat, mkdir, open as openFile, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { NewTrack } from '#catalogue/events/event-files.ts';
import { writeEvents } from '#catalogue/events/write-events.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { detectTrackType, HEAD_BYTES } from '#platform/media/media-type.ts';
import { type ExitStatus, type FailureOptions, MediaFailure, meaningOf } from '#platform/media/tools/media-failure.ts';
import { sizeOf, watched } from '#platform/media/tools/output-watch.ts';
import { runProgram } from '#platform/media/tools/run-tool.ts';
import {
  type CommandSettings,
  commandIdentity,
  parseCommandSettings,
  resultFlavor,
} from '#processing/command-settings.ts';
import type { Operation, OperationContext } from './operation.ts';
import { type SourceTrack, sourceTracks } from './prepared-elements.ts';
import { argumentsOf, locateProgram, matchesFlavor } from './site-program.ts';

/** The time limit of the operation applies. */
const NO_LIMIT_MS = Number.POSITIVE_INFINITY;
const MAX_FILES = 20;
/** The exit code in sysexits.h for a temporary failure. */
const EX_TEMPFAIL = 75;
/** Errors of the operating system and of Deno for a program that cannot be run, as when its interpreter is missing. */
const NO_PROGRAM = ['ENOENT', 'EACCES', 'ENOEXEC', 'NotCapable', 'PermissionDenied'];

/** A failure of a site's program or its settings; permanent unless specified. */
class ProgramFailure extends MediaFailure {
  override name = 'ProgramFailure';
  constructor(message: string, options: Partial<FailureOptions> = {}) {
    super(message, { permanent: true, ...options });
  }
}

/**
 * Runs a program of the site on a track, in the operation's folder, without this process's environment.
 *
 * @param path of the program
 * @returns the paths of the files in its output folder
 * @throws {ProgramFailure} for any exit code but 0; not permanent for 75 (EX_TEMPFAIL) and for signals
 */
async function runOnTrack(
  context: OperationContext,
  settings: CommandSettings,
  { path, track }: { path: string; track: SourceTrack },
): Promise<string[]> {
  const { eventId, folder, signal, log, site } = context;
  const { program } = settings;
  const { maxFileBytes } = site;
  const input = await copyOf(context, track);
  const output = join(folder, `output-${track.position}`);
  await mkdir(output);
  const args = argumentsOf(settings.arguments, { input, output, flavor: track.flavor, event: eventId });
  const env = {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: folder, TMPDIR: folder },
    ...{ INLET_INPUT: input, INLET_OUTPUT: output },
    ...{ INLET_EVENT_ID: eventId, INLET_TRACK_FLAVOR: track.flavor },
  };
  const tooLarge = `The program "${program}" has written more than ${maxFileBytes} bytes.`;
  const most = (await sizeOf(folder)) + maxFileBytes;
  await watched({ path: folder, maxBytes: most, tooLarge }, signal, (until) =>
    runProgram(path, args, {
      ...{ signal: until, timeLimitMs: NO_LIMIT_MS, cwd: folder, env },
      explain: (said, ending) => failureOf(program, said, ending),
    }),
  ).catch((error) => {
    throw couldNotStart(error) ? new ProgramFailure(`The program "${program}" could not be started.`) : error;
  });
  // Catches bytes written between two checks.
  if ((await sizeOf(folder)) > most) throw new ProgramFailure(tooLarge);
  const files = await filesIn(output, program);
  log.info({ program, track: track.id, files: files.length }, 'a program of the site has finished');
  return files;
}

/** Copies a track, because the program may write to it and the storage folder holds the only copy. */
async function copyOf({ open, folder, signal }: OperationContext, track: SourceTrack): Promise<string> {
  const original = await open(track.object_key);
  if (original.startsWith(join(folder, '/'))) return original;
  const copy = join(folder, `input-${track.position}`);
  try {
    await copyFile(original, copy, constants.COPYFILE_FICLONE_FORCE);
  } catch {
    // This copies byte by byte, and can be interrupted.
    await watched({ path: copy, maxBytes: Number.POSITIVE_INFINITY }, signal, (until) =>
      pipeline(createReadStream(original), createWriteStream(copy), { signal: until }),
    );
  }
  return copy;
}

async function filesIn(output: string, program: string): Promise<string[]> {
  // A link would lead to files that are not its results.
  const found = await lstat(output).catch(() => undefined);
  if (!found?.isDirectory()) {
    throw new ProgramFailure(`The program "${program}" has removed its output folder.`);
  }
  const entries = await readdir(output, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(output, entry.name));
  if (files.length > MAX_FILES) {
    throw new ProgramFailure(
      `The program "${program}" has written ${files.length} files; at most ${MAX_FILES} are allowed.`,
    );
  }
  // A name that is not UTF-8 no longer names the file once decoded.
  if (files.some((file) => /\p{Cc}|\uFFFD/u.test(basename(file)))) {
    throw new ProgramFailure(`The program "${program}" has written a file whose name holds invalid characters.`);
  }
  return files.sort();
}

function failureOf(program: string, log: string, { code, killedBy }: ExitStatus): ProgramFailure {
  const how = killedBy ? `was killed by ${killedBy}` : `failed with exit code ${code}`;
  const means = killedBy ? meaningOf(killedBy) : { permanent: code !== EX_TEMPFAIL };
  return new ProgramFailure(`The program "${program}" ${how}.`, { ...means, log });
}

function couldNotStart(error: unknown): boolean {
  const cause = error instanceof Error && 'ours' in error && error.ours === true ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  return NO_PROGRAM.includes('code' in cause ? String(cause.code) : cause.name);
}

/**
 * Runs a program of the site on tracks of an event. The workflow definition configures it: `program` is a file in
 * COMMANDS_DIR, `arguments` are its arguments, and `tracks` is the pattern of flavors that selects the tracks.
 *
 * The files that the program leaves in its output folder become tracks with the flavor `output_flavor` and the tags
 * `output_tags`, and replace the tracks of an earlier run. No shell is used; the environment describes only the track.
 */
export const command: Operation = {
  name: 'command',
  lane: 'heavy',
  async run(context) {
    const { configuration, eventId, database, site } = context;
    const settings = parseCommandSettings(configuration);
    const path = await locateProgram(site.commandsDir, settings.program);
    const maker = commandIdentity(settings);
    const sources = (await sourceTracks(database, eventId)).filter((track) => isSource(track, settings, maker));
    // Fails before hours of work are lost.
    const flavors = sources.map((track) => flavorOf(settings, track));
    const made: NewTrack[] = [];
    for (const [index, track] of sources.entries()) {
      const flavor = flavors[index] ?? '';
      for (const file of await runOnTrack(context, settings, { path, track })) {
        made.push(await keep(context, file, { flavor, tags: settings.tags }));
      }
      context.progress((index + 1) / sources.length);
    }
    return (trx) => replaceTracks(trx, { eventId, maker, made });
  },
};

/** Selects tracks of other programs only by flavor, and never the program's own results, which would multiply. */
function isSource(track: SourceTrack, { tracks }: CommandSettings, maker: string): boolean {
  if (tracks === undefined) return track.made_by === null;
  return track.made_by !== maker && matchesFlavor(track.flavor, tracks);
}

function flavorOf(settings: CommandSettings, track: SourceTrack): string {
  const flavor = resultFlavor(settings, track.flavor);
  if (flavor !== undefined) return flavor;
  const wanted = JSON.stringify(settings.flavor);
  throw new ProgramFailure(`The output_flavor ${wanted} is invalid; it must have the form type/subtype.`);
}

async function keep(
  { store }: OperationContext,
  path: string,
  { flavor, tags }: { flavor: string; tags: readonly string[] },
): Promise<NewTrack> {
  if ((await stat(path)).size === 0) {
    throw new ProgramFailure('A program of the site has written an empty file.');
  }
  const mediatype = await typeOf(path);
  const stored = await store(path, mediatype);
  await rm(path);
  return { id: randomUUID(), flavor, tags, filename: basename(path), mediatype, ...stored };
}

async function typeOf(path: string): Promise<string> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return detectTrackType(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function replaceTracks(
  trx: Transaction,
  { eventId, maker, made }: { eventId: string; maker: string; made: readonly NewTrack[] },
): Promise<void> {
  // Clients that add a track wait for this lock, so that positions stay unique.
  await trx.selectFrom('events').select('id').where('id', '=', eventId).forUpdate().execute();
  const before = await trx
    .selectFrom('tracks')
    .select(['id', 'object_key as objectKey'])
    .where('event_id', '=', eventId)
    .where('made_by', '=', maker)
    .execute();
  if (before.length + made.length === 0) return;
  await writeEvents(trx, {
    ids: [eventId],
    actor: undefined,
    rows: { kind: 'changed', columns: {}, parts: ['tracks'] },
    removedTracks: before,
    tracks: made,
    madeBy: maker,
  });
}
