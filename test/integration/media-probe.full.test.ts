import { copyFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { demuxerFor } from '../../src/media/demuxer.ts';
import { probe } from '../../src/media/probe.ts';
import { runTool } from '../../src/media/process.ts';
import { detectMediaType } from '../../src/media/signature.ts';
import type { MediaTools } from '../../src/media/tools.ts';
import { AMR_TONE, type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';

let tools: MediaTools;
beforeAll(async () => {
  tools = await testTools();
});

async function fileWith(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(clipFolder(), name);
  await writeFile(path, content);
  return path;
}

/** A path is of a file that is there already. */
const FORMATS: [string, ClipOptions | string, boolean][] = [
  ['video/mp4', { container: 'mp4' }, true],
  ['audio/mp4', { container: 'm4a', video: false }, false],
  ['video/quicktime', { container: 'mov' }, true],
  ['video/3gpp', { container: '3gp' }, true],
  ['video/webm', { container: 'webm' }, true],
  ['video/x-matroska', { container: 'mkv' }, true],
  ['video/mp2t', { container: 'ts' }, true],
  ['video/mpeg', { container: 'mpg' }, true],
  ['video/x-msvideo', { container: 'avi' }, true],
  ['video/x-flv', { container: 'flv' }, true],
  ['video/x-ms-asf', { container: 'wmv' }, true],
  ['application/mxf', { container: 'mxf' }, true],
  ['video/x-dv', { container: 'dv', video: { size: '720x576' } }, true],
  ['video/ogg', { container: 'ogg' }, true],
  ['audio/ogg', { container: 'ogg', video: false }, false],
  ['audio/wav', { container: 'wav' }, false],
  ['audio/aiff', { container: 'aiff' }, false],
  ['audio/x-caf', { container: 'caf' }, false],
  ['audio/flac', { container: 'flac' }, false],
  ['audio/mpeg', { container: 'mp3' }, false],
  ['audio/aac', { container: 'aac' }, false],
  ['audio/ac3', { container: 'ac3' }, false],
  ['audio/eac3', { container: 'eac3' }, false],
  ['audio/amr', AMR_TONE, false],
];

describe('the media type', () => {
  it.each(FORMATS)(
    'of a real %s is decided from its bytes, and it can be read',
    async (mediatype, source, hasVideo) => {
      const path = typeof source === 'string' ? source : await clip({ ...source, seconds: 1 });
      expect(detectMediaType((await readFile(path)).subarray(0, 4096))).toBe(mediatype);
      const info = await probe(tools, path);
      expect(info.recording).toMatchObject({ mediatype, demuxer: demuxerFor(mediatype) });
      expect(info).toMatchObject({ hasAudio: true, hasVideo });
      expect(info.duration).toBeGreaterThan(900);
      expect(info.duration).toBeLessThan(1200);
    },
  );
});

describe('probe', () => {
  it('tells what the streams hold', async () => {
    const path = await clip({ seconds: 2, video: { size: '640x360', rate: 30 }, audio: { channels: 1 } });
    const { duration, size, streams } = await probe(tools, path);
    expect(duration).toBe(2000);
    expect(size).toBe((await readFile(path)).length);
    expect(streams).toMatchObject([
      { type: 'video', codec: 'h264', width: 640, height: 360, frameRate: 30, frameCount: 60 },
      { type: 'audio', codec: 'aac', channels: 1, samplingRate: 48_000 },
    ]);
  });

  it('measures what the header does not tell', async () => {
    const live = await clip({ container: 'webm', seconds: 2, options: ['-live', '1'] });
    const { duration, indexed, video } = await probe(tools, live);
    expect(indexed).toBe(false);
    expect(duration).toBeGreaterThanOrEqual(2000);
    expect(duration).toBeLessThan(2050);
    expect(video).toMatchObject({ frameRate: 25, frameCount: 50 });
  });

  it('measures a fragmented MP4 whole', async () => {
    const path = await clip({
      seconds: 3,
      options: ['-g', '25', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
    });
    const { duration } = await probe(tools, path);
    expect(duration).toBeGreaterThanOrEqual(2950);
    expect(duration).toBeLessThan(3150);
  });

  it('does not take the cover of an MP3 for a picture', async () => {
    const sound = await clip({ container: 'mp3', seconds: 1 });
    const cover = join(clipFolder(), 'cover.jpg');
    const path = join(clipFolder(), 'with-cover.mp3');
    const picture = ['-f', 'lavfi', '-i', 'color=red:size=600x600:duration=1', '-frames:v', '1', '-y', cover];
    await runTool(tools.ffmpeg, ['-v', 'error', ...picture], { timeLimitMs: 60_000 });
    const attach = [
      '-i',
      sound,
      '-i',
      cover,
      '-map',
      '0',
      '-map',
      '1',
      '-c',
      'copy',
      '-id3v2_version',
      '3',
      '-y',
      path,
    ];
    await runTool(tools.ffmpeg, ['-v', 'error', ...attach], { timeLimitMs: 60_000 });
    expect(await probe(tools, path)).toMatchObject({
      hasAudio: true,
      hasVideo: false,
      streams: [{ codec: 'mp3' }],
    });
  });

  it.each<[string, string, RegExp]>([
    ['noise', 'noise.mp4', /not a recording/],
    ['a playlist', 'playlist.mp4', /not a recording/],
    ['a concat script', 'script.mp4', /not a recording/],
    ['an empty file', 'empty.mp4', /is empty/],
    ['a picture', 'picture.mp4', /not a recording/],
  ])('refuses %s called .mp4 without asking a tool', async (_what, name, message) => {
    const contents: Record<string, string | Uint8Array> = {
      'noise.mp4': Uint8Array.from({ length: 50_000 }, (_, i) => (i * i * 31 + i) % 251),
      'playlist.mp4': '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n',
      'script.mp4': "ffconcat version 1.0\nfile '/etc/passwd'\n",
      'empty.mp4': '',
      'picture.mp4': Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1]),
    };
    const path = await fileWith(name, contents[name] ?? '');
    const none = { ffmpeg: '/nonexistent/ffmpeg', ffprobe: '/nonexistent/ffprobe' };
    await expect(probe(none, path)).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, ClipOptions]>([
    ['an MP4 with its index behind', { container: 'mp4' }],
    ['an MP4 with its index ahead', { container: 'mp4', options: ['-movflags', '+faststart'] }],
    ['a Matroska file', { container: 'mkv' }],
    ['an AVI file', { container: 'avi' }],
    ['a WAV file', { container: 'wav' }],
  ])('refuses %s that was cut in the middle', async (_what, options) => {
    const path = join(clipFolder(), `cut.${options.container}`);
    await copyFile(await clip(options), path);
    await truncate(path, Math.floor((await readFile(path)).length * 0.6));
    await expect(probe(tools, path)).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('incomplete'),
    });
  });

  it('refuses a file that is right at its start only, with a reason that names no path', async () => {
    const whole = await readFile(await clip({ container: 'webm' }));
    const path = await fileWith(
      'damaged.webm',
      Buffer.concat([whole.subarray(0, 60), Buffer.alloc(500_000, 0x55)]),
    );
    const failure = await probe(tools, path).catch((error) => error);
    expect(failure).toMatchObject({ permanent: true });
    expect(failure.message).toMatch(/damaged|neither sound nor/);
    expect(failure.message + failure.log).not.toContain(clipFolder());
  });

  it('does not blame the recording for an object that cannot be opened, and names no path', async () => {
    const missing = probe(tools, join(clipFolder(), 'missing'));
    await expect(missing).rejects.toMatchObject({ permanent: false, message: 'The file cannot be opened.' });
  });

  it('refuses a header that nothing follows', async () => {
    const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x10', 'latin1'), Buffer.alloc(16)]);
    await expect(probe(tools, await fileWith('tag.mp3', tag))).rejects.toMatchObject({ permanent: true });
  });
});
