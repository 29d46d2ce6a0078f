import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locateTools, type MediaTools } from '#platform/media/tools/locate-tools.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';

/** What a clip is to hold; the defaults make an MP4 of two seconds that browsers play as it is. */
export interface ClipOptions {
  seconds?: number;
  /** Repeats the clip so many times without encoding it again, which is fast. */
  times?: number;
  /** `size` as "320x240"; `options` are ffmpeg's for the output, such as `-pix_fmt`. */
  video?: { size?: string; rate?: number; codec?: string; filter?: string; options?: string[] } | false;
  audio?: { channels?: number; rate?: number; codec?: string; options?: string[] } | boolean;
  container?: Container;
  /** Options of the output as a whole, such as `-movflags`. */
  options?: string[];
}

export type Container = keyof typeof CODECS;

const H264_AND_AAC = ['libx264', 'aac'] as const;

/** The usual encoders of each container. */
const CODECS = {
  ...{ mp4: H264_AND_AAC, m4a: H264_AND_AAC, mov: H264_AND_AAC, mkv: H264_AND_AAC },
  ...{ flv: H264_AND_AAC, ts: H264_AND_AAC, '3gp': H264_AND_AAC },
  webm: ['libvpx', 'libvorbis'],
  avi: ['mpeg4', 'libmp3lame'],
  mpg: ['mpeg2video', 'mp2'],
  wmv: ['wmv2', 'wmav2'],
  mxf: ['mpeg2video', 'pcm_s16le'],
  dv: ['dvvideo', 'pcm_s16le'],
  ogg: ['libtheora', 'libvorbis'],
  wav: ['', 'pcm_s16le'],
  aiff: ['', 'pcm_s16be'],
  caf: ['', 'pcm_s16le'],
  flac: ['', 'flac'],
  mp3: ['', 'libmp3lame'],
  aac: ['', 'aac'],
  ac3: ['', 'ac3'],
  eac3: ['', 'eac3'],
} as const;

const FORMATS: Partial<Record<Container, string>> = {
  mkv: 'matroska',
  ts: 'mpegts',
  mpg: 'mpeg',
  aac: 'adts',
  wmv: 'asf',
};

let folder: string | undefined;
let located: Promise<MediaTools> | undefined;
const clips = new Map<string, Promise<string>>();

/** A second of AMR (RFC 4867), which few builds of ffmpeg can write though all of them read it. */
export const AMR_TONE = fileURLToPath(new URL('./tone.amr', import.meta.url));

/** The tools that tests run, found once. */
export function testTools(): Promise<MediaTools> {
  located ??= locateTools({ ffmpegPath: process.env.FFMPEG_PATH, ffprobePath: process.env.FFPROBE_PATH });
  return located;
}

/** A folder for what a test makes of clips; removed when the run of the tests or the process ends. */
export function clipFolder(): string {
  folder ??= mkdtempSync(join(process.env.TEST_CLIPS ?? tmpdir(), 'inlet-clips-'));
  return folder;
}

// Benchmarks run without vitest, whose processes are killed rather than ended.
process.on('exit', () => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/**
 * The path of a real recording with a moving test picture and a tone; made once per run for the same options, so nobody
 * may change it.
 */
export function clip(options: ClipOptions = {}): Promise<string> {
  const id = createHash('sha256').update(JSON.stringify(options)).digest('hex').slice(0, 12);
  const name = `${id}.${options.container ?? 'mp4'}`;
  const made = clips.get(id) ?? sharedClip(options, name);
  clips.set(id, made);
  return made;
}

async function sharedClip(options: ClipOptions, name: string): Promise<string> {
  const path = join(process.env.TEST_CLIPS ?? clipFolder(), name);
  if (existsSync(path)) return path;
  const unfinished = join(clipFolder(), name);
  await makeClip(options, unfinished);
  // At once; when two processes made it, either is as good.
  await rename(unfinished, path);
  return path;
}

async function makeClip({ times, ...options }: ClipOptions, path: string): Promise<void> {
  if (times !== undefined) return repeatClip(await clip(options), times, options, path);
  const { seconds = 2, container = 'mp4' } = options;
  const [videoCodec, audioCodec] = CODECS[container];
  const video = options.video === false || videoCodec === '' ? undefined : (options.video ?? {});
  const audio = options.audio === false ? undefined : options.audio === true ? {} : (options.audio ?? {});
  const sources: string[] = [];
  const output: string[] = [];
  if (video) {
    const { size = '320x240', rate = 25, filter } = video;
    const source = [`testsrc2=size=${size}:rate=${rate}:duration=${seconds}`, filter].filter(Boolean).join(',');
    sources.push(`${source}[out0]`);
    output.push('-c:v', video.codec ?? videoCodec, '-pix_fmt', 'yuv420p', ...(video.options ?? []));
  }
  if (audio) {
    const { channels = 2, rate = 48_000 } = audio;
    const copies = Array.from({ length: channels }, (_, i) => `c${i}=c0`).join('|');
    const tone = `sine=frequency=440:sample_rate=${rate}:duration=${seconds}`;
    sources.push(`${tone},pan=${channels}c|${copies}[out${sources.length}]`);
    output.push('-c:a', audio.codec ?? audioCodec, '-ac', String(channels), ...(audio.options ?? []));
  }
  const input = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', sources.join(';')];
  const maps = sources.flatMap((_, i) => ['-map', `0:${i}`]);
  await writeClip([...input, ...maps, ...output], options, path);
}

async function repeatClip(once: string, times: number, options: ClipOptions, path: string): Promise<void> {
  const input = ['-nostdin', '-v', 'error', '-stream_loop', String(times - 1), '-i', once];
  await writeClip([...input, '-c', 'copy'], options, path);
}

async function writeClip(args: string[], { container = 'mp4', options = [] }: ClipOptions, path: string) {
  const format = FORMATS[container] ? ['-f', FORMATS[container]] : [];
  const all = [...args, '-strict', '-2', ...options, ...format, '-y', path];
  await runTool((await testTools()).ffmpeg, all, { timeLimitMs: 600_000 });
}

/** The bytes of such a recording. */
export async function recording(options: ClipOptions = {}): Promise<Buffer> {
  return readFile(await clip(options));
}
