import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Config, loadConfig } from '#platform/config/config.ts';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { eventLine, eventSummary, showProcessing } from '../client/follow.ts';
import { presentationOf, sendRecording, type TrackFile, trackOf } from '../client/send.ts';
import { localServer, type Server } from '../client/server.ts';
import { CommandError } from '../failure.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import type { Interrupts } from '../terminal/interrupts.ts';
import type { DemoOptions } from './arguments.ts';
import { requireFreePort, startServer } from './server-process.ts';

const output = process.stdout;

interface Recording {
  title: string;
  tracks: TrackFile[];
}

/** Makes one event of two files, and one each of three or more. @throws {CommandError} for a file that cannot be read */
export async function recordingsOf(folder: string, files: readonly string[]): Promise<Recording[]> {
  const [first, second, ...others] = await Promise.all(files.map((file) => trackOf(folder, file)));
  if (!first) return [];
  if (!second) return [recording([first])];
  if (others.length > 0) return [first, second, ...others].map((track) => recording([track]));
  return [recording([first, presentationOf(second)])];
}

function recording(tracks: [TrackFile, ...TrackFile[]]): Recording {
  const { path } = tracks[0];
  return { title: basename(path, extname(path)), tracks };
}

const CLIP_SECONDS = 20;
const SIZE_AND_RATE = 'size=1280x720:rate=25';

/** A camera's recording, which browsers can play unchanged. */
const PRESENTER = [
  ...['-f', 'lavfi', '-i', `testsrc2=${SIZE_AND_RATE}`, '-f', 'lavfi', '-i', 'sine=frequency=330:beep_factor=4'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50'],
  ...['-c:a', 'aac', '-b:a', '128k'],
];

/** A recording in a codec that no browser plays, so that it must be encoded. */
const PRESENTATION = [
  ...['-f', 'lavfi', '-i', `testsrc=${SIZE_AND_RATE}`, '-f', 'lavfi', '-i', 'sine=frequency=220'],
  ...['-c:v', 'mpeg4', '-q:v', '4', '-c:a', 'aac', '-b:a', '96k'],
];

/** Generates a lecture with two tracks in the folder. @throws {CommandError} */
async function makeClip(folder: string, ffmpeg: string, signal: AbortSignal): Promise<Recording> {
  output.write(`Generating a recording of ${CLIP_SECONDS} s with two tracks, presenter and presentation ...\n`);
  const tracks = [
    await makeTrack('presenter', PRESENTER, join(folder, 'presenter.mp4')),
    await makeTrack('presentation', PRESENTATION, join(folder, 'presentation.mkv')),
  ];
  return { title: 'Demo lecture', tracks };

  async function makeTrack(field: TrackFile['field'], options: string[], path: string) {
    await run(ffmpeg, [...options, '-t', String(CLIP_SECONDS), path], signal);
    return { field, path, size: (await stat(path)).size };
  }
}

async function run(ffmpeg: string, options: string[], signal: AbortSignal): Promise<void> {
  const args = ['-v', 'error', '-nostdin', '-y', ...options];
  await promisify(execFile)(ffmpeg, args, { signal, killSignal: 'SIGKILL' }).catch((error) => {
    if (signal.aborted) throw error;
    throw new CommandError(`ffmpeg could not generate a recording: ${error.stderr?.trim() || error.message}`);
  });
}

/** Returns the URL of the dashboard and the account. Shows only the default password. */
function dashboardHint({ publicUrl, admin }: Config): string {
  const password = process.env.ADMIN_PASSWORD ? 'the password of ADMIN_PASSWORD' : `password ${admin.password}`;
  return `Dashboard  ${publicUrl}/admin/queues (account ${admin.username}, ${password})`;
}

/**
 * Runs the demo.
 *
 * @returns the exit code, 0 if every recording was published
 * @throws {CommandError}
 */
export async function runDemo({ files, exit, runtime }: DemoOptions, interrupts: Interrupts): Promise<number> {
  const config = loadConfig(process.env);
  const { ffmpeg } = await locateTools(config);
  const given = await recordingsOf(callersFolder(process.env), files);
  await requireFreePort(config);
  output.write('Starting the server; the first start takes a few seconds longer ...\n');
  const server = await startServer(config, runtime, interrupts);
  try {
    output.write(`Serving at ${config.publicUrl} (log: ${relative(process.cwd(), server.log)})\n`);
    const signal = AbortSignal.any([interrupts.stop, server.exited]);
    const success = await sendAll(given, config, ffmpeg, signal);
    output.write(`\n${dashboardHint(config)}\n`);
    if (!exit) {
      output.write('\nServing until Ctrl-C.\n');
      if (!signal.aborted) await once(signal, 'abort');
      if (server.exited.aborted) throw server.exited.reason;
    }
    return success ? 0 : 1;
  } catch (error) {
    // If the server has exited, its reason explains failed requests.
    throw server.exited.aborted && !interrupts.stop.aborted ? server.exited.reason : error;
  } finally {
    if (!server.exited.aborted) output.write('Stopping the server. Press Ctrl-C again to stop it immediately ...\n');
    await server.stop();
  }
}

async function sendAll(
  given: readonly Recording[],
  config: Config,
  ffmpeg: string,
  signal: AbortSignal,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-demo-'));
  try {
    const recordings = given.length > 0 ? given : [await makeClip(folder, ffmpeg, signal)];
    let success = true;
    for (const recording of recordings) success = (await send(recording, localServer(config), signal)) && success;
    return success;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns true if the recording was published */
async function send({ title, tracks }: Recording, server: Server, signal: AbortSignal): Promise<boolean> {
  output.write(`\n${title} (${tracks.map(({ field }) => field).join(', ')})\n`);
  const event = {
    title,
    description: 'Sent by npm run demo',
    workflow: 'schedule-and-upload',
    // Everyone may watch.
    read: ['ROLE_ANONYMOUS'],
  };
  const identifier = await sendRecording(server, event, tracks, { signal, screen: output, label: 'Upload' });
  output.write(`${eventLine(identifier)}\n`);
  const processed = await showProcessing(server, identifier, { signal, screen: output, label: 'Processing' });
  output.write(`${eventSummary(processed).join('\n')}\n`);
  return processed.state === 'SUCCEEDED';
}
