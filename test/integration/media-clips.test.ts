import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partsWithin } from '#platform/media/cutting.ts';
import { type DeliveryOptions, deliver } from '#platform/media/encode-delivery.ts';
import { ffmpegArguments } from '#platform/media/ffmpeg-command.ts';
import { indexFile } from '#platform/media/fragment-index.ts';
import { countFrames, probe } from '#platform/media/probe.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';
import {
  type MarkedClip,
  markedClip,
  markedPictures,
  markedSound,
  WITHOUT_EDIT_LIST,
} from '../support/marked-clips.ts';
import { boxes, packetHashes, processesWith } from '../support/media.ts';

const tools = await testTools();
const OPTIONS = {
  settings: { quality: { preset: 'veryfast', crf: 30 }, heights: ['source' as const] },
  timeLimitMs: 60_000,
  onProgress: () => undefined,
};

const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '1M'];
const VORBIS = ['-c:a', 'libvorbis'];
/** A picture a second, and in the fifth second all that a screen shows. */
const SCREEN = 'not(mod(n,60))+between(t,4,5)';

async function delivered(path: string, options: Partial<DeliveryOptions> = {}) {
  const folder = await mkdtemp(join(clipFolder(), 'delivered-'));
  const fractions: number[] = [];
  const onProgress = (fraction: number) => void fractions.push(fraction);
  const info = await probe(tools, path);
  const { renditions } = await deliver(tools, info, { ...OPTIONS, folder, onProgress, ...options });
  const [plan, target] = [renditions[0], renditions[0]?.path ?? ''];
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  return { target, plan, fractions, source: info, result: await probe(tools, target) };
}

describe('probe', () => {
  it('reads what the streams hold', async () => {
    const path = await clip({ seconds: 1, video: { size: '640x360', rate: 30 }, audio: { channels: 1 } });
    const { duration, size, streams, recording, indexed } = await probe(tools, path);
    expect([duration, size, indexed]).toEqual([1000, (await readFile(path)).length, true]);
    expect(recording).toMatchObject({ mediatype: 'video/mp4', warnings: [] });
    expect(streams).toMatchObject([
      { type: 'video', codec: 'h264', width: 640, height: 360, frameRate: 30, frameCount: 30 },
      { type: 'audio', codec: 'aac', channels: 1, samplingRate: 48_000 },
    ]);
  });

  it.each(['mkv', 'mp4', 'flv'] as const)(
    'counts from the first packet where times begin late: %s',
    async (container) => {
      const { duration, spans, start } = await probe(
        tools,
        await clip({ container, options: ['-output_ts_offset', '30'] }),
      );
      expect(start).toBeCloseTo(30, 1);
      expect(duration / 1000).toBeCloseTo(2, 0);
      for (const { begin, end } of [spans.video, spans.audio]) {
        expect(begin).toBeCloseTo(0, 1);
        expect(end).toBeCloseTo(2, 0);
      }
    },
  );

  it.each<[string, ClipOptions]>([
    ['in Matroska', { container: 'mkv' }],
    ['in AVI', { container: 'avi' }],
    ['in a fragmented MP4', { container: 'mp4', options: ['-movflags', 'empty_moov+frag_keyframe'] }],
    ['in a transport stream', { container: 'ts' }],
  ])('leaves out a stream that is declared but has no packets: %s', async (_what, clipOptions) => {
    const audio = { options: ['-af', 'atrim=start=20'] };
    const info = await countFrames(tools, await probe(tools, await clip({ ...clipOptions, audio })));
    expect(info).toMatchObject({ hasVideo: true, hasAudio: false, streams: [{ type: 'video', frameCount: 50 }] });
  });

  it('leaves out pictures of which there are none, and refuses a file without anything', async () => {
    const video = { options: ['-vf', 'trim=start=20'] };
    const info = await probe(tools, await clip({ container: 'mkv', video }));
    expect(info).toMatchObject({ hasVideo: false, hasAudio: true, streams: [{ type: 'audio', index: 1 }] });
    const empty = await clip({ container: 'mkv', video, audio: { options: ['-af', 'atrim=start=20'] } });
    const message = expect.stringMatching(/no sound or picture follows/);
    await expect(probe(tools, empty)).rejects.toMatchObject({ permanent: true, message });
  });

  it.each<[string, string[]]>([
    ['begin again', []],
    ['jump by an hour', ['-output_ts_offset', '3600']],
  ])('measures transport streams that were joined, whose times %s', async (_what, options) => {
    const parts = [await clip({ container: 'ts' }), await clip({ container: 'ts', options })];
    const path = join(clipFolder(), 'joined.ts');
    await writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))));
    const { source, result } = await delivered(path);
    expect(source.video).toMatchObject({ frameCount: 100, frameRate: 25, peakFrameRate: 25 });
    for (const { duration } of [source, result]) expect(Math.abs(duration - 4000)).toBeLessThan(80);
  });

  it('refuses a recording that was cut off, and files that are none without asking a tool', async () => {
    const path = join(clipFolder(), 'cut.mp4');
    const whole = await readFile(await clip({ seconds: 1 }));
    await writeFile(path, whole.subarray(0, Math.floor(whole.length * 0.6)));
    const message = expect.stringContaining('incomplete');
    await expect(probe(tools, path)).rejects.toMatchObject({ permanent: true, message });
    const none = { ffmpeg: '/nonexistent/ffmpeg', ffprobe: '/nonexistent/ffprobe' };
    for (const [content, reason] of [
      ['', /is empty/],
      ['#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n', /not a recording/],
    ] as const) {
      await writeFile(path, content);
      const refused = { permanent: true, message: expect.stringMatching(reason) };
      await expect(probe(none, path)).rejects.toMatchObject(refused);
    }
    const missing = { permanent: false, message: 'The file cannot be opened.' };
    await expect(probe(none, join(clipFolder(), 'missing'))).rejects.toMatchObject(missing);
  });
});

