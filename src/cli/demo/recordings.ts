import { execFile } from 'node:child_process';
import { basename, extname } from 'node:path';
import { promisify } from 'node:util';
import type { MediaTools } from '#platform/media/tools/tools.ts';
import { presentationOf, readableFile, type TrackFile } from '../client/send.ts';

/** The files of one event. */
export interface Recording {
  title: string;
  tracks: TrackFile[];
}

/** Makes one event of two files, and one each of three or more. @throws {CommandError} for a file that cannot be read */
export async function recordingsOf(files: readonly string[], tools: MediaTools): Promise<Recording[]> {
  const [first, second, ...others] = await Promise.all(files.map((file) => trackOf(file, tools)));
  if (!first) return [];
  if (!second) return [recording([first])];
  if (others.length > 0) return [first, second, ...others].map((track) => recording([track]));
  return [recording([first, presentationOf(second)])];
}

function recording(tracks: [TrackFile, ...TrackFile[]]): Recording {
  const { path } = tracks[0];
  return { title: basename(path, extname(path)), tracks };
}

async function trackOf(name: string, tools: MediaTools): Promise<TrackFile> {
  const file = await readableFile('', name);
  return { ...file, field: (await hasVideo(file.path, tools)) ? 'presenter' : 'audio' };
}

/** Also true for files without media, which the server refuses with a reason. */
async function hasVideo(path: string, tools: MediaTools): Promise<boolean> {
  const options = ['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0'];
  try {
    const { stdout } = await promisify(execFile)(tools.ffprobe, [...options, `file:${path}`]);
    return stdout.includes('video') || !stdout.includes('audio');
  } catch {
    return true;
  }
}
