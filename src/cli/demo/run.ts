import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '#platform/config/config.ts';
import { locateTools, type MediaTools } from '#platform/media/tools/locate-tools.ts';
import { eventLine, eventSummary, followEvent } from '../client/follow.ts';
import { presentationOf, readableFile, sendRecording, type TrackFile } from '../client/send.ts';
import { localServer } from '../client/server.ts';
import { CommandError } from '../failure.ts';
import type { Interrupts } from '../terminal/interrupts.ts';
import { showProgress } from '../terminal/progress.ts';
import type { DemoOptions } from './arguments.ts';
import { requireFreePort, startServer } from './server-process.ts';

interface Recording {
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
async function makeClip(folder: string, { output, signal, tools }: Sending): Promise<Recording> {
  output.write(`Generating a recording of ${CLIP_SECONDS} s with two tracks, presenter and presentation ...\n`);
  const tracks = [
    await makeTrack('presenter', PRESENTER, join(folder, 'presenter.mp4')),
    await makeTrack('presentation', PRESENTATION, join(folder, 'presentation.mkv')),
  ];
  return { title: 'Demo lecture', tracks };

  async function makeTrack(field: TrackFile['field'], options: string[], path: string) {
    await run(tools.ffmpeg, [...options, '-t', String(CLIP_SECONDS), path], signal);
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
function dashboardHint(config: Config, chosenPassword: boolean): string {
  const password = chosenPassword ? 'the password of ADMIN_PASSWORD' : `password ${config.admin.password}`;
  return `Dashboard  ${config.publicUrl}/admin/queues (account ${config.admin.username}, ${password})`;
}

interface DemoSetup {
  config: Config;
  /** True if the environment sets the administrator's password. */
  chosenPassword: boolean;
  launcher: string;
  interrupts: Interrupts;
  output: NodeJS.WriteStream;
}

type Sending = DemoSetup & { tools: MediaTools; signal: AbortSignal };

/**
 * Runs the demo.
 *
 * @returns true if every recording was published
 * @throws {CommandError}
 */
export async function runDemo(options: DemoOptions, setup: DemoSetup): Promise<boolean> {
  const { config, interrupts, output } = setup;
  const tools = await locateTools(config);
  const files = await recordingsOf(options.files, tools);
  await requireFreePort(config);
  output.write('Starting the server; the first start takes a few seconds longer ...\n');
  const server = await startServer(config, { ...setup, ...options, url: localServer(config).url });
  try {
    output.write(`Serving at ${config.publicUrl} (log: ${relative(process.cwd(), server.log)})\n`);
    const signal = AbortSignal.any([interrupts.stop, server.exited]);
    const success = await sendAll(files, { ...setup, tools, signal });
    if (options.exit) return success;
    output.write('\nServing until Ctrl-C.\n');
    if (!signal.aborted) await once(signal, 'abort');
    if (server.exited.aborted) throw server.exited.reason;
    return success;
  } catch (error) {
    // If the server has exited, its reason explains failed requests.
    throw server.exited.aborted && !interrupts.stop.aborted ? server.exited.reason : error;
  } finally {
    if (!server.exited.aborted) output.write('Stopping the server. Press Ctrl-C again to stop it immediately ...\n');
    await server.stop();
  }
}

async function sendAll(files: Recording[], sending: Sending): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-demo-'));
  try {
    const recordings = files.length > 0 ? files : [await makeClip(folder, sending)];
    let success = true;
    for (const recording of recordings) success = (await send(recording, sending)) && success;
    sending.output.write(`\n${dashboardHint(sending.config, sending.chosenPassword)}\n`);
    return success;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns true if the recording was published */
async function send(recording: Recording, { config, output, signal }: Sending): Promise<boolean> {
  const server = localServer(config);
  output.write(`\n${recording.title} (${recording.tracks.map(({ field }) => field).join(', ')})\n`);
  const event = {
    title: recording.title,
    description: 'Sent by npm run demo',
    workflow: 'schedule-and-upload',
    // Anyone with the URL may watch.
    read: ['ROLE_ANONYMOUS'],
  };
  const sending = { signal, screen: output, label: 'Upload' };
  const identifier = await sendRecording(server, event, recording.tracks, sending);
  output.write(`${eventLine(identifier)}\n`);
  const processing = showProgress('Processing', output);
  const processed = await followEvent(
    server,
    identifier,
    ({ fraction, note }) => processing.update(fraction, note),
    signal,
  ).finally(processing.stop);
  output.write(`${eventSummary(processed).join('\n')}\n`);
  return processed.state === 'SUCCEEDED';
}
