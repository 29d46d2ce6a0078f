import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { EmbeddedDatabaseError } from './error.ts';

/** Only root may write here, and everybody may enter. */
const ROOTS_PLACE = '/var/lib/inlet';
/** Needed for building other programs only. */
const SUPERFLUOUS = /\.a$|^(pkgconfig|include)$/;

/**
 * Copies PostgreSQL's programs to where the account that runs them can reach them, unless they are there already.
 *
 * @param version of the package; part of the copy's name
 * @param place a folder of this process's own user; root's place when undefined
 * @returns the copy's folder, laid out as the original
 */
export function copyBinaries(native: string, version: string, place: string | undefined): string {
  const folder = place ?? ROOTS_PLACE;
  try {
    mkdirSync(folder, { recursive: true });
    if (!place) mustBeRootsOwn(folder);
    const copy = join(folder, `postgresql-${version}`);
    if (!lstatSync(copy, { throwIfNoEntry: false })) copyTo(native, folder, copy);
    if (!place) mustBeRootsOwn(copy);
    return copy;
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw error;
    throw new EmbeddedDatabaseError(
      `The embedded PostgreSQL cannot be copied to ${folder}: ${(error as Error).message}; set DATABASE_URL to use another server.`,
    );
  }
}

/** What another user could have put there must not be run. */
function mustBeRootsOwn(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (uid !== 0 || (mode & 0o022) !== 0 || !lstatSync(folder).isDirectory()) {
    throw new EmbeddedDatabaseError(
      `${folder} must be a folder that belongs to root and that nobody else may write to; remove it or correct it.`,
    );
  }
  chmodSync(folder, 0o755);
}

function copyTo(native: string, folder: string, copy: string): void {
  // Complete under a name that nobody uses, then renamed: an interrupted copy is never run.
  const temporary = mkdtempSync(join(folder, '.postgresql-'));
  try {
    cpSync(native, temporary, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !SUPERFLUOUS.test(basename(source)),
    });
    openToAll(temporary, false);
    renameSync(temporary, copy);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process was quicker.
    if (!lstatSync(copy, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function openToAll(folder: string, programs: boolean): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path, entry.name === 'bin');
    else if (entry.isFile()) chmodSync(path, programs ? 0o755 : 0o644);
  }
}
