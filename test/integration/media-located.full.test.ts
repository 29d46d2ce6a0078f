import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ffmpegArguments, recordingInput } from '#platform/media/ffmpeg-command.ts';
import { countFrames, probe } from '#platform/media/probe.ts';
import { recognize } from '#platform/media/recording.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { objectKey } from '#platform/storage/object-keys.ts';
import { RangeReader } from '#platform/storage/range-reader.ts';
import { encode } from '#workers/operations/encode.ts';
import { inspect } from '#workers/operations/inspect.ts';
import type { Operation } from '#workers/operations/operation.ts';
import { preview } from '#workers/operations/preview.ts';
import { source } from '../support/bytes.ts';
import { type ClipOptions, clip, testTools } from '../support/clips.ts';
import { createOperationBench } from '../support/operation-context.ts';
import { storageWith } from '../support/storage-with.ts';
import { storages, type TestStorage } from '../support/storages.ts';

const MIB = 2 ** 20;
/** The streams and the index of a recording. */
const HEAD_BYTES = 2 * MIB;
/** The largest answer of the reader, of which a tool may need nothing. */
const UNREAD_BYTES = 4 * MIB;
const tools = await testTools();
const bench = await createOperationBench();
afterAll(() => bench.close());

const LIMIT = { timeLimitMs: 120_000 };
const NOISE = { size: '640x360', filter: 'noise=alls=60:allf=t' };
const MPEG4 = { ...NOISE, codec: 'mpeg4', options: ['-q:v', '1', '-g', '50'] };
const FAST_VP8 = ['-deadline', 'realtime', '-cpu-used', '8', '-b:v', '40M', '-qmin', '0', '-qmax', '6', '-g', '50'];
const VP8 = { ...NOISE, options: FAST_VP8 };

describe('a recording in a bucket', () => {
  let s3: TestStorage;
  beforeAll(async () => {
    s3 = await (storages.find(([name]) => name === 'S3')?.[1]() as Promise<TestStorage>);
  });
  afterAll(async () => {
    await s3.storage.close();
    await s3.stop();
  });

  /** A large recording as a file and as an address of the bucket. */
  async function stored(options: ClipOptions) {
    const path = await clip(options);
    const { size } = await stat(path);
    const key = objectKey('track');
    await s3.storage.put(key, source(await readFile(path)), { mediatype: 'video/mp4' });
    const { signal } = new AbortController();
    const reader = new RangeReader({
      storage: s3.storage,
      signal,
      onFault: async (error) => {
        throw error;
      },
    });
    onTestFinished(() => reader.close());
    const address = await reader.address(key);
    /** What a function returns, and the bytes of the recording that were read for it. */
    const share = async <T>(run: () => Promise<T>) => {
      const before = reader.bytesRead;
      const result = await run();
      return { result, read: reader.bytesRead - before };
    };
    return { path, address, size, share, reader };
  }

  it.each<[string, ClipOptions]>([
    ['an MP4 with its index behind', { video: MPEG4 }],
    ['an MP4 with its index ahead', { video: MPEG4, options: ['-movflags', '+faststart'] }],
    ['a WebM', { container: 'webm', video: VP8 }],
  ])('is read as from a file, and little more than is needed: %s', async (_name, options) => {
    const seconds = 16;
    const { path, address, size, share } = await stored({ ...options, seconds: 2, times: 8 });
    expect(size).toBeGreaterThan(60 * MIB);
    const { recording: _, ...onFile } = await probe(tools, path);
    const probed = await share(() => probe(tools, address));
    expect(probed.result).toMatchObject(onFile);
    expect(probed.read).toBeLessThan(HEAD_BYTES + UNREAD_BYTES);

    const header = probed.result;
    expect(await share(() => countFrames(tools, header))).toEqual({ result: header, read: 0 });

    const run = async (place: string, input: string[]) => {
      const output = { target: 'pipe:1', options: ['-c', 'copy', '-f', 'framemd5'] };
      const args = ffmpegArguments(recordingInput(await recognize(place), input), [output]);
      const { output: hashes, log } = await runTool(tools.ffmpeg, args, LIMIT);
      return [hashes.toString(), log];
    };
    const part = ['-ss', String(seconds / 2), '-t', '1'];
    const middle = await share(() => run(address, part));
    expect(middle.result).toEqual(await run(path, part));
    // A second, and two before it from the last key frame on.
    expect(middle.read).toBeLessThan((3 * size) / seconds + UNREAD_BYTES);
    const whole = await share(() => run(address, []));
    expect(whole.result).toEqual(await run(path, []));
    expect(probed.read + whole.read).toBeLessThan(size + HEAD_BYTES + UNREAD_BYTES);
  });

  it('is given up within seconds by a tool whose reader is gone', async () => {
    const { address, reader } = await stored({ video: MPEG4, seconds: 2, times: 8 });
    const input = recordingInput(await recognize(address), ['-re']);
    const args = ffmpegArguments(input, [{ target: 'pipe:1', options: ['-c', 'copy', '-f', 'framemd5'] }]);
    const closing: Promise<void>[] = [];
    const onOutput = () => closing.push(reader.close());
    const run = runTool(tools.ffmpeg, args, { timeLimitMs: 20_000, onOutput });
    const reason = await run.then(() => 'exited', String);
    await Promise.all(closing);
    expect(closing).not.toEqual([]);
    expect(reason).not.toContain('time limit');
  });

  it('is read to its end to count the frames of a varying rate', async () => {
    const { path, address, size, share } = await stored({ container: 'webm', video: VP8, seconds: 2, times: 8 });
    const { video, ...info } = await probe(tools, address);
    const varying = { ...info, video: video && { ...video, peakFrameRate: 1000 } };
    const { result, read } = await share(() => countFrames(tools, varying));
    const { video: onFile } = await countFrames(tools, await probe(tools, path));
    expect(result.video?.frameCount).toBe(onFile?.frameCount);
    expect(read).toBeGreaterThan(0.9 * size);
  });

  it('without an index is read once', async () => {
    const { path, address, size, share } = await stored({
      container: 'ts',
      // Less than the reader keeps.
      seconds: 3,
      video: { ...MPEG4, codec: 'mpeg2video' },
    });
    const { recording: _, ...onFile } = await probe(tools, path);
    const { result, read } = await share(() => probe(tools, address));
    expect(result).toMatchObject(onFile);
    expect(read).toBeLessThan(1.2 * size);
  });
});

