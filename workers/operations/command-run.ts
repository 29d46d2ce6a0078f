import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { meaningOf } from '#platform/media/tools/explain.ts';
import { type FailureOptions, MediaFailure } from '#platform/media/tools/failure.ts';
import { sizeOf, watched } from '#platform/media/tools/output-watch.ts';
import { type Ending, runProgram } from '#platform/media/tools/process.ts';
import type { CommandSettings } from '#processing/command-settings.ts';
import type { SourceTrack } from './elements.ts';
import type { OperationContext } from './operation.ts';
import { argumentsOf } from './site-program.ts';

/** The operation has a limit itself. */
const NO_LIMIT_MS = Number.POSITIVE_INFINITY;
const MOST_FILES = 20;
/** BSD's sysexits: a fault that may pass. */
const EX_TEMPFAIL = 75;
/** Of the operating system and of Deno, about a program that cannot be run: its interpreter is missing, for example. */
const NO_PROGRAM = ['ENOENT', 'EACCES', 'ENOEXEC', 'NotCapable', 'PermissionDenied'];

/** A fault of the program, or of what the site says of it, that another attempt would not mend unless said otherwise. */
export class ProgramFailure extends MediaFailure {
  override name = 'ProgramFailure';
  constructor(message: string, options: Partial<FailureOptions> = {}) {
    super(message, { permanent: true, ...options });
  }
}

/**
 * Runs a program of the site on a track, in the operation's own folder, with nothing of this process's environment.
 *
 * @param path of the program
 * @returns the paths of the files that it has left in its output folder
 * @throws {ProgramFailure} when it ends with anything but 0; 75 (EX_TEMPFAIL) may pass, and so may a signal
 */
export async function runOnTrack(
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
  // What it wrote between two looks.
  if ((await sizeOf(folder)) > most) throw new ProgramFailure(tooLarge);
  const files = await filesIn(output, program);
  log.info({ program, track: track.id, files: files.length }, 'a program of the site has run');
  return files;
}

/** A copy of a track: a folder as object storage gives the only one there is, and a program may write to it. */
async function copyOf({ open, folder, signal }: OperationContext, track: SourceTrack): Promise<string> {
  const original = await open(track.object_key);
  if (original.startsWith(join(folder, '/'))) return original;
  const copy = join(folder, `input-${track.position}`);
  try {
    await copyFile(original, copy, constants.COPYFILE_FICLONE_FORCE);
  } catch {
    // Most file systems copy byte by byte; this way can be stopped.
    await watched({ path: copy, maxBytes: Number.POSITIVE_INFINITY }, signal, (until) =>
      pipeline(createReadStream(original), createWriteStream(copy), { signal: until }),
    );
  }
  return copy;
}

async function filesIn(output: string, program: string): Promise<string[]> {
  // A link would lead to files that are none of its results.
  const found = await lstat(output).catch(() => undefined);
  if (!found?.isDirectory()) {
    throw new ProgramFailure(`The program "${program}" has taken its output folder away.`);
  }
  const entries = await readdir(output, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(output, entry.name));
  if (files.length > MOST_FILES) {
    throw new ProgramFailure(`The program "${program}" has made ${files.length} files; allowed are ${MOST_FILES}.`);
  }
  // A name that is no UTF-8 names no file any more once it is read.
  if (files.some((file) => /\p{Cc}|\uFFFD/u.test(basename(file)))) {
    throw new ProgramFailure(`The program "${program}" has made a file whose name cannot be shown.`);
  }
  return files.sort();
}

function failureOf(program: string, log: string, { code, killedBy }: Ending): ProgramFailure {
  const how = killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
  const means = killedBy ? meaningOf(killedBy) : { permanent: code !== EX_TEMPFAIL };
  return new ProgramFailure(`The program "${program}" ${how}.`, { ...means, log });
}

function couldNotStart(error: unknown): boolean {
  const cause = error instanceof Error && 'ours' in error && error.ours === true ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  return NO_PROGRAM.includes('code' in cause ? String(cause.code) : cause.name);
}
