import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as tus from 'tus-js-client';
import { awayOf, errorSentence, reach, type Server } from '../client/server.ts';
import { CommandError } from '../failure.ts';
import { rememberedUploads } from './remembered.ts';

/** Part of the package for Node, which its types do not tell of. */
const { FileUrlStorage } = tus as unknown as {
  FileUrlStorage: new (path: string) => NonNullable<tus.UploadOptions['urlStorage']>;
};
/** What a server says of an upload that it does not have. */
const GONE = [404, 410];
/** Refusals that are over in a moment: others write to the upload, or too much was asked. */
const PASSING = [409, 423, 429];
const RETRY_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** Whether a server takes files in several requests. @throws {CommandError} when it does not answer */
export async function takesParts(server: Server, signal: AbortSignal): Promise<boolean> {
  const answer = await reach(server, '/uploads', { method: 'OPTIONS', signal });
  const away = awayOf(server, answer);
  if (away) throw away;
  return answer.headers.has('Tus-Resumable');
}

/** A file that the server has. */
interface SentFile {
  /** The identifier of the upload. */
  id: string;
  /** Forgets its address: the same file would be another upload then. */
  forget(): Promise<void>;
}

/**
 * Sends a file, and goes on where an earlier run of the command was.
 *
 * @param onProgress is told how many bytes the server has
 * @throws {CommandError} when the server refuses, or stays away
 */
export async function sendResumably(
  server: Server,
  path: string,
  {
    environment,
    signal,
    onProgress,
  }: { environment: NodeJS.ProcessEnv; signal: AbortSignal; onProgress: (bytes: number) => void },
): Promise<SentFile> {
  const { size } = await stat(path);
  const urlStorage = new FileUrlStorage(await rememberedUploads(environment));
  const upload = await new Promise<tus.Upload>((resolve, reject) => {
    const sending: tus.Upload = new tus.Upload(createReadStream(path) as unknown as Buffer, {
      endpoint: `${server.url}/uploads`,
      headers: { Authorization: server.authorization },
      metadata: { filename: basename(path) },
      uploadSize: size,
      urlStorage,
      retryDelays: RETRY_MS,
      onAfterResponse: keepAddress,
      onShouldRetry: mayPass,
      onProgress,
      onSuccess: () => resolve(sending),
      onError: (error) => reject(new CommandError(inWords(error, sending.url ?? server.url))),
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
      for (const { urlStorageKey } of await upload.findPreviousUploads()) await urlStorage.removeUpload(urlStorageKey);
    },
  };
}

/**
 * Whatever a server says other than that it has the upload, the client would take for a sign to begin a new one; only
 * that it has none is one.
 */
async function keepAddress(request: tus.HttpRequest, response: tus.HttpResponse): Promise<void> {
  const status = response.getStatus();
  if (request.getMethod() !== 'HEAD' || status < 300 || GONE.includes(status)) return;
  throw new NotTold(response);
}

/** A server did not tell how far an upload is. */
class NotTold extends Error {
  readonly response: tus.HttpResponse;

  constructor(response: tus.HttpResponse) {
    super(`The server answered ${response.getStatus()}.`);
    this.response = response;
  }
}

function answerTo(error: Error): tus.HttpResponse | null {
  if (!(error instanceof tus.DetailedError)) return null;
  return error.causingError instanceof NotTold ? error.causingError.response : error.originalResponse;
}

function mayPass(error: Error): boolean {
  const status = answerTo(error)?.getStatus() ?? 0;
  return status < 400 || status >= 500 || PASSING.includes(status);
}

/** @param url where the file was sent; the server says where that is, by its PUBLIC_URL */
function inWords(error: Error, url: string): string {
  const response = answerTo(error);
  const status = response?.getStatus() ?? 0;
  if (!response || status === 429 || (status >= 502 && status <= 504))
    return `The upload broke off, and ${new URL(url).origin} does not answer; the same command goes on with it.`;
  const sentence = errorSentence(response.getBody());
  return `The server refused the file (${status})${sentence ? `: ${sentence}` : '.'}`;
}
