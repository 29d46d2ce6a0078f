import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { MediaTools } from '#platform/media/tools/tools.ts';
import type { TrackFile } from '../client/new-event.ts';
import { CommandError } from '../failure.ts';

/** What becomes one event. */
export interface Recording {
  title: string;
  tracks: TrackFile[];
}

/** A pair is one event, three or more files are one event each. @throws {CommandError} for a file that cannot be sent */
export async function recordingsOf(files: readonly string[], tools: MediaTools): Promise<Recording[]> {
  const [first, second, ...others] = await Promise.all(files.map((file) => trackOf(file, tools)));
  if (!first) return [];
  if (!second) return [recording([first])];
  if (others.length > 0) return [first, second, ...others].map((track) => recording([track]));
  const presentation = second.part === 'audio' ? second : { ...second, part: 'presentation' as const };
  return [recording([first, presentation])];
}

function recording(tracks: [TrackFile, ...TrackFile[]]): Recording {
  const { path } = tracks[0];
  return { title: basename(path, extname(path)), tracks };
}

async function trackOf(file: string, tools: MediaTools): Promise<TrackFile> {
  const path = resolve(file);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      error.code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}`,
    );
  });
  if (!found.isFile()) throw new CommandError(`${file} is not a file.`);
  return { part: (await hasPicture(path, tools)) ? 'presenter' : 'audio', path, size: found.size };
}

/** True also for what is no media file at all: the server is to say so. */
async function hasPicture(path: string, tools: MediaTools): Promise<boolean> {
  const options = ['-v', 'error', '-show_entries', 'stream=codec_type', '-of', 'csv=p=0'];
  try {
    const { stdout } = await promisify(execFile)(tools.ffprobe, [...options, `file:${path}`]);
    return stdout.includes('video') || !stdout.includes('audio');
  } catch {
    return true;
  }
}
