import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Segment } from '#platform/media/fragment-index.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clipFolder, testTools } from './clips.ts';

const LIMIT = { timeLimitMs: 60_000 };

/** What ffprobe shows of a file, a line each, as text separated by commas. */
async function shown(path: string, ...entries: string[]): Promise<string[]> {
  const args = ['-v', 'error', ...entries, '-of', 'csv=p=0', path];
  return (await runTool((await testTools()).ffprobe, args, LIMIT)).output.toString().trim().split('\n');
}

/** MD5 of every packet of one stream, as stored. */
export async function packetHashes(path: string, stream: string): Promise<string[]> {
  const args = ['-v', 'error', '-i', path, '-map', `0:${stream}`, '-c', 'copy', '-f', 'framemd5', 'pipe:1'];
  const { output } = await runTool((await testTools()).ffmpeg, args, LIMIT);
  const lines = output.toString().split('\n');
  return lines.filter((line) => /^0,/.test(line)).map((line) => line.split(',')[5]?.trim() ?? '');
}

/** When the pictures of a file are shown, in seconds. */
export async function pictureTimes(path: string): Promise<number[]> {
  const lines = await shown(path, '-select_streams', 'v:0', '-show_entries', 'packet=pts_time');
  const times = lines.map(Number.parseFloat).filter((time) => !Number.isNaN(time));
  return times.sort((a, b) => a - b);
}

/** How long the pictures and the sound of a file last, in seconds. */
export async function streamDurations(path: string): Promise<{ video?: number; audio?: number }> {
  const rows = await shown(path, '-show_entries', 'stream=codec_type,duration');
  return Object.fromEntries(rows.map((row) => row.split(',')).map(([type, seconds]) => [type, Number(seconds)]));
}

/** Two pictures in 4K, half a megabyte, that no browser plays; repeated at 25 a second they would be 900,000. */
export async function tenHoursApart(container: 'mkv' | 'mp4'): Promise<string> {
  const path = join(clipFolder(), `ten-hours-apart.${container}`);
  const source = 'testsrc2=size=3840x2160:rate=25:duration=0.08,setpts=N*36000/TB';
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv444p', '-vsync', 'vfr'];
  const args = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', source, ...codec, '-y', path];
  await runTool((await testTools()).ffmpeg, args, LIMIT);
  return path;
}

/** What a decoder has to say about a file from beginning to end; nothing when it is sound. */
export async function decodingErrors(path: string): Promise<string> {
  const args = ['-v', 'error', '-i', path, '-f', 'null', '-'];
  return (await runTool((await testTools()).ffmpeg, args, LIMIT)).log;
}

/** When the first picture of each segment is decoded, in seconds: where players of streams take the segment to belong. */
export async function decodingTimes(path: string, segments: readonly Segment[]): Promise<number[]> {
  const file = await readFile(path);
  // The pictures are the first track; `mdhd` has its time scale.
  const mdhd = file.indexOf('mdhd');
  const scale = file.readUInt32BE(mdhd + (file[mdhd + 4] ? 24 : 16));
  return segments.map(({ offset }) => {
    const tfdt = file.indexOf('tfdt', offset);
    return (file[tfdt + 4] ? Number(file.readBigUInt64BE(tfdt + 8)) : file.readUInt32BE(tfdt + 8)) / scale;
  });
}

/** The names of an MP4's outermost parts in order. */
export async function boxes(path: string): Promise<string[]> {
  const file = await readFile(path);
  const names: string[] = [];
  for (let at = 0; at < file.length; at += Math.max(8, file.readUInt32BE(at)))
    names.push(file.toString('latin1', at + 4, at + 8));
  return names;
}

/** Writes a copy of an MP4 or MOV whose picture is to be shown turned by a quarter, as phones record it. */
export async function turnSideways(source: string, target: string): Promise<string> {
  const bytes = await readFile(source);
  // The matrix of the first track, which is the picture.
  const matrix = bytes.indexOf('tkhd') + 44;
  for (const [i, value] of [0, 0x10000, 0, -0x10000, 0, 0].entries()) bytes.writeInt32BE(value, matrix + i * 4);
  await writeFile(target, bytes);
  return target;
}

/** Numbers of running processes whose command line holds the text; Linux only. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && commandLine(pid).includes(text));
}

/** Empty for processes that have ended. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
