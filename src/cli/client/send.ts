import { createReadStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import * as tus from 'tus-js-client';
import { formatBytes } from '#platform/text/units.ts';
import { CommandError } from '../failure.ts';
import { showProgress } from '../terminal/progress.ts';
import { ask, errorMessage, retryWhileAway, type Server, ServerAway } from './server.ts';

/** A file, and the form field whose flavor its track gets. */
export interface TrackFile {
  field: 'presenter' | 'presentation' | 'audio';
  path: string;
  size: number;
}

export interface NewEvent {
  title: string;
  description?: string | undefined;
  series?: string | undefined;
  workflow: string;
  /** Roles that may read the event; if empty, the access control list of its series applies. */
  read: readonly string[];
}

/** Types for Node that the package does not declare. */
const { FileUrlStorage } = tus as unknown as {
  FileUrlStorage: new (path: string) => NonNullable<tus.UploadOptions['urlStorage']>;
};
const SOUND = /^\.(mp3|m4a|aac|wav|flac|ogg|oga|opus|wma|aif|aiff)$/i;
/** Statuses of an upload that does not exist. */
const GONE = [404, 410];
/** Statuses of temporary refusals. */
const TEMPORARY = [409, 423, 429];
/** Statuses of servers without resumable uploads. */
const WITHOUT_TUS = [400, 401, 403, 404, 405, 501];
/** The longest that a request with all files may take. */
const FORM_TIMEOUT_MS = 24 * 3_600_000;
const RETRY_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** Returns a file to send. Its extension decides between sound and video. @throws {CommandError} if it cannot be read */
export async function trackOf(folder: string, name: string): Promise<TrackFile> {
  const path = resolve(folder, name);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      error.code === 'ENOENT' ? `The file ${name} does not exist.` : `${name} cannot be read: ${error.message}`,
    );
  });
  if (!found.isFile()) throw new CommandError(`${name} is not a file.`);
  return { path, size: found.size, field: SOUND.test(extname(path)) ? 'audio' : 'presenter' };
}

/** Makes the second of two recordings the presentation, unless it is only sound. */
export function presentationOf(track: TrackFile): TrackFile {
  return track.field === 'audio' ? track : { ...track, field: 'presentation' };
}

export interface Sending {
  signal: AbortSignal;
  screen: NodeJS.WriteStream;
  label: string;
  /** The file that stores the URLs of unfinished uploads, so that another run can continue them. */
  urlsFile?: string;
  /**
   * Stores the identifier of the event. If it fails, repeating the call returns the same event, or creates another one
   * after an upload in one request.
   */
  remember?: (identifier: string) => Promise<void>;
}

/**
 * Uploads files and creates their event, and shows the progress.
 *
 * @returns the identifier of the event
 * @throws {CommandError} if the server refuses or stays away
 */
export async function sendRecording(
  server: Server,
  event: NewEvent,
  files: readonly TrackFile[],
  { signal, screen, label, urlsFile, remember }: Sending,
): Promise<string> {
  const progress = showProgress(label, screen);
  const all = files.reduce((sum, { size }) => sum + size, 0);
  try {
    // Uploads retry for minutes; this fails immediately if the server is away.
    const options = await ask(server, '/uploads', { method: 'OPTIONS', signal }, WITHOUT_TUS);
    if (!options.headers.has('Tus-Resumable')) {
      // A wrong password must not be found out after gigabytes.
      await ask(server, '/api/info/me', { signal });
      progress.update(0, `${formatBytes(all)} in one request`);
      const identifier = await sendForm(server, event, files, signal);
      await remember?.(identifier);
      return identifier;
    }
    const uploads: (SentFile & { field: string })[] = [];
    let before = 0;
    for (const { path, size, field } of files) {
      const onProgress = (bytes: number) => {
        const sent = before + bytes;
        progress.update(all === 0 ? 1 : sent / all, `${formatBytes(sent)} of ${formatBytes(all)}`);
      };
      uploads.push({ field, ...(await sendFile(server, path, { signal, urlsFile, onProgress })) });
      before += size;
    }
    const identifier = await createEvent(server, event, uploads, signal);
    await remember?.(identifier);
    // Only now: if the command is repeated before, it sends nothing and gets the same event.
    for (const { forget } of uploads) await forget();
    return identifier;
  } finally {
    progress.stop();
  }
}

