import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { Diagnosis } from './check.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** What is found by somebody who is not root, who may write everywhere. */
async function examined(dataDir: string): Promise<Diagnosis[]> {
  const script = `
    const { foldersCheck } = await import(${JSON.stringify(new URL('./machine.ts', import.meta.url).href)});
    if (process.getuid() === 0) process.setuid(${NOBODY});
    const { run } = foldersCheck(${JSON.stringify(dataDir)}, ${JSON.stringify(join(dataDir, 'tmp'))}, true);
    console.log(JSON.stringify(await run(new AbortController().signal)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout) as Diagnosis[];
}

test.each(['work', 'objects', 'objects/.unfinished', 'objects/track/5f'])(
  '%s that may not be written is told of',
  async (name) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'inlet-doctor-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const give = async (path: string) => isRoot && chown(path, NOBODY, NOBODY);
    await give(dataDir);
    const states = async () => (await examined(dataDir)).map(({ state }) => state);
    let path = dataDir;
    for (const part of name.split('/')) {
      path = join(path, part);
      await mkdir(path);
      await give(path);
    }
    expect(await states()).not.toContain('fail');
    await chmod(path, 0o500);
    expect((await examined(dataDir)).at(-1)).toMatchObject({
      state: 'fail',
      found: `${path} may not be read and written`,
      todo: expect.stringContaining('chown'),
    });
    await chmod(path, 0o700);
  },
);
