import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectMediaType } from '#platform/media/media-type.ts';
import { probe } from '#platform/media/probe.ts';
import { demuxerFor, recognize } from '#platform/media/recording.ts';
import { MediaFailure } from '#platform/media/tools/media-failure.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { AMR_TONE, type ClipOptions, type Container, clip, clipFolder, testTools } from '../support/clips.ts';

const LIMIT = { timeLimitMs: 60_000 };
const tools = await testTools();

async function fileWith(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(clipFolder(), name);
  await writeFile(path, content);
  return path;
}

/** What a file is found to be: certainly not whole, perhaps not, or whole. */
type Found = 'incomplete' | 'doubtful' | 'whole';

async function look(bytes: Uint8Array): Promise<Found> {
  const path = await fileWith('looked-at', bytes);
  try {
    const { warnings } = await recognize(path);
    for (const warning of warnings) expect(warning).toMatch(/^The file may be incomplete: .*\.$/);
    return warnings.length > 0 ? 'doubtful' : 'whole';
  } catch (error) {
    expect(error).toBeInstanceOf(MediaFailure);
    const message = expect.stringMatching(/^The file is incomplete: /);
    expect(error).toMatchObject({ permanent: true, message });
    return 'incomplete';
  }
}

/** Cut off where no frame ends by chance. */
const cut = (whole: Uint8Array, fraction: number) => whole.subarray(0, Math.floor(whole.length * fraction) | 1);

/** Clips in their usual containers, by media type, and what a part of each is found to be. */
const foundIn = (found: Found, containers: Record<string, Container>) =>
  Object.entries(containers).map(([type, container]): [string, ClipOptions, Found] => [type, { container }, found]);

/** The media type, a clip or a file, and what a part of it is found to be; these say nothing of their length. */
const FORMATS: [string, ClipOptions | string, Found?][] = [
  ...foundIn('incomplete', {
    ...{ 'video/mp4': 'mp4', 'video/quicktime': 'mov', 'video/webm': 'webm', 'video/x-matroska': 'mkv' },
    ...{ 'video/x-msvideo': 'avi', 'video/x-flv': 'flv', 'video/x-ms-asf': 'wmv', 'application/mxf': 'mxf' },
    ...{ 'audio/wav': 'wav', 'audio/aiff': 'aiff', 'audio/x-caf': 'caf', 'audio/flac': 'flac', 'audio/mpeg': 'mp3' },
  }),
  ...foundIn('doubtful', {
    ...{ 'video/mp2t': 'ts', 'video/mpeg': 'mpg', 'video/ogg': 'ogg' },
    ...{ 'audio/aac': 'aac', 'audio/ac3': 'ac3', 'audio/eac3': 'eac3' },
  }),
  ['video/x-dv', { container: 'dv', video: { size: '720x576' } }, 'doubtful'],
  ['video/3gpp', { container: '3gp' }],
  ['audio/mp4', { container: 'm4a', video: false }],
  ['audio/ogg', { container: 'ogg', video: false }],
  ['audio/amr', AMR_TONE],
];

it.each(FORMATS)('%s is known by its bytes, can be read, and is found whole or cut', async (type, source, found) => {
  const path = typeof source === 'string' ? source : await clip({ ...source, seconds: 1 });
  const whole = await readFile(path);
  expect(detectMediaType(whole.subarray(0, 4096))).toBe(type);
  const { recording, hasAudio, hasVideo, duration } = await probe(tools, path);
  expect(recording).toMatchObject({ mediatype: type, demuxer: demuxerFor(type) });
  expect([hasAudio, hasVideo]).toEqual([true, !type.startsWith('audio/')]);
  expect(Math.abs(duration - 1050)).toBeLessThan(150);
  if (!found) return;
  expect(await look(whole)).toBe('whole');
  expect([await look(cut(whole, 0.3)), await look(cut(whole, 0.7))]).toEqual([found, found]);
  // Of the last hundredth, the last frame may be all that is missed.
  expect(await look(cut(whole, 0.99))).not.toBe('whole');
});

