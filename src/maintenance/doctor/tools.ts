import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type MediaTools, requireSafeTools } from '#platform/media/tools/tools.ts';
import type { Check, Diagnosis } from './check.ts';

const run = promisify(execFile);
/** What the built-in operations encode with. */
const ENCODERS = ['libx264', 'aac', 'mjpeg'];
const LIMIT_MS = 20_000;

/**
 * Whether ffmpeg is there, can do what is needed, and is not too old to be given files of strangers.
 *
 * @param isLocal whether only this machine can ask
 * @param allowed whether the one from npm may be used all the same
 */
export function toolsCheck(
  locate: () => Promise<MediaTools>,
  { isLocal, allowed }: { isLocal: boolean; allowed: boolean },
): Check {
  return {
    name: 'ffmpeg',
    todo: 'Install ffmpeg (on Debian: apt install ffmpeg), or set FFMPEG_PATH and FFPROBE_PATH.',
    run: async (signal): Promise<Diagnosis> => {
      const tools = await locate();
      const options = { signal, timeout: LIMIT_MS };
      const [{ stdout: version }, { stdout: encoders }] = await Promise.all([
        run(tools.ffmpeg, ['-hide_banner', '-version'], options),
        run(tools.ffmpeg, ['-hide_banner', '-encoders'], options),
        run(tools.ffprobe, ['-hide_banner', '-version'], options),
      ]);
      const found = /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'of an unknown version';
      const lacking = ENCODERS.filter((name) => !new RegExp(`^ \\S+ ${name} `, 'm').test(encoders));
      if (lacking.length > 0) {
        const todo = 'Install a complete ffmpeg; that of Debian is one.';
        return { state: 'fail', found: `${found} cannot encode ${lacking.join(', ')}`, todo };
      }
      // No worker starts where it throws.
      if (requireSafeTools(tools, isLocal, allowed)) {
        const todo = 'It is of 2018 and for a first try: apt install ffmpeg before strangers send files.';
        return { state: 'warn', found: `${found}, which came from npm`, todo };
      }
      return { state: 'ok', found: `${found} (${tools.ffmpeg})` };
    },
  };
}
