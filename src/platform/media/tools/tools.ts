import { constants } from 'node:fs';
import { access, chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { ConfigError } from '../../setting/config-error.ts';

/** Absolute paths of the media tools this process may run. */
export interface MediaTools {
  ffmpeg: string;
  ffprobe: string;
}

/** What of the configuration says where the tools are; absolute paths. */
export interface ToolPaths {
  ffmpegPath: string | undefined;
  ffprobePath: string | undefined;
}

/**
 * Finds ffmpeg and ffprobe: where the configuration says, else in the search path, else the binaries from npm.
 *
 * @param searchPath folders as in the variable PATH
 * @throws {ConfigError} naming the variable that would help
 */
export async function locateTools(
  config: ToolPaths,
  // biome-ignore lint/style/noProcessEnv: PATH is the system's setting, not one of Inlet's
  searchPath = process.env.PATH,
): Promise<MediaTools> {
  const [ffmpeg, ffprobe] = await Promise.all([
    locate('ffmpeg', 'FFMPEG_PATH', config.ffmpegPath, searchPath),
    locate('ffprobe', 'FFPROBE_PATH', config.ffprobePath, searchPath),
  ]);
  return { ffmpeg, ffprobe };
}

async function locate(
  name: 'ffmpeg' | 'ffprobe',
  variable: string,
  configured: string | undefined,
  searchPath = '',
): Promise<string> {
  if (configured) {
    if (await executable(configured)) return configured;
    throw new ConfigError(`${variable} is ${JSON.stringify(configured)}; allowed is the path of a program.`);
  }
  for (const folder of searchPath.split(delimiter)) {
    if (folder.startsWith('/') && (await executable(join(folder, name)))) return join(folder, name);
  }
  const installed = installedPath(name);
  if (installed && (await madeExecutable(installed))) return installed;
  throw new ConfigError(
    `${name} was found neither in PATH nor among the installed packages; set ${variable} to the path of the program.`,
  );
}

/** Whether a tool is a fallback from npm, which is of 2018. */
export function isBundled({ ffmpeg, ffprobe }: MediaTools): boolean {
  return ffmpeg === installedPath('ffmpeg') || ffprobe === installedPath('ffprobe');
}

/** What somebody should know who lets the tools from npm work. */
export const BUNDLED =
  'the ffmpeg in use came from npm and is of 2018: good for a first try, not for files of strangers; install a current one (on Debian: apt install ffmpeg)';

/**
 * Sees to it that nobody else's files are given to the tools from npm unless that was allowed.
 *
 * @param isLocal whether only this machine can ask
 * @returns whether to warn of them
 * @throws {ConfigError}
 */
export function requireSafeTools(tools: MediaTools, isLocal: boolean, allowed: boolean): boolean {
  if (!isBundled(tools)) return false;
  if (isLocal || allowed) return true;
  throw new ConfigError(
    `No ffmpeg was found but the one from npm, which is of 2018 and not safe for files of strangers: install a current one (on Debian: apt install ffmpeg), set FFMPEG_PATH and FFPROBE_PATH, or set ALLOW_BUNDLED_FFMPEG=true.`,
  );
}

/** The binary npm installed for this platform. The packages' own scripts would look at the environment. */
function installedPath(name: 'ffmpeg' | 'ffprobe'): string | undefined {
  const scope = `@${name}-installer`;
  try {
    const main = createRequire(import.meta.url).resolve(`${scope}/${name}/package.json`);
    const platform = `${scope}/${process.platform}-${process.arch}/package.json`;
    return join(dirname(createRequire(main).resolve(platform)), name);
  } catch {
    return undefined;
  }
}

/** npm may have been told to run no install scripts, and these set the mode. */
async function madeExecutable(path: string): Promise<boolean> {
  if (await executable(path)) return true;
  await chmod(path, 0o755).catch(() => undefined);
  return executable(path);
}

async function executable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
