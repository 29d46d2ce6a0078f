import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testTools } from '../../test/support/clips.ts';
import { sizeOf, watched } from './output-watch.ts';
import { runTool } from './process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-watch-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** ffmpeg writing a megabyte and a half each second, for a minute unless somebody ends it. */
async function write(path: string, maxBytes: number, signal?: AbortSignal): Promise<void> {
  const { ffmpeg } = await testTools();
  const noise = ['-re', '-f', 'lavfi', '-i', 'anoisesrc=sample_rate=192000:duration=60', '-f', 'f64le', '-y'];
  const run = (until: AbortSignal) =>
    runTool(ffmpeg, ['-v', 'error', ...noise, path], { signal: until, timeLimitMs: 50_000 });
  await watched({ path, maxBytes }, signal, run, { lookMs: 20, reserve: () => 0 });
}

describe('watched', () => {
  it('ends for good a tool that writes more than is plausible', async () => {
    await expect(write(join(folder, 'large'), 500_000)).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('larger'),
    });
  });

  it('counts all that is in a folder, however deep', async () => {
    const path = join(folder, 'many');
    await mkdir(join(path, 'deeper'), { recursive: true });
    for (const name of ['a', 'deeper/b']) await writeFile(join(path, name), 'x'.repeat(600));
    expect(await sizeOf(path)).toBe(1200);
    const run = vi.fn(async () => undefined);
    await expect(
      watched({ path, maxBytes: 1000, tooLarge: 'Too much.' }, undefined, run, {
        lookMs: 20,
        reserve: () => 0,
      }),
    ).rejects.toThrow('Too much.');
  });

  it('says what is wrong with the disk, and not how who wrote on it puts it', async () => {
    const run = (until: AbortSignal) =>
      new Promise((_, reject) => {
        until.addEventListener('abort', () => reject(new Error('aborted')));
      });
    let looks = 0;
    const reserve = (bytes: number) => (looks++ === 0 ? 0 : bytes + 1);
    const output = { path: join(folder, 'copy'), maxBytes: 2 ** 40 };
    await expect(watched(output, undefined, run, { lookMs: 20, reserve })).rejects.toThrow('disk');
  });

  it('ends a tool when somebody else wants it to end, with that reason', async () => {
    const reason = new Error('the worker stops');
    await expect(write(join(folder, 'stopped'), 2 ** 40, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('starts nothing where too little room is left, which is no fault of the recording', async () => {
    const run = vi.fn(async () => undefined);
    const output = { path: join(folder, 'none'), maxBytes: 2 ** 40 };
    const full = { lookMs: 20, reserve: (bytes: number) => bytes + 1 };
    await expect(watched(output, undefined, run, full)).rejects.toMatchObject({
      permanent: false,
      message: 'The disk of the worker is full.',
      ours: true,
    });
    expect(run).not.toHaveBeenCalled();
  });
});
