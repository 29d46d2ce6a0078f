import { constants } from 'node:fs';
import { access, chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../setting/value-kinds.ts';

/** The absolute paths of the media tools. */
export interface MediaTools {
  ffmpeg: string;
  ffprobe: string;
}

/**
 * Finds ffmpeg and ffprobe: in the configuration, in the search path, or among the npm packages.
 *
 * @param searchPath folders as in the variable PATH
 * @throws {ConfigError} naming the variable to set
 */
export async function locateTools(
  config: Pick<Config, 'ffmpegPath' | 'ffprobePath'>,
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
    if (await isExecutable(configured)) return configured;
    throw new ConfigError(
      `${variable} is ${JSON.stringify(configured)}; it must be the path of an executable program.`,
    );
  }
  for (const folder of searchPath.split(delimiter)) {
    if (folder.startsWith('/') && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  const installed = installedPath(name);
  if (installed && (await makeExecutable(installed))) return installed;
  throw new ConfigError(
    `${name} was found neither in PATH nor among the installed packages; set ${variable} to the path of the program.`,
  );
}

/** Returns true if a tool is one of the npm packages, which are from 2018. */
function isBundled({ ffmpeg, ffprobe }: MediaTools): boolean {
  return ffmpeg === installedPath('ffmpeg') || ffprobe === installedPath('ffprobe');
}

/** The warning about tools from npm. */
export const BUNDLED_TOOLS_WARNING =
  'the ffmpeg in use is the one from npm, from 2018: good for a first try, but not safe for untrusted files; install a current one (on Debian: apt install ffmpeg)';

/**
 * Allows the tools from npm only on a local machine, or by configuration.
 *
 * @param isLocal true if only this machine can send requests
 * @returns true if a warning is due
 * @throws {ConfigError}
 */
export function requireSafeTools(tools: MediaTools, isLocal: boolean, allowed: boolean): boolean {
  if (!isBundled(tools)) return false;
  if (isLocal || allowed) return true;
  throw new ConfigError(
    `The only ffmpeg found is the one from npm, which is from 2018 and not safe for untrusted files. Install a current one (on Debian: apt install ffmpeg), set FFMPEG_PATH and FFPROBE_PATH, or set ALLOW_BUNDLED_FFMPEG=true.`,
  );
}

/** Returns the binary that npm installed for this platform. (The packages' own modules would read the environment.) */
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

/** Without install scripts, npm leaves the mode unset. */
async function makeExecutable(path: string): Promise<boolean> {
  if (await isExecutable(path)) return true;
  await chmod(path, 0o755).catch(() => undefined);
  return isExecutable(path);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