describe('a delivery', () => {
  it('takes over what browsers play, and begins with its index', async () => {
    const path = await clip({ container: 'mkv', seconds: 1 });
    const { target, plan, fractions } = await delivered(path);
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([true, true]);
    for (const stream of ['v:0', 'a:0'])
      expect(await packetHashes(target, stream)).toEqual(await packetHashes(path, stream));
    const names = await boxes(target);
    expect(names.indexOf('moov')).toBeGreaterThan(0);
    expect(names.indexOf('moov')).toBeLessThan(names.indexOf('mdat'));
    expect(fractions.at(-1)).toBe(1);
  });

  it('encodes what browsers may not play', async () => {
    const { plan, source, result } = await delivered(await clip({ container: 'webm', seconds: 1 }));
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([false, false]);
    expect(result).toMatchObject({
      video: { codec: 'h264', pixelFormat: 'yuv420p', width: 320, height: 240 },
      audio: { codec: 'aac', channels: 2 },
    });
    expect(Math.abs(result.duration - source.duration)).toBeLessThan(120);
  });

  it('encodes H.264 whose parameter sets may be among the pictures, and keeps them in front', async () => {
    const { plan, source, result, target } = await delivered(await clip({ seconds: 1, options: ['-tag:v', 'avc3'] }));
    expect([source.video?.tag, plan?.video?.copy, result.video?.tag]).toEqual(['avc3', false, 'avc1']);
    expect((await indexFile(target)).videoCodec).toMatch(/^avc1\.64/);
  });

  it('is encoded after all when it cannot be taken over', async () => {
    const info = await probe(tools, await clip({ container: 'webm', seconds: 1 }));
    // As if VP8 had been taken for something an MP4 may hold.
    const mistaken = info.video && { ...info.video, codec: 'h264', profile: 'High' };
    const folder = await mkdtemp(join(clipFolder(), 'mistaken-'));
    const { renditions } = await deliver(tools, { ...info, video: mistaken }, { ...OPTIONS, folder });
    expect(renditions[0]?.video?.copy).toBe(false);
    expect((await probe(tools, renditions[0]?.path ?? '')).video?.codec).toBe('h264');
  });

  it('is cut to the frame, with its sound in step, and lasts to the end where the last part has none', async () => {
    const path = await markedClip({ name: 'quick.mp4', seconds: 4 });
    const parts = partsWithin([{ begin: 500, end: 1250 }, { begin: 3000 }], 4000);
    const { target, plan, result } = await delivered(path, { parts });
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([false, false]);
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    const numbers = (await markedPictures(target)).map(({ number }) => number);
    expect(numbers).toEqual([...range(12, 31), ...range(75, 100)]);
    const sound = await markedSound(target);
    expect(sound.map(({ second }) => second)).toEqual([0, 1, 3]);
    [0, 0.5, 0.75].forEach((from, i) => void expect(sound[i]?.from).toBeCloseTo(from, 1));
    expect(Math.abs(result.duration - 1750)).toBeLessThan(60);
  });

  it('shows its first picture from the start where the source begins with sound', async () => {
    for (const [name, codec] of [
      ['late-pictures.ts', 'libx264'],
      ['late-pictures.mkv', 'mpeg4'],
    ] as const) {
      const path = await markedClip({ name, seconds: 4, only: 'gte(t,1.5)', video: ['-c:v', codec] });
      const { target, plan } = await delivered(path);
      expect(plan?.video?.copy).toBe(codec === 'libx264');
      const [first, ...pictures] = await markedPictures(target, WITHOUT_EDIT_LIST);
      expect(first?.time).toBeLessThan(0.2);
      expect(pictures.map(({ number }) => number)).toEqual(Array.from({ length: 61 }, (_, i) => i + 39));
      for (const { number, time } of pictures) expect(Math.abs(time - number / 25)).toBeLessThan(0.13);
    }
  });

  it('keeps pictures and sound in step where a broadcast begins between two key frames', async () => {
    // Each frame of sound beside the picture of its time.
    const options = ['-pes_payload_size', '0'];
    const video = ['-c:v', 'libx264', '-g', '50', '-sc_threshold', '0', '-bf', '0'];
    const whole = await markedClip({ name: 'broadcast.ts', seconds: 6, video, options });
    const path = join(clipFolder(), 'joined-late.ts');
    const bytes = await readFile(whole);
    const packets = Array.from({ length: bytes.length / 188 }, (_, i) => bytes.subarray(188 * i, 188 * (i + 1)));
    // The start of a picture: the stream 0x100 with the flag 0x4000.
    const begin = packets.findIndex((packet, i) => i > packets.length / 8 && packet.readUInt16BE(1) === 0x4100);
    await writeFile(path, Buffer.concat(packets.slice(begin)));
    const { target, plan } = await delivered(path);
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([true, true]);
    const sound = await markedSound(target, WITHOUT_EDIT_LIST);
    const cut = 4 - (sound.find(({ second }) => second === 4)?.from ?? 0);
    const [first, ...pictures] = await markedPictures(target, WITHOUT_EDIT_LIST);
    expect(first?.number).toBe(50);
    for (const { number, time } of pictures) expect(Math.abs(cut + time - number / 25)).toBeLessThan(0.13);
  });

  it('begins with silence where the sound of the source begins late', async () => {
    const audio = ['-c:a', 'aac', '-af', 'atrim=start=1.5'];
    const { target, plan } = await delivered(await markedClip({ name: 'late-sound.mp4', seconds: 4, audio }));
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([true, false]);
    const sound = await markedSound(target, WITHOUT_EDIT_LIST);
    expect(sound.find(({ second }) => second === 2)?.from).toBeCloseTo(2, 1);
  });

  it.each([
    ['mp4', 'libx264'],
    ['mkv', 'mpeg4'],
  ])('continues its sound with silence, beside the pictures, where it ends early: %s', async (container, codec) => {
    const audio = ['-c:a', 'aac', '-af', 'atrim=end=3'];
    const video = ['-c:v', codec, '-g', '20'];
    const source = await markedClip({ name: `mute.${container}`, seconds: 30, rate: 10, video, audio });
    const { target, plan } = await delivered(source);
    expect([plan?.video?.copy, plan?.audio?.copy]).toEqual([codec === 'libx264', false]);
    const show = ['-show_entries', 'packet=codec_type,pts_time,pos', '-of', 'csv=p=0'];
    const { output } = await runTool(tools.ffprobe, ['-v', 'error', ...show, target], { timeLimitMs: 60_000 });
    const packets = output
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    const at = (type: string, time: number) => packets.find(([kind, pts]) => kind === type && Number(pts) >= time)?.[2];
    for (const time of [1, 5, 12, 20, 27]) {
      expect(Number(at('audio', time))).toBeLessThan(Number(at('video', time + 2.5)));
      expect(Number(at('video', time))).toBeLessThan(Number(at('audio', time + 2.5)));
    }
    expect((await probe(tools, target)).spans.audio.end).toBeCloseTo(30, 0);
    expect((await markedSound(target)).map(({ second }) => second)).toEqual([0, 1, 2, Number.NEGATIVE_INFINITY]);
  });

  it.each([
    ['mp4', 'libx264'],
    ['mkv', 'mpeg4'],
  ])('shows its last picture until the sound ends: %s', async (container, codec) => {
    const video = ['-c:v', codec];
    const path = await markedClip({ name: `slide.${container}`, seconds: 8, only: 'lt(t,3)', video });
    const { target } = await delivered(path);
    const { segments } = await indexFile(target);
    expect(segments.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(8, 1);
    const numbers = (await markedPictures(target)).map(({ number }) => number);
    expect(numbers).toEqual([...Array(75).keys(), 74]);
  });

  it.each<[string, MarkedClip]>([
    ['that pause in the middle', { name: 'pause.mp4', seconds: 10, only: 'lt(t,2)+gte(t,8)' }],
    ['that pause in WebM', { name: 'pause.webm', seconds: 10, video: VP8, audio: VORBIS, only: 'lt(t,2)+gte(t,8)' }],
    ['that stop long before the sound', { name: 'stop.mp4', seconds: 10, only: 'lt(t,4)' }],
    ['of a screen on which little moves, and then much', { name: 'screen.mkv', seconds: 8, rate: 60, only: SCREEN }],
    ['that come in short bursts', { name: 'bursts.mp4', seconds: 8, rate: 60, only: 'lt(mod(n,60),4)' }],
    ['of slides', { name: 'slides.mp4', seconds: 9, rate: 10 }],
    [
      'in a transport stream',
      { name: 'pause.ts', seconds: 9, only: 'lt(t,2)+gte(t,6)', video: ['-c:v', 'mpeg2video'] },
    ],
  ])('encodes all pictures at their times, with their sound: pictures %s', async (_what, source) => {
    const path = await markedClip(source);
    const info = await countFrames(tools, await probe(tools, path));
    const folder = await mkdtemp(join(clipFolder(), 'all-'));
    // The best rendition of some could be copied.
    const settings = { ...OPTIONS.settings, heights: [360] };
    const video = info.video && { ...info.video, profile: 'High 10' };
    const { renditions } = await deliver(tools, { ...info, video }, { ...OPTIONS, settings, folder });
    const made = renditions[0]?.path ?? '';
    const shown = new Map((await markedPictures(path)).map(({ number, time }) => [number, time - info.start]));
    const pictures = await markedPictures(made);
    expect(new Set(pictures.map(({ number }) => number))).toEqual(new Set(shown.keys()));
    for (const { number, time } of pictures.slice(0, shown.size))
      expect(Math.abs(time - (shown.get(number) ?? 0))).toBeLessThan(0.03);
    for (const { second, from } of (await markedSound(made)).slice(1)) expect(from).toBeCloseTo(second, 1);
  });

  it('shows none of the pictures that a file hides which was trimmed without encoding', async () => {
    const whole = await markedClip({ name: 'whole.mp4', seconds: 5, video: ['-c:v', 'libx264', '-g', '250'] });
    const trimmed = join(clipFolder(), 'trimmed.mp4');
    await runTool(tools.ffmpeg, ['-v', 'error', '-ss', '2', '-i', whole, '-c', 'copy', '-y', trimmed], OPTIONS);
    const { target } = await delivered(trimmed);
    const [first] = await markedPictures(target, WITHOUT_EDIT_LIST);
    expect(first?.number).toBe(50);
  });
});

describe.runIf(process.platform === 'linux')('an encoder', () => {
  const LONG: ClipOptions = {
    ...{ container: 'mkv', seconds: 10, audio: false },
    video: { size: '1280x720', codec: 'mpeg4' },
  };
  const QUALITY = { preset: 'veryslow', crf: 18 };
  const encoding = async (name: string, options: (target: string) => Partial<DeliveryOptions>) => {
    const target = await mkdtemp(join(clipFolder(), `${name}-`));
    const info = await probe(tools, await clip(LONG));
    const settings = { ...OPTIONS.settings, quality: QUALITY };
    const ended = deliver(tools, info, { ...OPTIONS, settings, folder: target, ...options(target) });
    return { target, error: await ended.catch((error) => error) };
  };

  it('is gone when the operation was aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('shutdown');
    const running: number[] = [];
    const { target, error } = await encoding('aborted', (target) => ({
      signal: controller.signal,
      onProgress: () => {
        running.push(...processesWith(target));
        controller.abort(reason);
      },
    }));
    expect(error).toBe(reason);
    expect(running.length).toBeGreaterThan(0);
    expect(processesWith(target)).toEqual([]);
  });

  it('is gone when its time is over', async () => {
    const { target, error } = await encoding('late', () => ({ timeLimitMs: 700 }));
    expect(error).toMatchObject({ permanent: false, message: expect.stringContaining('stopped after') });
    expect(processesWith(target)).toEqual([]);
  });

  it('that something else killed, or on a full disk, is worth another attempt', async () => {
    const { error } = await encoding('killed', (target) => ({
      onProgress: () => {
        for (const pid of processesWith(target)) process.kill(pid, 'SIGKILL');
      },
    }));
    expect(error).toMatchObject({ permanent: false });
    const input = { path: 'sine=duration=5', options: ['-f', 'lavfi'] };
    const args = ffmpegArguments(input, [{ target: '/dev/full', options: ['-f', 's16le'] }]);
    const full = { permanent: false, message: 'The disk of the worker is full.' };
    await expect(runTool(tools.ffmpeg, args, OPTIONS)).rejects.toMatchObject(full);
  });
});
