import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaTools } from '#platform/media/tools/tools.ts';
import type { TrackFile } from '../client/new-event.ts';
import { CommandError } from '../failure.ts';
import type { Recording } from './recordings.ts';

export const CLIP_SECONDS = 20;
const SIZE_AND_RATE = 'size=1280x720:rate=25';

/** Picture and sound as a camera delivers them: playable in a browser as it is. */
const PRESENTER = [
  ...[
    '-f',
    'lavfi',
    '-i',
    `testsrc2=${SIZE_AND_RATE}`,
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=330:beep_factor=4',
  ],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50'],
  ...['-c:a', 'aac', '-b:a', '128k'],
];

/** Another picture, in a codec that no browser plays, so that there is something to encode. */
const PRESENTATION = [
  ...['-f', 'lavfi', '-i', `testsrc=${SIZE_AND_RATE}`, '-f', 'lavfi', '-i', 'sine=frequency=220'],
  ...['-c:v', 'mpeg4', '-q:v', '4', '-c:a', 'aac', '-b:a', '96k'],
];

/** Makes a lecture of two tracks in the folder. @throws {CommandError} */
export async function makeClip(tools: MediaTools, folder: string, signal: AbortSignal): Promise<Recording> {
  const tracks = [
    await makeTrack('presenter', PRESENTER, join(folder, 'presenter.mp4')),
    await makeTrack('presentation', PRESENTATION, join(folder, 'presentation.mkv')),
  ];
  return { title: 'Demo lecture', tracks };

  async function makeTrack(part: TrackFile['part'], options: string[], path: string) {
    await run(tools.ffmpeg, [...options, '-t', String(CLIP_SECONDS), path], signal);
    return { part, path, size: (await stat(path)).size };
  }
}

function run(ffmpeg: string, options: string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(ffmpeg, ['-v', 'error', '-nostdin', '-y', ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let complaints = '';
    child.stderr.on('data', (data: Buffer) => {
      complaints = (complaints + data).slice(-2_000);
    });
    const fail = (reason: string) => reject(new CommandError(`ffmpeg could not make a recording: ${reason}`));
    child.on('error', (error) => (signal.aborted ? reject(error) : fail(error.message)));
    child.on('close', (code) => (code === 0 ? resolve() : fail(complaints.trim() || `exit code ${code}`)));
  });
}
