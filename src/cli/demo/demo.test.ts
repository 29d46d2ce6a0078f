import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { expect, test } from 'vitest';
import { formatBytes, formatDuration } from '#platform/text/units.ts';
import { folderForThisFile } from '#test/support/folders.ts';
import { summarise } from '../client/follow.ts';
import { eventForm } from '../client/upload.ts';
import { showProgress } from '../terminal/progress.ts';
import { parseDemoArguments } from './arguments.ts';
import { recordingsOf } from './recordings.ts';

const folder = await folderForThisFile();

async function file(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

test('the form says its exact length and holds the files byte for byte, whatever their names', async () => {
  const content = Buffer.from('not\r\n--inlet-a boundary\r\n\0');
  const path = await file('we"ird ü.mp4', content);
  const empty = await file('empty.mp4', '');
  const form = eventForm({ title: 'A "title"', workflow: 'fast', read: ['ROLE_A'] }, [
    { part: 'presenter', path, size: content.length },
    { part: 'presentation', path: empty, size: 0 },
  ]);
  const body = await buffer(Readable.from(form.chunks()));
  expect(body.length).toBe(form.length);

  const fields: Record<string, unknown> = {};
  const pending: Promise<[string, [filename: string | undefined, content: Buffer]]>[] = [];
  const parser = busboy({ headers: { 'content-type': form.contentType }, defParamCharset: 'utf8' });
  parser.on('field', (name, value) => {
    fields[name] = JSON.parse(value);
  });
  parser.on('file', (name, stream, { filename }) => {
    pending.push(buffer(stream).then((bytes) => [name, [filename, bytes]]));
  });
  await pipeline(Readable.from([body]), parser);
  const files = Object.fromEntries(await Promise.all(pending));
  expect(Object.keys(fields)).toEqual(['acl', 'metadata', 'processing']);
  expect(fields.acl).toEqual([{ allow: true, role: 'ROLE_A', action: 'read' }]);
  expect(fields.metadata).toMatchObject([{ fields: [{ id: 'title', value: 'A "title"' }] }]);
  expect(files).toEqual({
    presenter: ['we%22ird ü.mp4', content],
    presentation: ['empty.mp4', Buffer.alloc(0)],
  });
});

test('a file that became shorter breaks the upload off instead of hanging it', async () => {
  const path = await file('short.mp4', 'short');
  const described = { title: 't', workflow: 'fast', read: [] };
  const form = eventForm(described, [{ part: 'presenter', path, size: 100 }]);
  await expect(buffer(Readable.from(form.chunks()))).rejects.toThrow('short.mp4 became shorter');
});

test('a file that is not there is named as it was given', async () => {
  const recordings = recordingsOf(['gone.mp4'], { ffmpeg: '', ffprobe: '' });
  await expect(recordings).rejects.toThrow('There is no file gone.mp4.');
});

test('arguments: files in order, and a wrong option is told with what is allowed', () => {
  const parsed = { help: false, exit: true, runtime: 'node', files: ['a', 'b'] };
  expect(parseDemoArguments(['--exit', 'a', '--runtime', 'node', 'b'])).toEqual(parsed);
  expect(() => parseDemoArguments(['--runtime', 'bun'])).toThrow('allowed is deno or node');
  expect(() => parseDemoArguments(['--exti'])).toThrow('--exti');
});

test('processing is as far as its operations; skipped ones do not count', () => {
  const operation = { description: '', reason: null };
  expect(
    summarise([
      { ...operation, state: 'succeeded', progress: 1 },
      { ...operation, state: 'running', progress: 0.5, description: 'Encoding' },
      { ...operation, state: 'skipped', progress: 0 },
      { ...operation, state: 'waiting', progress: 0 },
    ]),
  ).toEqual({ fraction: 0.5, note: 'Encoding' });
  const failed = { ...operation, state: 'failed', progress: 0.2, reason: 'It is corrupt.' };
  expect(summarise([failed])).toMatchObject({ note: 'It is corrupt.' });
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
