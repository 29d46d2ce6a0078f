import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { ConfigError } from '#platform/setting/value-kinds.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const refusal = (message: string) => new MediaFailure(message, { permanent: true });

/**
 * Returns the path of a program of the site.
 *
 * @param folder COMMANDS_DIR
 * @throws {MediaFailure} unless it is an executable file directly in that folder
 */
export async function locateProgram(folder: string | undefined, name: string): Promise<string> {
  if (folder === undefined) throw refusal('The program cannot be run: COMMANDS_DIR is not set.');
  if (!NAME.test(name)) {
    throw refusal(`The program ${JSON.stringify(name)} must be the name of a file in COMMANDS_DIR.`);
  }
  const path = join(await realpath(folder).catch(() => folder), name);
  try {
    const found = await realpath(path);
    if (dirname(found) === dirname(path) && (await stat(found)).isFile()) {
      await access(found, constants.X_OK);
      return found;
    }
  } catch {
    // Reported below.
  }
  throw refusal(`COMMANDS_DIR has no executable file ${JSON.stringify(name)}.`);
}

/**
 * Returns the paths of all programs of the site, by name.
 *
 * @param folder COMMANDS_DIR
 * @throws {ConfigError} when the folder does not exist
 */
export async function programsIn(folder: string | undefined): Promise<ReadonlyMap<string, string>> {
  if (folder === undefined) return new Map();
  const names = await readdir(folder).catch(() => {
    throw new ConfigError(`COMMANDS_DIR is ${JSON.stringify(folder)}; it must be a readable folder.`);
  });
  const programs = new Map<string, string>();
  for (const name of names.sort()) {
    const path = await locateProgram(folder, name).catch(() => undefined);
    if (path) programs.set(name, path);
  }
  return programs;
}

/** The values of the placeholders. */
export interface Places {
  input: string;
  output: string;
  flavor: string;
  event: string;
}

/**
 * Splits the template into arguments, then fills in the placeholders: blanks in their values never split an argument.
 */
export function argumentsOf(template: string, places: Places): string[] {
  return template
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replaceAll(/\{(input|output|flavor|event)\}/g, (_, name: keyof Places) => places[name]));
}

/**
 * Returns true if a flavor matches a pattern such as `presenter/*`, in which an asterisk stands for any type or
 * subtype.
 */
export function matchesFlavor(flavor: string, pattern: string): boolean {
  const [type, subtype] = flavor.split('/', 2);
  const [wantedType = '*', wantedSubtype = '*'] = pattern.split('/', 2);
  const fits = (wanted: string, word: string | undefined) => wanted === '*' || wanted === word;
  return fits(wantedType, type) && fits(wantedSubtype, subtype);
}
