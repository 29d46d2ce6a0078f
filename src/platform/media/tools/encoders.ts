import { ConfigError } from '../../setting/value-kinds.ts';
import type { MediaTools } from './locate-tools.ts';
import { runTool } from './run-tool.ts';

/** The encoders of pictures, sound and previews. */
const ENCODERS = ['libx264', 'aac', 'mjpeg', 'png'];
const TIME_LIMIT_MS = 30_000;

/** Checks that ffmpeg was built with the encoders that operations use. @throws {ConfigError} naming what is missing */
export async function requireEncoders({ ffmpeg }: MediaTools): Promise<void> {
  const { output } = await runTool(ffmpeg, ['-hide_banner', '-v', 'error', '-encoders'], {
    timeLimitMs: TIME_LIMIT_MS,
  });
  const known = new Set(
    output
      .toString()
      .matchAll(/^ [VA]\S{5} (\S+)/gm)
      .map(([, name]) => name),
  );
  const missing = ENCODERS.filter((name) => !known.has(name));
  if (missing.length === 0) return;
  throw new ConfigError(
    `The ffmpeg at ${ffmpeg} was built without ${missing.join(' and ')}. Install another one, and set FFMPEG_PATH to it.`,
  );
}
