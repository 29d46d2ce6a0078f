import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { formatBytes } from '#platform/text/units.ts';
import { EventGone, eventLine, eventSummary, followEvent, type ProcessedEvent } from '../client/follow.ts';
import { fieldsOf, type NewEvent, type TrackFile } from '../client/new-event.ts';
import { patiently } from '../client/patience.ts';
import { type Server, ServerAway } from '../client/server.ts';
import { upload as sendAtOnce } from '../client/upload.ts';
import { CommandError } from '../failure.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { type Progress, showProgress } from '../terminal/progress.ts';
import { type Command, splitArguments, type Terminal, wrongArguments } from './command.ts';
import { type RememberedEvent, rememberedEvent } from './remembered.ts';
import { sendResumably, takesParts } from './resumable.ts';
import { ask, SERVER_OPTIONS, SERVER_USAGE, serverOf } from './server.ts';

const USAGE = `npm run inlet -- upload FILE... [--title TEXT] [--together] [--series ID] [--workflow NAME] [--read ROLE]...

Sends recordings, shows how they are processed, and exits with 0 only when all are SUCCEEDED. Each file becomes an event. A
line that breaks is waited for; a command that was stopped goes on where it was when it is given again.

  --together     the files are one event: the first shows the presenter, the second the presentation
  --title TEXT   the title; without it the name of the file
  --series ID    the series
  --workflow NAME  how it is processed; without it the usual way
  --read ROLE    who may read the event, such as ROLE_ANONYMOUS; may be given several times; without it, as its series says
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
const SOUND = /^\.(mp3|m4a|aac|wav|flac|ogg|oga|opus|wma|aif|aiff)$/i;

/** `upload`: recordings in, and what became of them. */
export const uploadCommand: Command = {
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = splitArguments(args, OPTIONS, USAGE);
    if (positionals.length === 0) throw wrongArguments('FILE is missing.', USAGE);
    const server = serverOf(values, terminal.environment, USAGE);
    const files = await Promise.all(positionals.map((name) => fileOf(callersFolder(terminal.environment), name)));
    if (values.together && files.length > 2) throw wrongArguments('--together takes two files.', USAGE);
    const recordings: [TrackFile, ...TrackFile[]][] =
      values.together && files[1] ? [asOne(files)] : files.map((file) => [file]);
    let exitCode = 0;
    const made: RememberedEvent[] = [];
    for (const recording of recordings) {
      const [{ path }] = recording;
      const event = {
        title: values.title ?? basename(path, extname(path)),
        series: values.series,
        workflow: values.workflow ?? 'schedule-and-upload',
        read: values.read ?? [],
      };
      const remembered = await rememberedEvent(terminal.environment, {
        server: server.url,
        user: values.user,
        event,
        files: await Promise.all(recording.map(asSent)),
      });
      made.push(remembered);
      const identifier = remembered.identifier ?? (await sendRecording(server, event, recording, remembered, terminal));
      if (values['no-wait']) {
        terminal.print(identifier);
        continue;
      }
      terminal.print(eventLine(identifier));
      const processed = await follow(server, identifier, remembered, terminal);
      for (const line of eventSummary(processed)) terminal.print(line);
      if (processed.state !== 'SUCCEEDED') exitCode = 1;
    }
    // Not before: a command that is stopped at a later recording sends none of the others again.
    for (const { forget } of made) await forget();
    return exitCode;
  },
};

async function fileOf(folder: string, name: string): Promise<TrackFile> {
  const path = resolve(folder, name);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      error.code === 'ENOENT' ? `There is no file ${name}.` : `${name} cannot be read: ${error.message}`,
    );
  });
  if (!found.isFile()) throw new CommandError(`${name} is not a file.`);
  return { path, size: found.size, part: SOUND.test(extname(path)) ? 'audio' : 'presenter' };
}

function asOne([first, second]: readonly TrackFile[]): [TrackFile, ...TrackFile[]] {
  const [presenter, slides] = [first as TrackFile, second as TrackFile];
  return [presenter, slides.part === 'audio' ? slides : { ...slides, part: 'presentation' }];
}

/** A file as it is now; another content has another time. */
async function asSent({ path, part, size }: TrackFile) {
  return { path, part, size, changed: (await stat(path)).mtimeMs };
}

/** @returns the identifier of the event */
async function sendRecording(
  server: Server,
  event: NewEvent,
  files: readonly TrackFile[],
  { remember }: RememberedEvent,
  { environment, signal, screen }: Terminal,
): Promise<string> {
  const progress = showProgress('upload', screen);
  const all = files.reduce((sum, { size }) => sum + size, 0);
  const show = (sent: number, total = all) => shown(progress, sent, total);
  try {
    if (!(await takesParts(server, signal))) {
      const identifier = await sendAtOnce(server, event, files, show, signal);
      await remember(identifier);
      return identifier;
    }
    const sent: { id: string; field: string; forget(): Promise<void> }[] = [];
    let before = 0;
    for (const { path, size, part } of files) {
      const onProgress = (bytes: number) => show(before + bytes);
      sent.push({
        field: part,
        ...(await sendResumably(server, path, { environment, signal, onProgress })),
      });
      before += size;
    }
    const identifier = await makeEvent(server, event, sent, signal);
    await remember(identifier);
    // Not before: a command that is given again has nothing to send, and gets the same event.
    for (const { forget } of sent) await forget();
    return identifier;
  } finally {
    progress.stop();
  }
}

function shown(progress: Progress, sent: number, all: number): void {
  progress.update(all === 0 ? 1 : sent / all, `${formatBytes(sent)} of ${formatBytes(all)}`);
}

async function makeEvent(
  server: Server,
  event: NewEvent,
  sent: readonly { id: string; field: string }[],
  signal: AbortSignal,
): Promise<string> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fieldsOf(event))) body.set(name, value);
  body.set('uploads', JSON.stringify(sent.map(({ id, field }) => ({ id, field }))));
  const headers = { 'Idempotency-Key': sent.map(({ id }) => id).join('.') };
  const make = async () => {
    const answer = await ask(server, '/api/events', { method: 'POST', body, headers, signal });
    return ((await answer.json()) as { identifier: string }).identifier;
  };
  return patiently(make, { signal }).catch(saySameCommand);
}

/** @throws always; for a server that was waited for in vain it says what to do */
function saySameCommand(error: unknown): never {
  if (!(error instanceof ServerAway)) throw error;
  throw new CommandError(`${error.message}, and was waited for in vain; the same command goes on.`);
}

async function follow(
  server: Server,
  identifier: string,
  { forget }: RememberedEvent,
  { signal, screen }: Terminal,
): Promise<ProcessedEvent> {
  const progress = showProgress('processing', screen);
  try {
    return await followEvent(server, identifier, ({ fraction, note }) => progress.update(fraction, note), signal);
  } catch (error) {
    if (error instanceof EventGone) await forget();
    return saySameCommand(error);
  } finally {
    progress.stop();
  }
}