describe('an operation downloads no object of which it reads a part', () => {
  const remote = storageWith(bench.storage, {
    localPath: () => undefined,
    get: async (key, range, signal) => {
      if (!range) throw new Error('all of it');
      return bench.storage.get(key, range, signal);
    },
  });
  const perform = (operation: Operation, eventId: string) => bench.perform(operation, eventId, { storage: remote });

  it('inspect, which needs all of a recording for a checksum', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip() });
    await perform(inspect, eventId);
    expect(await bench.tracksOf(eventId)).toMatchObject([{ duration: 2000 }]);
    await bench.database.updateTable('tracks').set({ sha256: null }).where('event_id', '=', eventId).execute();
    await expect(perform(inspect, eventId)).rejects.toMatchObject({ cause: new Error('all of it') });
  });

  it('preview, if the rendition is large', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip() });
    for (const operation of [inspect, encode]) await bench.perform(operation, eventId);
    await expect(perform(preview, eventId)).rejects.toMatchObject({ cause: new Error('all of it') });
    const renditions = bench.database.updateTable('publication_elements').where('event_id', '=', eventId);
    await renditions.set({ size: 2 ** 30 }).execute();
    await perform(preview, eventId);
    expect((await bench.elementsOf(eventId)).filter(({ kind }) => kind === 'attachment')).toHaveLength(3);
  });

  it('and a fault of the storage in the middle is none of the recording', async () => {
    const eventId = await bench.addEvent({ 'presenter/source': await clip({ container: 'ts' }) });
    const broken = storageWith(remote, {
      get: (key, range, signal) =>
        range?.start ? Promise.reject(new Error('broken')) : remote.get(key, range, signal),
    });
    const performing = bench.perform(inspect, eventId, { storage: broken });
    await expect(performing).rejects.toMatchObject({ name: 'StorageFault', cause: new Error('broken') });
  });
});