describe('a recording that was written as it was recorded', () => {
  const H264 = ['-c', 'copy'];
  it.each<[string, string[], Found]>([
    ['FLV', [...H264, '-f', 'flv'], 'doubtful'],
    ['Matroska', [...H264, '-f', 'matroska'], 'doubtful'],
    ['WebM of a browser', ['-c:v', 'libvpx', '-c:a', 'libvorbis', '-live', '1', '-f', 'webm'], 'doubtful'],
    ['Windows Media', ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'], 'doubtful'],
    ['MXF', ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-f', 'mxf'], 'doubtful'],
    ['FLAC', ['-vn', '-c:a', 'flac', '-f', 'flac'], 'doubtful'],
    ['MP3', ['-vn', '-c:a', 'libmp3lame', '-f', 'mp3'], 'doubtful'],
    ['MP3 without a first frame that counts', ['-vn', '-write_xing', '0', '-f', 'mp3'], 'doubtful'],
    ['M2TS', [...H264, '-mpegts_m2ts_mode', '1', '-f', 'mpegts'], 'doubtful'],
    ['DVD', ['-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'dvd'], 'doubtful'],
    ['WAV', ['-vn', '-c:a', 'pcm_s16le', '-f', 'wav'], 'whole'],
    ['fragmented MP4', [...H264, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4'], 'incomplete'],
  ])('%s is no reason to doubt it, unless it breaks off', async (_format, options, broken) => {
    const recorded = await clip({ seconds: 3, container: 'mkv' });
    const args = ['-v', 'error', '-i', recorded, ...options, 'pipe:1'];
    const bytes = (await runTool(tools.ffmpeg, args, LIMIT)).output;
    expect(await look(bytes)).toBe('whole');
    expect(await look(cut(bytes, 0.6))).toBe(broken);
  });

  it('of a broadcast may begin and end anywhere between two packets', async () => {
    const whole = await readFile(await clip({ seconds: 3, container: 'ts' }));
    const packets = Math.floor(whole.length / 188);
    expect(await look(whole.subarray(188 * 40, 188 * (packets - 30)))).toBe('whole');
  });
});

describe('behind the end', () => {
  const TAG = Buffer.concat([Buffer.from('TAGtitle'), Buffer.alloc(120)]);
  const APE = Buffer.concat([Buffer.from('APETAGEX'), Buffer.alloc(900, 0x41)]);
  it.each<[ClipOptions['container'], string, Buffer]>([
    ...(['mp3', 'flac'] as const).flatMap((container): [typeof container, string, Buffer][] => [
      [container, 'a tag', TAG],
      [container, 'another tag', APE],
    ]),
    ...(['ts', 'mpg', 'wmv', 'mxf', 'ogg'] as const).map((container): [typeof container, string, Buffer] => [
      container,
      'zeros',
      Buffer.alloc(100),
    ]),
  ])('of a %s, %s are no reason to doubt it', async (container, _what, behind) => {
    const whole = await readFile(await clip({ seconds: 1, container }));
    expect(await look(Buffer.concat([whole, behind]))).toBe('whole');
  });
});

describe('probe', () => {
  it('measures what the header does not tell', async () => {
    const live = await clip({ container: 'webm', seconds: 2, options: ['-live', '1'] });
    const { duration, indexed, video } = await probe(tools, live);
    expect(indexed).toBe(false);
    expect(duration).toBeGreaterThanOrEqual(2000);
    expect(duration).toBeLessThan(2050);
    expect(video).toMatchObject({ frameRate: 25, frameCount: 50 });
  });

  it('measures a fragmented MP4 whole', async () => {
    const fragments = ['-g', '25', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'];
    const { duration } = await probe(tools, await clip({ seconds: 3, options: fragments }));
    expect(Math.abs(duration - 3050)).toBeLessThan(100);
  });

  it('does not take the cover of an MP3 for a picture', async () => {
    const sound = await clip({ container: 'mp3', seconds: 1 });
    const path = join(clipFolder(), 'with-cover.mp3');
    const cover = ['-f', 'lavfi', '-i', 'color=red:size=600x600:duration=1', '-frames:v', '1', '-c:v', 'mjpeg'];
    const attached = ['-map', '1:a', '-map', '0:v', '-c:a', 'copy', '-id3v2_version', '3', '-y', path];
    const [picture, encoded] = [cover.slice(0, 4), cover.slice(4)];
    const args = ['-v', 'error', ...picture, '-i', sound, ...encoded, '-pix_fmt', 'yuvj420p', ...attached];
    await runTool(tools.ffmpeg, args, LIMIT);
    const streams = [{ codec: 'mp3' }];
    expect(await probe(tools, path)).toMatchObject({ hasAudio: true, hasVideo: false, streams });
  });

  it('refuses a file that is right at its start only, with a reason that names no path', async () => {
    const whole = await readFile(await clip({ container: 'webm' }));
    const damaged = Buffer.concat([whole.subarray(0, 60), Buffer.alloc(500_000, 0x55)]);
    const failure = await probe(tools, await fileWith('damaged.webm', damaged)).catch((error) => error);
    expect(failure).toMatchObject({ permanent: true });
    expect(failure.message).toMatch(/damaged|neither sound nor/);
    expect(failure.message + failure.log).not.toContain(clipFolder());
  });

  it('refuses a header that nothing follows', async () => {
    const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x10', 'latin1'), Buffer.alloc(16)]);
    await expect(probe(tools, await fileWith('tag.mp3', tag))).rejects.toMatchObject({ permanent: true });
  });
});
