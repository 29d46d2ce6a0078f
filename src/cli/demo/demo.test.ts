import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { formatBytes, formatDuration } from '#platform/text/units.ts';
import { temporaryFolder } from '#test/support/folders.ts';
import { summarizeOperations } from '../client/follow.ts';
import { showProgress } from '../terminal/progress.ts';
import { parseDemoArguments } from './arguments.ts';
import { recordingsOf } from './run.ts';

test('a file that is not there is named as it was given', async () => {
  const recordings = recordingsOf('', ['gone.mp4']);
  await expect(recordings).rejects.toThrow('The file gone.mp4 does not exist.');
});

test('two files are one event, three are three, and one whose name says that it is sound is audio', async () => {
  const folder = await temporaryFolder();
  for (const name of ['a.mp4', 'b.mp4', 'sound.wav']) await writeFile(join(folder, name), '');
  const parts = async (...files: string[]) =>
    (await recordingsOf(folder, files)).map(({ tracks }) =>
      tracks.map(({ field, path }) => `${field} ${basename(path)}`),
    );
  expect(await parts('a.mp4', 'b.mp4')).toEqual([['presenter a.mp4', 'presentation b.mp4']]);
  expect(await parts('a.mp4', 'b.mp4', 'a.mp4')).toEqual([
    ['presenter a.mp4'],
    ['presenter b.mp4'],
    ['presenter a.mp4'],
  ]);
  expect(await parts('a.mp4', 'sound.wav')).toEqual([['presenter a.mp4', 'audio sound.wav']]);
});

test('arguments: files in order, and a wrong option is told with what is allowed', () => {
  const parsed = { exit: true, runtime: 'node', files: ['a', 'b'] };
  expect(parseDemoArguments(['--exit', 'a', '--runtime', 'node', 'b'])).toEqual(parsed);
  expect(() => parseDemoArguments(['--runtime', 'bun'])).toThrow('allowed is deno or node');
  expect(() => parseDemoArguments(['--exti'])).toThrow('--exti');
});

test('processing is as far as its operations; skipped ones do not count', () => {
  const operation = { description: '', reason: null };
  expect(
    summarizeOperations([
      { ...operation, state: 'succeeded', progress: 1 },
      { ...operation, state: 'running', progress: 0.5, description: 'Encoding' },
      { ...operation, state: 'skipped', progress: 0 },
      { ...operation, state: 'waiting', progress: 0 },
    ]),
  ).toEqual({ fraction: 0.5, note: 'Encoding' });
  const failed = { ...operation, state: 'failed', progress: 0.2, reason: 'It is corrupt.' };
  expect(summarizeOperations([failed])).toMatchObject({ note: 'It is corrupt.' });
});

test('where lines cannot be overwritten, progress is a line for each quarter, not for each step', () => {
  let written = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  const progress = showProgress('Upload', output as NodeJS.WriteStream);
  for (let i = 0; i <= 100; i += 1) progress.update(i / 100, `${i} of 100`);
  const lines = [0, 25, 50, 75, 100].map((i) => `Upload     ${String(i).padStart(3)}%  ${i} of 100\n`);
  expect(written).toBe(lines.join(''));
});

test('lengths and sizes are told as people read them', () => {
  expect([0, 20_023, 3_599_600, 3_723_000].map(formatDuration)).toEqual([...['0:00', '0:20', '1:00:00', '1:02:03']]);
  expect([0, 999, 18_800_000, 50e9].map(formatBytes)).toEqual([...['0 bytes', '999 bytes', '18.8 MB', '50.0 GB']]);
});
