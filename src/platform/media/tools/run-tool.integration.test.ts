import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { testTools } from '#test/support/clips.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { processesWith } from '#test/support/media.ts';
import { run } from '#test/support/run.ts';
import { ConfigError } from '../../setting/value-kinds.ts';
import { ffmpegArguments } from '../ffmpeg-command.ts';
import { locateTools, requireSafeTools } from './locate-tools.ts';
import { MediaFailure } from './media-failure.ts';
import { sizeOf, watched } from './output-watch.ts';
import { requireFeatures } from './required-features.ts';
import { type RunOptions, runProgram, runTool, withoutPaths } from './run-tool.ts';

const folder = await folderForThisFile();
const LIMIT = { timeLimitMs: 60_000 };
const node = (code: string, options: Partial<RunOptions> = {}) =>
  runTool(execPath, ['-e', code], { ...LIMIT, ...options });

/** Runs until it has printed its number, then does something to it. */
const endless = (options: Partial<RunOptions>, then: (pid: number) => void) =>
  node('console.log(process.pid); setInterval(() => {}, 1000)', {
    ...options,
    onOutput: (chunk) => then(Number(chunk.toString())),
  });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is dead all the same.
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('runTool', () => {
  it('returns the output and the end of the log, without the control characters that a file made it print', async () => {
    const { output, log } = await node(
      'process.stdout.write("x".repeat(100_000)); process.stderr.write("a".repeat(5000) + "a\\0b\\x1b[31mc\\n\\td")',
    );
    expect(output.length).toBe(100_000);
    expect(log).toMatch(/^a+ab\[31mc\n\td$/);
    expect(log.length).toBeGreaterThan(4000);
    expect(log.length).toBeLessThanOrEqual(4096);
  });

  it('collects no more output than it may', async () => {
    const flood = node('process.stdout.write("x".repeat(2000))', { maxOutputBytes: 1000 });
    await expect(flood).rejects.toMatchObject({ permanent: true });
  });

  it('hands the tool nothing of the environment', async () => {
    vi.stubEnv('INLET_TEST_SECRET', 'secret');
    const { output } = await node('process.stdout.write(JSON.stringify(process.env))');
    expect(Object.keys(JSON.parse(output.toString())).sort()).toEqual(['GCONV_PATH', 'LC_ALL']);
  });

  it('fails for good when the tool refuses the file', async () => {
    const code = 'console.error("clip: Invalid data found when processing input"); process.exit(1)';
    const failure = await node(code).catch((error) => error);
    expect(failure).toBeInstanceOf(MediaFailure);
    expect(failure).toMatchObject({ permanent: true, log: expect.stringContaining('Invalid data') });
  });

  it('kills the tool on abort, and rejects with the reason when it is gone', async () => {
    const controller = new AbortController();
    const reason = new Error('the worker stops');
    let pid = 0;
    const run = endless({ signal: controller.signal }, (number) => {
      pid = number;
      controller.abort(reason);
    });
    await expect(run).rejects.toBe(reason);
    expect(isAlive(pid)).toBe(false);
    // It starts nothing when it is aborted already.
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(runTool('/nonexistent', [], { ...LIMIT, signal })).rejects.toThrow('too late');
  });

  it('stops what the tool started, too, such as the ffmpeg that a script runs', async () => {
    const program = join(folder, 'ffmpeg-script');
    const { ffmpeg } = await testTools();
    await writeFile(program, `#!/bin/sh\n'${ffmpeg}' "$@"\n`, { mode: 0o755 });
    const mark = `color=size=${randomInt(100, 1000)}x${randomInt(100, 1000)}`;
    const input = { path: mark, options: ['-re', '-f', 'lavfi'] };
    const args = ffmpegArguments(input, [{ target: '-', options: ['-f', 'null'] }]);
    const controller = new AbortController();
    const ended = runTool(program, args, { ...LIMIT, signal: controller.signal });
    await expect.poll(() => processesWith(mark).length).toBeGreaterThan(1);
    controller.abort(new Error('ended'));
    await expect(ended).rejects.toThrow('ended');
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  it.each([
    [137, { permanent: false, attempts: undefined, log: expect.stringContaining('SIGKILL') }],
    [143, { permanent: false, attempts: undefined, log: expect.stringContaining('SIGTERM') }],
    [139, { permanent: false, attempts: 2, log: expect.stringContaining('SIGSEGV') }],
  ])('takes exit code %d for the signal that a script reports so', async (code, failure) => {
    await expect(runTool('/bin/sh', ['-c', `exit ${code}`], LIMIT)).rejects.toMatchObject(failure);
  });

  it('stops a tool that takes longer than its limit, which may pass once, and lets one run for weeks', async () => {
    let pid = 0;
    const run = endless({ timeLimitMs: 1500 }, (number) => {
      pid = number;
    });
    const message = expect.stringContaining('stopped');
    await expect(run).rejects.toMatchObject({ permanent: false, attempts: 2, message });
    expect(isAlive(pid)).toBe(false);
    const weeks = { timeLimitMs: 30 * 24 * 3_600_000 };
    expect((await node('process.stdout.write("hello")', weeks)).output.toString()).toBe('hello');
  });

  it('survives that there are no file handles left to start a tool with', async () => {
    const code = `
      const { runTool } = await import(${JSON.stringify(new URL('./run-tool.ts', import.meta.url).href)});
      const { openSync } = await import('node:fs');
      try { for (;;) openSync('/dev/null'); } catch {}
      await runTool('/bin/true', [], { timeLimitMs: 10_000 }).catch(({ ours, message }) => console.log(ours, message));
      await new Promise((resolve) => setTimeout(resolve, 100));
      console.log('alive');`;
    const limited = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"';
    const { stdout } = await run('/bin/sh', ['-c', limited, execPath, code]);
    expect(stdout).toBe('true true could not be started.\nalive\n');
  });

  it('tries again what something else killed, and what could not be started', async () => {
    const killed = endless({}, (pid) => process.kill(pid, 'SIGKILL'));
    const log = expect.stringContaining('SIGKILL');
    await expect(killed).rejects.toMatchObject({ permanent: false, log });
    const message = 'ffmpeg could not be started.';
    const missing = runTool('/nonexistent/ffmpeg', [], LIMIT);
    await expect(missing).rejects.toMatchObject({ permanent: false, message });
  });

  it('waits for nothing that continues in another session and keeps the pipes open', async () => {
    const leaves = ['-c', 'setsid /bin/sleep 30 & /bin/sleep 0.5'];
    const begun = performance.now();
    await runProgram('/bin/sh', leaves, LIMIT);
    const signal = AbortSignal.timeout(700);
    await expect(runTool('/bin/sh', leaves, { ...LIMIT, signal })).rejects.toThrow('due to timeout');
    expect(performance.now() - begun).toBeLessThan(25_000);
  });
});

it('a log has the names of files without their folders', () => {
  const path = '/srv/in let/objects/track/ab/ab-1';
  const log = [
    `[mov @ 0x5581] error reading header of '${path}'`,
    '/tmp/jobs/17-x/delivery-0: No such file or directory',
    'file:/var/lib/inlet/data/x.mp4 and 1/25 or 30000/1001 at https://example.org/a/b',
  ].join('\n');
  expect(withoutPaths(log, ['-i', path]).split('\n')).toEqual([
    "[mov] error reading header of 'ab-1'",
    'delivery-0: No such file or directory',
    'file:x.mp4 and 1/25 or 30000/1001 at https://example.org/a/b',
  ]);
});

describe('watched output', () => {
  const noRoom = { intervalMs: 20, reserve: (bytes: number) => bytes + 1 };
  const anyRoom = { intervalMs: 20, reserve: () => 0 };
  const untilAborted = (until: AbortSignal) =>
    new Promise((_, reject) => {
      until.addEventListener('abort', () => reject(new Error('aborted')));
    });

  /** ffmpeg writing a megabyte and a half each second, for a minute unless something stops it. */
  async function write(name: string, maxBytes: number, signal?: AbortSignal): Promise<void> {
    const { ffmpeg } = await testTools();
    const path = join(folder, name);
    const noise = ['-re', '-f', 'lavfi', '-i', 'anoisesrc=sample_rate=192000:duration=60', '-f', 'f64le'];
    const run = (until: AbortSignal) =>
      runTool(ffmpeg, ['-v', 'error', ...noise, '-y', path], { ...LIMIT, signal: until });
    await watched({ path, maxBytes }, signal, run, anyRoom);
  }

  it('stops a tool for good that writes more than is plausible', async () => {
    const message = expect.stringContaining('larger');
    await expect(write('large', 500_000)).rejects.toMatchObject({ permanent: true, message });
  });

  it('counts all that is in a folder, however deep', async () => {
    const path = join(folder, 'many');
    await mkdir(join(path, 'deeper'), { recursive: true });
    for (const name of ['a', 'deeper/b']) await writeFile(join(path, name), 'x'.repeat(600));
    expect(await sizeOf(path)).toBe(1200);
    const output = { path, maxBytes: 1000, tooLarge: 'Too much.' };
    await expect(watched(output, undefined, async () => undefined, anyRoom)).rejects.toThrow('Too much.');
  });

  it('reports a full disk, and not the words of the tool that wrote on it', async () => {
    let looks = 0;
    const reserve = (bytes: number) => (looks++ === 0 ? 0 : bytes + 1);
    const output = { path: join(folder, 'copy'), maxBytes: 2 ** 40 };
    const full = watched(output, undefined, untilAborted, { intervalMs: 20, reserve });
    await expect(full).rejects.toThrow('disk');
  });

  it('stops a tool when it is aborted, with that reason', async () => {
    const reason = new Error('the worker stops');
    await expect(write('stopped', 2 ** 40, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('starts nothing where too little room is left, which is no fault of the recording', async () => {
    const run = vi.fn(async () => undefined);
    const output = { path: join(folder, 'none'), maxBytes: 2 ** 40 };
    await expect(watched(output, undefined, run, noRoom)).rejects.toMatchObject({
      ...{ permanent: false, ours: true, message: 'The disk of the worker is full.' },
    });
    expect(run).not.toHaveBeenCalled();
  });
});

describe('the tools', () => {
  const NOTHING = { ffmpegPath: undefined, ffprobePath: undefined };
  const bin = join(folder, 'bin');
  beforeAll(async () => {
    await mkdir(bin);
    await writeFile(join(bin, 'ffmpeg'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(bin, 'ffprobe'), '#!/bin/sh\n', { mode: 0o644 });
  });

  it('are those from npm where no others are, and run', async () => {
    for (const tool of Object.values(await locateTools(NOTHING, '')) as string[]) {
      const { output } = await runTool(tool, ['-version'], LIMIT);
      expect(output.toString()).toMatch(/^ff(mpeg|probe) version/);
    }
  });

  it('are those in the search path, if they can be run', async () => {
    const tools = await locateTools(NOTHING, `/nonexistent:relative:${bin}`);
    expect(tools.ffmpeg).toBe(join(bin, 'ffmpeg'));
    expect(tools.ffprobe).not.toBe(join(bin, 'ffprobe'));
  });

  it('are those of the configuration before others, which names the variable of one that does not exist', async () => {
    const tools = await locateTools({ ...NOTHING, ffprobePath: join(bin, 'ffmpeg') }, bin);
    expect(tools.ffprobe).toBe(join(bin, 'ffmpeg'));
    const wrong = locateTools({ ...NOTHING, ffmpegPath: '/nonexistent/ffmpeg' }, bin);
    await expect(wrong).rejects.toThrow(ConfigError);
    await expect(wrong).rejects.toThrow('FFMPEG_PATH is "/nonexistent/ffmpeg"');
  });

  it('have what operations use, or are refused with the name of what is missing', async () => {
    const tools = await testTools();
    await requireFeatures(tools);
    const ffmpeg = join(bin, 'ffmpeg-without');
    await writeFile(ffmpeg, `#!/bin/sh\n'${tools.ffmpeg}' "$@" | grep -v zscale\n`, { mode: 0o755 });
    const missing = requireFeatures({ ...tools, ffmpeg });
    await expect(missing).rejects.toThrow(ConfigError);
    await expect(missing).rejects.toThrow('was built without zscale. Install');
  });

  it('from npm work for this machine alone, with a warning, unless more is allowed', async () => {
    const bundled = await locateTools(NOTHING, '');
    expect(requireSafeTools(bundled, true, false)).toBe(true);
    expect(requireSafeTools(bundled, false, true)).toBe(true);
    expect(() => requireSafeTools(bundled, false, false)).toThrow(/ALLOW_BUNDLED_FFMPEG=true/);
    // One of both is enough.
    const [ffmpeg, ffprobe] = ['/usr/bin/ffmpeg', '/usr/bin/ffprobe'];
    expect(() => requireSafeTools({ ...bundled, ffmpeg }, false, false)).toThrow(ConfigError);
    expect(requireSafeTools({ ffmpeg, ffprobe }, false, false)).toBe(false);
  });
});
