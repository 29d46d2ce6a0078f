import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { formatBytes } from '../../units.ts';
import { followEvent, type ProcessedEvent } from '../demo/follow.ts';
import { eventSummary } from '../demo/summary.ts';
import { upload as sendAtOnce } from '../demo/upload.ts';
import { CommandError } from '../failure.ts';
import type { Server } from '../terminal/client.ts';
import { type Progress, showProgress } from '../terminal/progress.ts';
import { type Command, splitArguments, type Terminal, wrongArguments } from './command.ts';
import { sendResumably, takesParts } from './resumable.ts';
import { ask, SERVER_OPTIONS, SERVER_USAGE, serverOf } from './server.ts';

const USAGE = `npm run inlet -- upload FILE... [--title TEXT] [--together] [--series ID] [--workflow NAME] [--read ROLE]...

Sends recordings, shows how they are processed, and exits with 0 only when all are SUCCEEDED. Each file becomes an event. A
line that breaks is waited for; a command that was stopped goes on where it was when it is given again.

  --together     the files are one event: the first shows the presenter, the second the presentation
  --title TEXT   the title; without it the name of the file
  --series ID    the series
  --workflow NAME  how it is processed; without it the usual way
  --read ROLE    who may read the event, such as ROLE_ANONYMOUS; may be given several times
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

interface Wish {
  title: string;
  series: string | undefined;
  workflow: string;
  read: readonly string[];
}

interface File {
  path: string;
  size: number;
  part: 'presenter' | 'presentation' | 'audio';
}

/** `upload`: recordings in, and what became of them. */
export const uploadCommand: Command = {
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = splitArguments(args, OPTIONS, USAGE);
    if (positionals.length === 0) throw wrongArguments('FILE is missing.', USAGE);
    const server = serverOf(values, terminal.environment, USAGE);
    const files = await Promise.all(positionals.map(fileOf));
    if (values.together && files.length > 2) throw wrongArguments('--together takes two files.', USAGE);
    const recordings = values.together ? [asOne(files)] : files.map((file) => [file]);
    let exitCode = 0;
    for (const recording of recordings) {
      const [{ path }] = recording as [File];
      const wish = {
        title: values.title ?? basename(path, extname(path)),
        series: values.series,
        workflow: values.workflow ?? 'schedule-and-upload',
        read: values.read ?? [],
      };
      const identifier = await sendRecording(server, recording, wish, terminal);
      if (values['no-wait']) terminal.print(identifier);
      else {
        const event = await follow(server, identifier, terminal);
        for (const line of eventSummary(event)) terminal.print(line);
        if (event.state !== 'SUCCEEDED') exitCode = 1;
      }
    }
    return exitCode;
  },
};

async function fileOf(name: string): Promise<File> {
  const path = resolve(name);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      error.code === 'ENOENT' ? `There is no file ${name}.` : `${name} cannot be read: ${error.message}`,
    );
  });
  if (!found.isFile()) throw new CommandError(`${name} is not a file.`);
  return { path, size: found.size, part: SOUND.test(extname(path)) ? 'audio' : 'presenter' };
}

function asOne(files: readonly File[]): File[] {
  return files.map((file, i) =>
    i === 1 && file.part === 'presenter' ? { ...file, part: 'presentation' as const } : file,
  );
}

/** @returns the identifier of the event */
async function sendRecording(
  server: Server,
  files: readonly File[],
  wish: Wish,
  { environment, signal, screen }: Terminal,
): Promise<string> {
  const progress = showProgress('upload', screen);
  const all = files.reduce((sum, { size }) => sum + size, 0);
  const show = (sent: number) => shown(progress, sent, all);
  try {
    if (!(await takesParts(server, signal))) {
      return await sendAtOnce(server, { title: wish.title, tracks: [...files] }, show, signal);
    }
    const uploads = [];
    let before = 0;
    for (const { path, size, part } of files) {
      const onProgress = (bytes: number) => show(before + bytes);
      const id = await sendResumably(server, path, { environment, signal, onProgress });
      uploads.push({ id, field: part });
      before += size;
    }
    return await makeEvent(server, wish, uploads, signal);
  } finally {
    progress.stop();
  }
}

function shown(progress: Progress, sent: number, all: number): void {
  progress.update(all === 0 ? 1 : sent / all, `${formatBytes(sent)} of ${formatBytes(all)}`);
}

async function makeEvent(
  server: Server,
  { title, series, workflow, read }: Wish,
  uploads: readonly { id: string; field: string }[],
  signal: AbortSignal,
): Promise<string> {
  const fields = [
    { id: 'title', value: title },
    ...(series === undefined ? [] : [{ id: 'isPartOf', value: series }]),
  ];
  const body = new FormData();
  body.set('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields }]));
  body.set('acl', JSON.stringify(read.map((role) => ({ allow: true, role, action: 'read' }))));
  body.set('processing', JSON.stringify({ workflow }));
  body.set('uploads', JSON.stringify(uploads));
  const answer = await ask(server, '/api/events', { method: 'POST', body, signal });
  return ((await answer.json()) as { identifier: string }).identifier;
}

async function follow(
  server: Server,
  identifier: string,
  { signal, screen }: Terminal,
): Promise<ProcessedEvent> {
  const progress = showProgress('processing', screen);
  try {
    return await followEvent(
      server,
      identifier,
      ({ fraction, note }) => progress.update(fraction, note),
      signal,
    );
  } finally {
    progress.stop();
  }
}
