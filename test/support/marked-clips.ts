import { join } from 'node:path';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clipFolder, testTools } from './clips.ts';

const LIMIT = { timeLimitMs: 60_000 };
const RATE = 48_000;
/** Samples per reading of loudness: a millisecond. */
const READING = 48;
/** Where a picture is bright tells its bits: so many, from left to right. */
const BITS = 9;
const CELL = 32;
/** Each second is so much quieter than the next one; codecs miss the loudness by a tenth. */
const STEP = 0.6;

export interface MarkedClip {
  name: string;
  rate?: number;
  seconds: number;
  video?: string[] | false;
  audio?: string[] | false;
  /** An expression of ffmpeg's `select` that says which pictures there are. */
  only?: string;
  /** Options of the output as a whole. */
  options?: string[];
}

/**
 * Makes a recording in which everything says where it belongs: each picture shows its number, and each second has a
 * loudness of its own, louder and louder, ten in all.
 */
export async function markedClip(clip: MarkedClip): Promise<string> {
  const { name, rate = 25, seconds, video = ['-c:v', 'libx264'], audio = ['-c:a', 'aac'] } = clip;
  const path = join(clipFolder(), name);
  const bits = `255*mod(floor(N/pow(2,floor(X/${CELL}))),2)`;
  const size = `${(BITS + 1) * CELL}x64`;
  const only = clip.only ? `,select='${clip.only}'` : '';
  const pictures = `color=black:size=${size}:rate=${rate}:duration=${seconds},format=yuv420p,geq=lum='${bits}':cb=128:cr=128${only}`;
  const loudness = `pow(${STEP},9-mod(floor(t),10))`;
  const sound = `aevalsrc=exprs='${loudness}*sin(2*PI*2000*t)':sample_rate=${RATE}:duration=${seconds}`;
  const sources = [video && pictures, audio && sound].filter((source) => source !== false);
  const graph = sources.map((source, i) => `${source}[out${i}]`).join(';');
  const codecs = [...(video ? [...video, '-pix_fmt', 'yuv420p', '-vsync', 'vfr'] : []), ...(audio ? audio : [])];
  const maps = sources.flatMap((_, i) => ['-map', `0:${i}`]);
  const args = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', graph, ...maps, ...codecs, '-strict', '-2'];
  await runTool((await testTools()).ffmpeg, [...args, ...(clip.options ?? []), '-y', path], LIMIT);
  return path;
}

/** Reads an MP4 as players of streams do. */
export const WITHOUT_EDIT_LIST = ['-ignore_editlist', '1'];

/** The numbers of the pictures of a marked recording and when they are shown, in seconds. */
export async function markedPictures(
  path: string,
  input: readonly string[] = [],
): Promise<{ number: number; time: number }[]> {
  const { ffmpeg, ffprobe } = await testTools();
  const show = ['-select_streams', 'v:0', '-show_entries', 'frame=pkt_pts_time,pts_time', '-of', 'csv=p=0'];
  const times = (await runTool(ffprobe, ['-v', 'error', ...input, ...show, path], LIMIT)).output
    .toString()
    .split('\n')
    .map((line) => Number.parseFloat(line))
    .filter((time) => !Number.isNaN(time));
  const cells = ['-vf', `scale=${BITS + 1}:1:flags=area,format=gray`, '-vsync', '0', '-f', 'rawvideo'];
  const decode = ['-v', 'error', ...input, '-i', path, '-map', '0:v:0', ...cells, 'pipe:1'];
  const { output } = await runTool(ffmpeg, decode, LIMIT);
  return Array.from({ length: output.length / (BITS + 1) }, (_, i) => {
    const row = output.subarray(i * (BITS + 1), (i + 1) * (BITS + 1));
    const number = Array.from({ length: BITS }, (_bit, bit) => ((row[bit] ?? 0) > 127 ? 2 ** bit : 0));
    return { number: number.reduce((sum, bit) => sum + bit, 0), time: times[i] ?? Number.NaN };
  });
}

/** Which second of a marked recording is heard, in stretches of the result: `from` and `to` in seconds, of which codecs blur some. */
export async function markedSound(
  path: string,
  input: readonly string[] = [],
): Promise<{ second: number; from: number; to: number }[]> {
  const raw = ['-map', '0:a:0', '-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(RATE)];
  // A file may begin with a packet before time 0, by which the times of all streams would be shifted.
  const decode = ['-v', 'error', '-copyts', ...input, '-i', path, ...raw, '-f', 's16le', 'pipe:1'];
  const { output } = await runTool((await testTools()).ffmpeg, decode, LIMIT);
  const stretches: { second: number; from: number; to: number }[] = [];
  const readings = Math.floor(output.length / 2 / READING);
  for (let i = 0; i < readings; i++) {
    let peak = 0;
    for (let at = i * READING; at < (i + 1) * READING; at++) {
      peak = Math.max(peak, Math.abs(output.readInt16LE(at * 2)));
    }
    const second = 9 - Math.round(Math.log(peak / 32_768) / Math.log(STEP));
    const before = stretches.at(-1);
    if (before?.second === second) before.to = (i + 1) / 1000;
    else stretches.push({ second, from: i / 1000, to: (i + 1) / 1000 });
  }
  // Codecs smear what changes abruptly.
  const joined: typeof stretches = [];
  for (const stretch of stretches.filter(({ from, to }) => to - from > 0.03)) {
    const before = joined.at(-1);
    if (before?.second === stretch.second) before.to = stretch.to;
    else joined.push(stretch);
  }
  return joined;
}
