import { ConfigError } from '../../setting/value-kinds.ts';
import type { MediaTools } from './locate-tools.ts';
import { runTool } from './run-tool.ts';

/** The encoders of pictures, sound and previews, and the filters of HDR that a build may lack. */
const REQUIRED = { '-encoders': ['libx264', 'aac', 'mjpeg', 'png'], '-filters': ['zscale', 'tonemap'] };
const TIME_LIMIT_MS = 30_000;

/**
 * Checks that ffmpeg was built with the encoders and filters that operations use.
 *
 * @throws {ConfigError} naming what is missing
 */
export async function requireFeatures({ ffmpeg }: MediaTools): Promise<void> {
  const missing: string[] = [];
  for (const [list, names] of Object.entries(REQUIRED)) {
    const args = ['-hide_banner', '-v', 'error', list];
    const { output } = await runTool(ffmpeg, args, { timeLimitMs: TIME_LIMIT_MS });
    const known = new Set(
      output
        .toString()
        .matchAll(/^ \S+ (\S+)/gm)
        .map(([, name]) => name),
    );
    missing.push(...names.filter((name) => !known.has(name)));
  }
  if (missing.length === 0) return;
  throw new ConfigError(
    `The ffmpeg at ${ffmpeg} was built without ${missing.join(' and ')}. Install another one, and set FFMPEG_PATH to it.`,
  );
}
