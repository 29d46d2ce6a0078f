import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '#platform/setting/config-error.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** What a site's program cannot be run for; another attempt would not help. */
export class CommandRefused extends Error {
  override name = 'CommandRefused';
  readonly permanent = true;
}

/**
 * Where a program of the site is.
 *
 * @param folder COMMANDS_DIR; there are none when undefined
 * @throws {CommandRefused} unless it is an executable file in that folder itself
 */
export async function locateProgram(folder: string | undefined, name: string): Promise<string> {
  if (folder === undefined) throw new CommandRefused('COMMANDS_DIR is not set, so there is no program to run.');
  if (!NAME.test(name)) {
    throw new CommandRefused(`The program ${JSON.stringify(name)} must be the name of a file in COMMANDS_DIR.`);
  }
  const path = join(await realpath(folder).catch(() => folder), name);
  try {
    const found = await realpath(path);
    if (dirname(found) === dirname(path) && (await stat(found)).isFile()) {
      await access(found, constants.X_OK);
      return found;
    }
  } catch {
    // Said below.
  }
  throw new CommandRefused(`There is no executable file ${JSON.stringify(name)} in COMMANDS_DIR.`);
}

/**
 * All programs of a site: name to path.
 *
 * @param folder COMMANDS_DIR
 * @throws {ConfigError} when there is no such folder
 */
export async function programsIn(folder: string | undefined): Promise<ReadonlyMap<string, string>> {
  if (folder === undefined) return new Map();
  const names = await readdir(folder).catch(() => {
    throw new ConfigError(`COMMANDS_DIR is ${JSON.stringify(folder)}; allowed is a folder that can be read.`);
  });
  const programs = new Map<string, string>();
  for (const name of names.sort()) {
    const path = await locateProgram(folder, name).catch(() => undefined);
    if (path) programs.set(name, path);
  }
  return programs;
}

/** What placeholders stand for. */
export interface Places {
  input: string;
  output: string;
  flavor: string;
  event: string;
}

/** The arguments of a program: separated by blanks, none of which comes from what a placeholder stands for. */
export function argumentsOf(template: string, places: Places): string[] {
  return template
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replaceAll(/\{(input|output|flavor|event)\}/g, (_, name: keyof Places) => places[name]));
}

/** Whether a flavor is one of a pattern such as `presenter/*`, an asterisk being any type or subtype. */
export function matchesFlavor(flavor: string, pattern: string): boolean {
  const [type, subtype] = flavor.split('/', 2);
  const [wantedType = '*', wantedSubtype = '*'] = pattern.split('/', 2);
  const fits = (wanted: string, word: string | undefined) => wanted === '*' || wanted === word;
  return fits(wantedType, type) && fits(wantedSubtype, subtype);
}
