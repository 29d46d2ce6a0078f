import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { runTool } from './process.ts';
import { locateTools, requireSafeTools } from './tools.ts';

const NOTHING = { ffmpegPath: undefined, ffprobePath: undefined };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-tools-'));
  await writeFile(join(folder, 'ffmpeg'), '#!/bin/sh\n');
  await chmod(join(folder, 'ffmpeg'), 0o755);
  await writeFile(join(folder, 'ffprobe'), '#!/bin/sh\n');
  await chmod(join(folder, 'ffprobe'), 0o644);
});
afterAll(() => rm(folder, { recursive: true }));

describe('locateTools', () => {
  it('falls back on the binaries from npm, which run', async () => {
    const tools = await locateTools(NOTHING, '');
    for (const tool of [tools.ffmpeg, tools.ffprobe]) {
      const { output } = await runTool(tool, ['-version'], { timeLimitMs: 60_000 });
      expect(output.toString()).toMatch(/^ff(mpeg|probe) version/);
    }
  });

  it('prefers programs in the search path, if they can be run', async () => {
    const tools = await locateTools(NOTHING, `/nonexistent:relative:${folder}`);
    expect(tools.ffmpeg).toBe(join(folder, 'ffmpeg'));
    expect(tools.ffprobe).not.toBe(join(folder, 'ffprobe'));
  });

  it('prefers what the configuration says, and names the variable when that is not there', async () => {
    const tools = await locateTools({ ...NOTHING, ffprobePath: join(folder, 'ffmpeg') }, folder);
    expect(tools.ffprobe).toBe(join(folder, 'ffmpeg'));
    const wrong = locateTools({ ...NOTHING, ffmpegPath: '/nonexistent/ffmpeg' }, folder);
    await expect(wrong).rejects.toThrow(ConfigError);
    await expect(wrong).rejects.toThrow('FFMPEG_PATH is "/nonexistent/ffmpeg"');
  });
});

describe('requireSafeTools', () => {
  it('lets the tools from npm work for this machine alone, with a warning, unless more is allowed', async () => {
    const bundled = await locateTools(NOTHING, '');
    expect(requireSafeTools(bundled, true, false)).toBe(true);
    expect(requireSafeTools(bundled, false, true)).toBe(true);
    expect(() => requireSafeTools(bundled, false, false)).toThrow(/ALLOW_BUNDLED_FFMPEG=true/);
    // One of both is enough.
    expect(() => requireSafeTools({ ...bundled, ffmpeg: '/usr/bin/ffmpeg' }, false, false)).toThrow(
      ConfigError,
    );
  });

  it('says nothing of others', () => {
    const own = { ffmpeg: '/usr/bin/ffmpeg', ffprobe: '/usr/bin/ffprobe' };
    expect(requireSafeTools(own, false, false)).toBe(false);
  });
});
