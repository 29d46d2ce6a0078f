import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ffmpegArguments } from '../../src/media/command.ts';
import { deliver } from '../../src/media/delivery.ts';
import { MediaFailure } from '../../src/media/failure.ts';
import { probe } from '../../src/media/probe.ts';
import { runTool } from '../../src/media/process.ts';
import type { MediaTools } from '../../src/media/tools.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import { processesWith } from '../support/media.ts';

const media = (name: string) => JSON.stringify(new URL(`../../src/media/${name}`, import.meta.url).href);

/** Encodes the file it is given, and says so as soon as that goes on. */
const WORKER = `
  const { probe } = await import(${media('probe.ts')});
  const { deliver } = await import(${media('delivery.ts')});
  const [path, target] = process.argv.slice(1);
  const tools = JSON.parse(process.env.TOOLS);
  await deliver(tools, await probe(tools, path), target, {
    quality: { preset: 'slow', crf: 18 },
    timeLimitMs: 60_000,
    onProgress: () => console.log('encoding'),
  });
`;

const LIMIT = { timeLimitMs: 60_000 };
let tools: MediaTools;

beforeAll(async () => {
  tools = await testTools();
});

describe.runIf(process.platform === 'linux')('an encoder', () => {
  const LONG: ClipOptions = {
    container: 'mkv',
    seconds: 20,
    video: { size: '1280x720', codec: 'mpeg4' },
    audio: false,
  };
  const slow = { quality: { preset: 'veryslow', crf: 18 } };

  it('is gone when the operation was aborted', async () => {
    const target = join(clipFolder(), `aborted-${randomUUID()}`);
    const controller = new AbortController();
    const reason = new Error('shutdown');
    const running: number[] = [];
    const delivery = deliver(tools, await probe(tools, await clip(LONG)), target, {
      ...LIMIT,
      ...slow,
      signal: controller.signal,
      onProgress: () => {
        running.push(...processesWith(target));
        controller.abort(reason);
      },
    });
    await expect(delivery).rejects.toBe(reason);
    expect(running.length).toBeGreaterThan(0);
    expect(processesWith(target)).toEqual([]);
  });

  it('is gone when its time is over', async () => {
    const target = join(clipFolder(), `late-${randomUUID()}`);
    const delivery = deliver(tools, await probe(tools, await clip(LONG)), target, {
      ...slow,
      timeLimitMs: 700,
      onProgress: () => undefined,
    });
    await expect(delivery).rejects.toMatchObject({
      permanent: false,
      message: expect.stringContaining('stopped after'),
    });
    expect(processesWith(target)).toEqual([]);
  });

  it('that something else killed is worth another attempt', async () => {
    const target = join(clipFolder(), `killed-${randomUUID()}`);
    const delivery = deliver(tools, await probe(tools, await clip(LONG)), target, {
      ...LIMIT,
      ...slow,
      onProgress: () => {
        for (const pid of processesWith(target)) process.kill(pid, 'SIGKILL');
      },
    });
    await expect(delivery).rejects.toMatchObject({ permanent: false });
  });

  it('on a full disk is worth another attempt', async () => {
    const input = { path: 'sine=duration=5', options: ['-f', 'lavfi'] };
    const args = ffmpegArguments(input, [{ target: '/dev/full', options: ['-f', 's16le'] }]);
    const failure = await runTool(tools.ffmpeg, args, LIMIT).catch((error) => error);
    expect(failure).toBeInstanceOf(MediaFailure);
    expect(failure).toMatchObject({ permanent: false, message: 'The disk of the worker is full.' });
  });

  it('does not outlive a worker that was killed', async () => {
    const path = await clip({ ...LONG, seconds: 60 });
    const target = join(clipFolder(), `orphan-${randomUUID()}`);
    const worker = spawn(process.execPath, ['--input-type=module', '-e', WORKER, path, target], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TOOLS: JSON.stringify(tools) },
    });
    await once(worker.stdout, 'data');
    expect(processesWith(target).length).toBeGreaterThan(1);
    worker.kill('SIGKILL');
    // What it has read is encoded yet; all of the recording would take far longer.
    await expect.poll(() => processesWith(target), { timeout: 30_000, interval: 100 }).toEqual([]);
  });
});
