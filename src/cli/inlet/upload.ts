import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { EventGone, eventLine, eventSummary, showProcessing } from '../client/follow.ts';
import {
  type NewEvent,
  presentationOf,
  sendRecording,
  suggestRepeating,
  type TrackFile,
  trackOf,
} from '../client/send.ts';
import { type Command, parseArguments, SERVER_OPTIONS, SERVER_USAGE, selectServer, UsageError } from '../command.ts';
import { callersFolder } from '../terminal/callers-folder.ts';

/** Returns a private folder for the state of unfinished commands. */
async function folderOf(environment: NodeJS.ProcessEnv, ...below: string[]): Promise<string> {
  const state = environment.XDG_STATE_HOME || join(homedir(), '.local/state');
  const folder = join(state, 'inlet', ...below);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Returns the file with the URLs of unfinished uploads. */
async function rememberedUploads(environment: NodeJS.ProcessEnv): Promise<string> {
  return join(await folderOf(environment), 'uploads.json');
}

/** The event of a recording that an interrupted command has sent. */
interface RememberedEvent {
  /** Undefined if the recording was not sent yet. */
  identifier: string | undefined;
  remember(identifier: string): Promise<void>;
  forget(): Promise<void>;
}

/**
 * Reads the stored event of a recording, which outlives the server's record of the upload and of the request.
 *
 * @param recording a JSON value that identifies the recording
 */
async function rememberedEvent(environment: NodeJS.ProcessEnv, recording: unknown): Promise<RememberedEvent> {
  const name = createHash('sha256').update(JSON.stringify(recording)).digest('hex');
  const path = join(await folderOf(environment, 'events'), name);
  const identifier = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return {
    identifier: identifier || undefined,
    remember: (made) => writeFile(path, made, { mode: 0o600 }),
    forget: () => rm(path, { force: true }),
  };
}

const USAGE = `npm run inlet -- upload FILE... [--title TEXT] [--together] [--series ID] [--workflow NAME] [--read ROLE]...

Uploads recordings and shows their processing. Each file becomes an event. Exits with 0 only if all events are SUCCEEDED.
Waits for a server that is away. To continue after an interruption, run the same command again.

  --together     one event from two files: the first is the presenter, the second the presentation
  --title TEXT   the title; by default the name of the file
  --series ID    the series
  --workflow NAME  the workflow; by default schedule-and-upload
  --read ROLE    a role that may read the event, such as ROLE_ANONYMOUS; repeatable; by default as in the series
  --no-wait      do not wait for the processing
${SERVER_USAGE}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  title: { type: 'string' },
  together: { type: 'boolean' },
  series: { type: 'string' },
  workflow: { type: 'string' },
  read: { type: 'string', multiple: true },
  'no-wait': { type: 'boolean' },
} as const;

export const uploadCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = parseArguments(args, OPTIONS);
    if (positionals.length === 0) throw new UsageError('FILE is missing.');
    const server = selectServer(values, environment);
    const files = await Promise.all(positionals.map((name) => trackOf(callersFolder(environment), name)));
    if (values.together && files.length > 2) throw new UsageError('--together allows two files.');
    const [first, second] = files;
    const recordings: [TrackFile, ...TrackFile[]][] =
      values.together && first && second ? [[first, presentationOf(second)]] : files.map((file) => [file]);
    let exitCode = 0;
    const sent: RememberedEvent[] = [];
    for (const recording of recordings) {
      const event: NewEvent = {
        title: values.title ?? basename(recording[0].path, extname(recording[0].path)),
        series: values.series,
        workflow: values.workflow ?? 'schedule-and-upload',
        read: values.read ?? [],
      };
      const remembered = await rememberedEvent(environment, {
        ...{ server: server.url, user: values.user, event },
        files: await Promise.all(recording.map(versionOf)),
      });
      sent.push(remembered);
      const identifier =
        remembered.identifier ??
        (await sendRecording(server, event, recording, {
          ...{ signal, screen, label: 'upload', remember: remembered.remember },
          urlsFile: await rememberedUploads(environment),
        }));
      if (values['no-wait']) {
        print(identifier);
        continue;
      }
      print(eventLine(identifier));
      const following = { signal, screen, label: 'processing' };
      const processed = await showProcessing(server, identifier, following).catch(async (error) => {
        if (error instanceof EventGone) await remembered.forget();
        return suggestRepeating(error);
      });
      for (const line of eventSummary(processed)) print(line);
      if (processed.state !== 'SUCCEEDED') exitCode = 1;
    }
    // Only now: a command that is interrupted at a later recording does not send earlier ones again.
    for (const { forget } of sent) await forget();
    return exitCode;
  },
};

/** Identifies a file and, by its time, its contents. */
async function versionOf({ path, field: part, size }: TrackFile) {
  return { path, part, size, changed: (await stat(path)).mtimeMs };
}
