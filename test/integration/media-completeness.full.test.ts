import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { MediaFailure } from '../../src/media/failure.ts';
import { runTool } from '../../src/media/process.ts';
import { recognize } from '../../src/media/recording.ts';
import type { MediaTools } from '../../src/media/tools.ts';
import { type ClipOptions, clip, clipFolder, testTools } from '../support/clips.ts';

/** What is found in a file: certainly not whole, perhaps not, or nothing. */
type Found = 'incomplete' | 'doubtful' | 'whole';

let tools: MediaTools;
beforeAll(async () => {
  tools = await testTools();
});

async function look(bytes: Uint8Array): Promise<Found> {
  const path = join(clipFolder(), 'looked-at');
  await writeFile(path, bytes);
  try {
    const { warnings } = await recognize(path);
    for (const warning of warnings) expect(warning).toMatch(/^The file may be incomplete: .*\.$/);
    return warnings.length > 0 ? 'doubtful' : 'whole';
  } catch (error) {
    expect(error).toBeInstanceOf(MediaFailure);
    expect(error).toMatchObject({
      permanent: true,
      message: expect.stringMatching(/^The file is incomplete: /),
    });
    return 'incomplete';
  }
}

/** Cut off where no frame ends by chance. */
const cut = (whole: Uint8Array, fraction: number) =>
  whole.subarray(0, Math.floor(whole.length * fraction) | 1);

/** What such a recorder writes that cannot go back to what it has written, as of a live stream. */
async function streamed(source: string, options: string[]): Promise<Buffer> {
  const args = ['-v', 'error', '-i', source, ...options, 'pipe:1'];
  return (await runTool(tools.ffmpeg, args, { timeLimitMs: 60_000 })).output;
}

describe('a recording of which the end was cut off', () => {
  const SECONDS = { seconds: 1 };
  it.each<[ClipOptions['container'], ClipOptions, Found]>([
    ['mp4', {}, 'incomplete'],
    ['mov', {}, 'incomplete'],
    ['mkv', {}, 'incomplete'],
    ['webm', {}, 'incomplete'],
    ['avi', {}, 'incomplete'],
    ['flv', {}, 'incomplete'],
    ['wmv', {}, 'incomplete'],
    ['mxf', {}, 'incomplete'],
    ['wav', {}, 'incomplete'],
    ['aiff', {}, 'incomplete'],
    ['caf', {}, 'incomplete'],
    ['flac', {}, 'incomplete'],
    ['mp3', {}, 'incomplete'],
    // These say nothing of their length.
    ['ts', {}, 'doubtful'],
    ['mpg', {}, 'doubtful'],
    ['ogg', {}, 'doubtful'],
    ['aac', {}, 'doubtful'],
    ['ac3', {}, 'doubtful'],
    ['eac3', {}, 'doubtful'],
    ['dv', { video: { size: '720x576' }, seconds: 1 }, 'doubtful'],
  ])('a %s is whole, or found to be cut wherever that happened', async (container, options, found) => {
    const whole = await readFile(await clip({ ...SECONDS, ...options, container }));
    expect(await look(whole)).toBe('whole');
    expect([await look(cut(whole, 0.3)), await look(cut(whole, 0.7))]).toEqual([found, found]);
    // Of the last hundredth, the last frame may be all that is missed.
    expect(await look(cut(whole, 0.99))).not.toBe('whole');
  });
});

describe('a recording that was written as it was recorded', () => {
  const H264 = ['-c', 'copy'];
  const WEBM = ['-c:v', 'libvpx', '-c:a', 'libvorbis'];
  it.each<[string, string[], Found]>([
    ['FLV', [...H264, '-f', 'flv'], 'doubtful'],
    ['Matroska', [...H264, '-f', 'matroska'], 'doubtful'],
    ['WebM of a browser', [...WEBM, '-live', '1', '-f', 'webm'], 'doubtful'],
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
    const bytes = await streamed(await clip({ seconds: 3, container: 'mkv' }), options);
    expect(await look(bytes)).toBe('whole');
    expect(await look(cut(bytes, 0.6))).toBe(broken);
  });

  it('a recording of a broadcast may begin and end anywhere between two packets', async () => {
    const whole = await readFile(await clip({ seconds: 3, container: 'ts' }));
    const packets = Math.floor(whole.length / 188);
    expect(await look(whole.subarray(188 * 40, 188 * (packets - 30)))).toBe('whole');
  });
});

describe('what programs leave behind the end', () => {
  const TAG = Buffer.concat([Buffer.from('TAGtitle'), Buffer.alloc(120)]);
  const APE = Buffer.concat([Buffer.from('APETAGEX'), Buffer.alloc(900, 0x41)]);
  it.each<[ClipOptions['container'], string, Buffer]>([
    ['mp3', 'a tag', TAG],
    ['mp3', 'another tag', APE],
    ['flac', 'a tag', TAG],
    ['flac', 'another tag', APE],
    ['ts', 'zeros', Buffer.alloc(100)],
    ['mpg', 'zeros', Buffer.alloc(100)],
    ['wmv', 'zeros', Buffer.alloc(100)],
    ['mxf', 'zeros', Buffer.alloc(100)],
    ['ogg', 'zeros', Buffer.alloc(100)],
  ])('is no reason to doubt a %s: %s', async (container, _what, behind) => {
    const whole = await readFile(await clip({ seconds: 1, container }));
    expect(await look(Buffer.concat([whole, behind]))).toBe('whole');
  });
});
