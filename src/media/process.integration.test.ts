import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testTools } from '../../test/support/clips.ts';
import { processesWith } from '../../test/support/media.ts';
import { run } from '../../test/support/run.ts';
import { denoProgram } from '../cli/runtime.ts';
import { ffmpegArguments } from './command.ts';
import { MediaFailure } from './failure.ts';
import { runTool, withoutPaths } from './process.ts';

const PROCESS = new URL('./process.ts', import.meta.url).href;
const PROBE = fileURLToPath(new URL('../../test/support/tool-probe.ts', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-process-'));
});
afterAll(() => rm(folder, { recursive: true }));

const script = (code: string) => ['-e', code];
const FOREVER = 'console.log(process.pid); setInterval(() => {}, 1000)';

/** Runs until it has printed its number, then does something to it. */
function started(options: { signal?: AbortSignal; timeLimitMs?: number }, then: (pid: number) => void) {
  return runTool(execPath, script(FOREVER), {
    timeLimitMs: 60_000,
    ...options,
    onOutput: (chunk) => then(Number(chunk.toString())),
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has waited for yet is dead all the same.
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

const RUNTIMES = (['node', 'deno'] as const).map((runtime) => {
  /** What the probe says: how it came out. */
  const probe = async (args: [kind: string, endMs: string, program: string, ...more: string[]]) => {
    const deno = ['run', '--no-prompt', '--allow-env', '--allow-read', `--allow-run=${args[2]}`];
    const [program, flags] = runtime === 'node' ? [execPath, []] : [denoProgram(), deno];
    const { stdout, stderr } = await run(program, [...flags, PROBE, ...args]);
    return stdout + stderr;
  };
  return [runtime, probe] as const;
});

describe('runTool', () => {
  it('gives the output and the end of the log of a tool that succeeds', async () => {
    const code =
      'process.stdout.write("x".repeat(100_000)); process.stderr.write("a".repeat(5000) + "the end")';
    const { output, log } = await runTool(execPath, script(code), { timeLimitMs: 60_000 });
    expect(output.length).toBe(100_000);
    expect(log.length).toBe(4096);
    expect(log.endsWith('the end')).toBe(true);
  });

  it('collects no more of what it says than it may', async () => {
    const options = { timeLimitMs: 60_000, maxOutputBytes: 1000 };
    const run = runTool(execPath, script('process.stdout.write("x".repeat(2000))'), options);
    await expect(run).rejects.toMatchObject({ permanent: true });
  });

  it('keeps no control characters that a file made it say', async () => {
    const code = 'process.stderr.write("a\\0b\\x1b[31mc\\n\\td")';
    const { log } = await runTool(execPath, script(code), { timeLimitMs: 60_000 });
    expect(log).toBe('ab[31mc\n\td');
  });

  it('hands the tool nothing of the environment', async () => {
    process.env.INLET_TEST_SECRET = 'secret';
    const code = 'process.stdout.write(JSON.stringify(process.env))';
    const { output } = await runTool(execPath, script(code), { timeLimitMs: 60_000 });
    delete process.env.INLET_TEST_SECRET;
    expect(Object.keys(JSON.parse(output.toString())).sort()).toEqual(['GCONV_PATH', 'LC_ALL']);
  });

  it('fails for good when the tool refuses the file', async () => {
    const code = 'console.error("clip: Invalid data found when processing input"); process.exit(1)';
    const failure = await runTool(execPath, script(code), { timeLimitMs: 60_000 }).catch((error) => error);
    expect(failure).toBeInstanceOf(MediaFailure);
    expect(failure).toMatchObject({ permanent: true, log: expect.stringContaining('Invalid data') });
  });

  it('kills the tool on abort, and rejects with the reason when it is gone', async () => {
    const controller = new AbortController();
    const reason = new Error('the worker stops');
    let pid = 0;
    const run = started({ signal: controller.signal }, (number) => {
      pid = number;
      controller.abort(reason);
    });
    await expect(run).rejects.toBe(reason);
    expect(isAlive(pid)).toBe(false);
  });

  it('kills what the tool started, too', async () => {
    const controller = new AbortController();
    let grandchild = 0;
    const run = runTool('/bin/sh', ['-c', 'sleep 60 & echo $!; wait'], {
      timeLimitMs: 60_000,
      signal: controller.signal,
      onOutput: (chunk) => {
        grandchild = Number(chunk.toString());
        controller.abort(new Error('stop'));
      },
    });
    await expect(run).rejects.toThrow('stop');
    await expect.poll(() => isAlive(grandchild)).toBe(false);
  });

  it.each(RUNTIMES)('ends the ffmpeg that a script runs, on %s', async (runtime, probe) => {
    const program = join(folder, `ffmpeg-${runtime}`);
    const { ffmpeg } = await testTools();
    await writeFile(program, `#!/bin/sh\n'${ffmpeg}' "$@"\n`, { mode: 0o755 });
    const mark = `color=size=${randomInt(100, 1000)}x${randomInt(100, 1000)}`;
    const args = ffmpegArguments({ path: mark, options: ['-re', '-f', 'lavfi'] }, [
      { target: '-', options: ['-f', 'null'] },
    ]);
    expect(await probe(['tool', '700', program, ...args])).toBe('ended\n');
    await expect.poll(() => processesWith(mark), { timeout: 10_000 }).toEqual([]);
  });

  it.each([
    [137, { permanent: false, attempts: undefined, log: expect.stringContaining('SIGKILL') }],
    [143, { permanent: false, attempts: undefined, log: expect.stringContaining('SIGTERM') }],
    [139, { permanent: false, attempts: 2, log: expect.stringContaining('SIGSEGV') }],
  ])('takes exit code %d for the signal that a script reports so', async (code, failure) => {
    const ended = runTool('/bin/sh', ['-c', `exit ${code}`], { timeLimitMs: 60_000 });
    await expect(ended).rejects.toMatchObject(failure);
  });

  it('starts nothing when it is aborted already', async () => {
    await expect(
      runTool('/nonexistent', [], { timeLimitMs: 1000, signal: AbortSignal.abort(new Error('too late')) }),
    ).rejects.toThrow('too late');
  });

  it('ends a tool that takes longer than its limit; that may pass once', async () => {
    let pid = 0;
    const run = started({ timeLimitMs: 1500 }, (number) => {
      pid = number;
    });
    await expect(run).rejects.toMatchObject({
      permanent: false,
      attempts: 2,
      message: expect.stringContaining('stopped'),
    });
    expect(isAlive(pid)).toBe(false);
  });

  it('survives that there are no file handles left to start a tool with', async () => {
    const code = `
      const { runTool } = await import(${JSON.stringify(PROCESS)});
      const { openSync } = await import('node:fs');
      try { for (;;) openSync('/dev/null'); } catch {}
      await runTool('/bin/true', [], { timeLimitMs: 10_000 }).catch(({ ours, message }) => console.log(ours, message));
      await new Promise((resolve) => setTimeout(resolve, 100));
      console.log('alive');`;
    const limited = await run('/bin/sh', [
      '-c',
      'ulimit -n 64; exec "$0" --input-type=module -e "$1"',
      execPath,
      code,
    ]);
    expect(limited.stdout).toBe('true true could not be started.\nalive\n');
  });

  it('lets a tool run for weeks', async () => {
    const hello = script('process.stdout.write("hello")');
    const { output } = await runTool(execPath, hello, { timeLimitMs: 30 * 24 * 3_600_000 });
    expect(output.toString()).toBe('hello');
  });

  it('tries again what something else killed, and what could not be started', async () => {
    const killed = started({}, (pid) => process.kill(pid, 'SIGKILL'));
    await expect(killed).rejects.toMatchObject({
      permanent: false,
      log: expect.stringContaining('SIGKILL'),
    });
    const missing = runTool('/nonexistent/ffmpeg', [], { timeLimitMs: 1000 });
    await expect(missing).rejects.toMatchObject({
      permanent: false,
      message: 'ffmpeg could not be started.',
    });
  });
});

describe('what goes on in a session of its own, and keeps the pipes open,', () => {
  const LEAVES = ['/bin/sh', '-c', 'setsid /bin/sleep 60 & /bin/sleep 0.5'] as const;
  const HELD_MS = 50_000;

  it.each(RUNTIMES)('does not keep a program from having succeeded, on %s', async (_runtime, probe) => {
    const begun = performance.now();
    expect(await probe(['program', '60000', ...LEAVES])).toBe('succeeded\n');
    expect(performance.now() - begun).toBeLessThan(HELD_MS);
  });

  it.each(RUNTIMES)('does not keep a tool from being ended, on %s', async (_runtime, probe) => {
    const begun = performance.now();
    expect(await probe(['tool', '2000', ...LEAVES])).toBe('ended\n');
    expect(performance.now() - begun).toBeLessThan(HELD_MS);
  });
});

describe('withoutPaths', () => {
  it('leaves the names of files and takes away where they are', () => {
    const log = [
      "[mov @ 0x5581] error reading header of '/srv/in let/objects/track/ab/ab-1'",
      '/tmp/jobs/17-x/delivery-0: No such file or directory',
      'file:/var/lib/inlet/data/x.mp4 and 1/25 or 30000/1001 at https://example.org/a/b',
    ].join('\n');
    expect(withoutPaths(log, ['-i', '/srv/in let/objects/track/ab/ab-1'])).toBe(
      [
        "[mov] error reading header of 'ab-1'",
        'delivery-0: No such file or directory',
        'file:x.mp4 and 1/25 or 30000/1001 at https://example.org/a/b',
      ].join('\n'),
    );
  });
});