function eventForm({ title, description, series, workflow, read }: NewEvent): FormData {
  const values = { title, description, isPartOf: series };
  const fields = Object.entries(values).flatMap(([id, value]) => (value === undefined ? [] : [{ id, value }]));
  const entries = read.map((role) => ({ allow: true, role, action: 'read' }));
  const body = new FormData();
  body.set('acl', JSON.stringify(entries.length > 0 ? entries : null));
  body.set('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields }]));
  body.set('processing', JSON.stringify({ workflow }));
  return body;
}

/** Sends everything in one request, to a server without resumable uploads. @returns the identifier of the event */
async function sendForm(
  server: Server,
  event: NewEvent,
  files: readonly TrackFile[],
  signal: AbortSignal,
): Promise<string> {
  const body = eventForm(event);
  for (const { field, path } of files) body.append(field, await openAsBlob(path), basename(path));
  const answer = await ask(server, '/api/events', { method: 'POST', body, signal }, [], FORM_TIMEOUT_MS);
  return ((await answer.json()) as { identifier: string }).identifier;
}

async function createEvent(
  server: Server,
  event: NewEvent,
  uploads: readonly { id: string; field: string }[],
  signal: AbortSignal,
): Promise<string> {
  const body = eventForm(event);
  body.set('uploads', JSON.stringify(uploads.map(({ id, field }) => ({ id, field }))));
  const headers = { 'Idempotency-Key': uploads.map(({ id }) => id).join('.') };
  const send = async () => {
    const answer = await ask(server, '/api/events', { method: 'POST', body, headers, signal });
    return ((await answer.json()) as { identifier: string }).identifier;
  };
  return retryWhileAway(send, { signal }).catch(suggestRepeating);
}

/** Adds the advice to repeat the command if the server stayed away. @throws always */
export function suggestRepeating(error: unknown): never {
  if (!(error instanceof ServerAway)) throw error;
  throw new CommandError(`${error.message}. Run the same command again to continue.`);
}

interface SentFile {
  id: string;
  /** Deletes the stored URL of the upload, so that the same file becomes another upload. */
  forget(): Promise<void>;
}

/** Sends a file, and continues an earlier upload of it. @throws {CommandError} if the server refuses or stays away */
async function sendFile(
  server: Server,
  path: string,
  {
    signal,
    urlsFile,
    onProgress,
  }: { signal: AbortSignal; urlsFile: string | undefined; onProgress: (bytes: number) => void },
): Promise<SentFile> {
  const { size } = await stat(path);
  const urlStorage = urlsFile === undefined ? undefined : new FileUrlStorage(urlsFile);
  const upload = await new Promise<tus.Upload>((resolve, reject) => {
    const sending: tus.Upload = new tus.Upload(createReadStream(path) as unknown as Buffer, {
      endpoint: `${server.url}/uploads`,
      headers: { Authorization: server.authorization },
      metadata: { filename: basename(path) },
      uploadSize: size,
      ...(urlStorage && { urlStorage }),
      retryDelays: RETRY_MS,
      onAfterResponse: keepUrl,
      onShouldRetry: isTemporary,
      onProgress,
      onSuccess: () => resolve(sending),
      onError: (error) => reject(new CommandError(explainFailure(error, sending.url ?? server.url))),
    });
    const stop = () => {
      void sending.abort();
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    sending.findPreviousUploads().then(([previous]) => {
      if (previous) sending.resumeFromPreviousUpload(previous);
      sending.start();
    }, reject);
  });
  return {
    id: decodeURIComponent(new URL(upload.url ?? '').pathname.split('/').at(-1) ?? ''),
    forget: async () => {
      for (const { urlStorageKey } of await upload.findPreviousUploads()) await urlStorage?.removeUpload(urlStorageKey);
    },
  };
}

/** Keeps the URL of an upload unless it no longer exists: the package would replace it after any other failure of HEAD. */
async function keepUrl(request: tus.HttpRequest, response: tus.HttpResponse): Promise<void> {
  const status = response.getStatus();
  if (request.getMethod() !== 'HEAD' || status < 300 || GONE.includes(status)) return;
  throw new OffsetUnknown(response);
}

class OffsetUnknown extends Error {
  readonly response: tus.HttpResponse;

  constructor(response: tus.HttpResponse) {
    super(`The server answered ${response.getStatus()}.`);
    this.response = response;
  }
}

function answerTo(error: Error): tus.HttpResponse | null {
  if (!(error instanceof tus.DetailedError)) return null;
  return error.causingError instanceof OffsetUnknown ? error.causingError.response : error.originalResponse;
}

function isTemporary(error: Error): boolean {
  const status = answerTo(error)?.getStatus() ?? 0;
  return status < 400 || status >= 500 || TEMPORARY.includes(status);
}

/** @param url the URL of the upload, which depends on the server's PUBLIC_URL */
function explainFailure(error: Error, url: string): string {
  const response = answerTo(error);
  const status = response?.getStatus() ?? 0;
  if (!response || status === 429 || (status >= 502 && status <= 504))
    return `The upload was interrupted, and ${new URL(url).origin} does not answer. Run the same command again to continue.`;
  const message = errorMessage(response.getBody());
  return `The server refused the file (${status})${message ? `: ${message}` : '.'}`;
}
