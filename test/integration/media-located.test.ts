import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { recordingInput, safeguards } from '#platform/media/ffmpeg-command.ts';
import { probe } from '#platform/media/probe.ts';
import type { Recording } from '#platform/media/recording.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { requestedRange } from '#platform/storage/requested-range.ts';
import { clip, clipFolder, testTools } from '../support/clips.ts';
import { listen } from '../support/listen.ts';

const tools = await testTools();
const LIMIT = { timeLimitMs: 60_000 };

/** Serves bytes by name as a reader does, and notes who asks for what. */
async function served(files: Record<string, Buffer>) {
  const asked = new Set<string>();
  const server = createServer(({ url = '', method, headers }, response) => {
    asked.add(url);
    const bytes = files[url.slice(1)];
    const range = bytes && requestedRange(headers.range, bytes.length);
    if (!bytes || range === 'unsatisfiable') return response.writeHead(404).end();
    const { start, end } = range === 'all' || !range ? { start: 0, end: bytes.length - 1 } : range;
    response.writeHead(range === 'all' ? 200 : 206, {
      'Content-Length': end - start + 1,
      'Content-Range': `bytes ${start}-${end}/${bytes.length}`,
    });
    response.end(method === 'HEAD' ? undefined : bytes.subarray(start, end + 1));
  });
  const address = await listen(server);
  onTestFinished(() => void server.close());
  return { address, asked };
}

describe('an address', () => {
  it.each([
    { seconds: 2 },
    { seconds: 2, container: 'webm' },
    { seconds: 2, container: 'ts' },
    { container: 'mp3' },
  ] as const)('gives the same as a file: %j', async (options) => {
    const path = await clip({ ...options });
    const { address } = await served({ recording: await readFile(path) });
    const { recording: _, ...onFile } = await probe(tools, path);
    const { recording, ...located } = await probe(tools, `${address}/recording`);
    expect(located).toEqual(onFile);
    expect(recording.path).toBe(`${address}/recording`);
  });

  it('of nothing is a failure of the worker, and one of bytes that broke off is of the recording', async () => {
    const whole = await readFile(await clip({ seconds: 1 }));
    const { address } = await served({ empty: Buffer.alloc(0), cut: whole.subarray(0, -1000) });
    await expect(probe(tools, `${address}/other`)).rejects.toMatchObject({ permanent: false });
    await expect(probe(tools, `${address}/empty`)).rejects.toMatchObject({ permanent: true });
    await expect(probe(tools, `${address}/cut`)).rejects.toMatchObject({ permanent: true });
  });
});

/** A box inside others, whose sizes grow with it. */
function replaceBox(file: Buffer, at: number, old: number, box: Buffer): Buffer {
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'dinf']) {
    const size = file.indexOf(name, 0, 'latin1') - 4;
    file.writeUInt32BE(file.readUInt32BE(size) + box.length - old, size);
  }
  return Buffer.concat([file.subarray(0, at), box, file.subarray(at + old)]);
}

/** Where the variable part of an alias record begins. */
const RECORDS = 162;

/** A QuickTime file whose pictures are in another file of the same folder: an alias record with its path. */
function referring(movie: Buffer, name: string): Buffer {
  const path = Buffer.from(`/${name}${name.length % 2 === 0 ? '\0' : ''}`);
  const alias = Buffer.alloc(RECORDS + 4 + path.length + 4);
  alias.write('alis', 4, 'latin1');
  // One level up from here, and one down to the target.
  alias.writeUInt16BE(1, RECORDS - 20);
  alias.writeUInt16BE(1, RECORDS - 18);
  alias.writeUInt16BE(2, RECORDS);
  alias.writeUInt16BE(path.length, RECORDS + 2);
  path.copy(alias, RECORDS + 4);
  alias.writeUInt16BE(0xffff, RECORDS + 4 + path.length);
  const dref = Buffer.concat([Buffer.alloc(16), alias]);
  dref.write('dref', 4, 'latin1');
  dref.writeUInt32BE(1, 12);
  for (const part of [alias, dref]) part.writeUInt32BE(part.length, 0);
  alias.copy(dref, 16);
  const copy = Buffer.from(movie);
  const media = copy.indexOf('mdat', 0, 'latin1');
  copy.fill(0, media + 4, media - 4 + copy.readUInt32BE(media - 4));
  const at = copy.indexOf('dref', 0, 'latin1') - 4;
  return replaceBox(copy, at, copy.readUInt32BE(at), dref);
}

describe('a crafted file makes no tool open another one', () => {
  /** The bytes of the pictures that ffmpeg decodes. */
  async function pictures(recording: Recording, ...options: string[]): Promise<number> {
    const input = recordingInput(recording, options);
    const output = ['-map', '0:0', '-frames:v', '1', '-f', 'rawvideo', 'pipe:1'];
    const args = ['-hide_banner', '-v', 'error', ...input.options, '-i', input.path, ...output];
    return (await runTool(tools.ffmpeg, args, LIMIT).catch(() => ({ output: Buffer.alloc(0) }))).output.length;
  }

  test('by a reference of QuickTime to a file beside it', async () => {
    const movie = await readFile(await clip({ container: 'mov', seconds: 1, audio: false }));
    const crafted = referring(movie, 'other.mov');
    const folder = clipFolder();
    for (const [name, bytes] of Object.entries({ 'other.mov': movie, 'crafted.mov': crafted }))
      await writeFile(join(folder, name), bytes);
    const { address, asked } = await served({ crafted, 'other.mov': movie });
    for (const path of [join(folder, 'crafted.mov'), `${address}/crafted`]) {
      const { recording } = await probe(tools, path);
      expect(await pictures(recording), path).toBe(0);
      expect([...asked].filter((name) => name !== '/crafted')).toEqual([]);
      // The reference is one that would work.
      expect(await pictures(recording, '-enable_drefs', '1'), path).toBeGreaterThan(0);
    }
    expect(asked).toContain('/other.mov');
  });

  test('by a playlist that looks like a recording', async () => {
    const secret = await readFile(await clip({ container: 'ts', seconds: 1 }));
    const files: Record<string, Buffer> = { 'secret.ts': secret };
    const { address, asked } = await served(files);
    const entry = `#EXTINF:1,\n${address}/secret.ts\n#EXT-X-ENDLIST\n`;
    files.playlist = Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:1\n${entry}`);
    files.disguised = Buffer.concat([Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1'), files.playlist]);
    for (const name of ['playlist', 'disguised'])
      await expect(probe(tools, `${address}/${name}`)).rejects.toMatchObject({ permanent: true });
    for (const demuxer of ['mov', 'matroska', 'mpegts', 'mp3', 'ogg', 'avi']) {
      const path = `${address}/playlist`;
      const recording = { path, size: 1, mediatype: '', demuxer, warnings: [] };
      await runTool(tools.ffprobe, ['-v', 'error', ...safeguards(recording), '-i', path], LIMIT).catch(() => undefined);
    }
    expect(asked).not.toContain('/secret.ts');
    // The playlist is one that would work.
    const followed = ['-v', 'error', '-protocol_whitelist', 'http,tcp', '-f', 'hls', '-i', `${address}/playlist`];
    await runTool(tools.ffprobe, followed, LIMIT);
    expect(asked).toContain('/secret.ts');
  });
});
