import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testTools } from '../../../test/support/clips.ts';
import { recordingsOf } from './recordings.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-demo-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

/** A second of silence as a RIFF WAVE file. */
function silence(): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 16_000, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(16_000, 40);
  return Buffer.concat([head, Buffer.alloc(16_000)]);
}

test('two files are one event, three are three, and one without a picture is audio', async () => {
  const tools = await testTools();
  const [a, b] = [await file('a.mp4', 'no media'), await file('b.mp4', 'no media')];
  const sound = await file('sound.wav', silence());
  const parts = async (...files: string[]) =>
    (await recordingsOf(files, tools)).map(({ tracks }) =>
      tracks.map(({ part, path }) => [part, basename(path)]),
    );
  expect(await parts(a, b)).toEqual([
    [
      ['presenter', 'a.mp4'],
      ['presentation', 'b.mp4'],
    ],
  ]);
  expect(await parts(a, b, a)).toEqual([
    [['presenter', 'a.mp4']],
    [['presenter', 'b.mp4']],
    [['presenter', 'a.mp4']],
  ]);
  expect(await parts(a, sound)).toEqual([
    [
      ['presenter', 'a.mp4'],
      ['audio', 'sound.wav'],
    ],
  ]);
});
