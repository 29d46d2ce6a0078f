import type { IncomingMessage } from 'node:http';
import { connect, OutboundError, parseTarget, type Target } from '../outbound/connect.ts';
import { sendRequest } from '../outbound/http-request.ts';
import { parseRetryAfter } from '../outbound/retry-after.ts';
import { excerpt } from '../text/excerpt.ts';
import { tryParseJson } from '../text/json.ts';
import {
  parseTranscript,
  TRANSCRIPT_FORMATS,
  type Transcript,
  type TranscriptFormat,
  UnusableTranscript,
} from './transcript.ts';

/** A server with the transcription interface of OpenAI. */
export interface TranscriptionServer {
  url: string;
  key: string | undefined;
}

/** Three days: longer than a weekend. */
const WAIT_LIMIT_MS = 3 * 86_400_000;

/** The service cannot answer now. Says nothing about the recording. */
export class TranscriptionUnavailable extends Error {
  override name = 'TranscriptionUnavailable';
  readonly ours = true;
  readonly waitLimitMs = WAIT_LIMIT_MS;
  /** The time after which the service wants to be asked again; undefined if it named none. */
  readonly againInMs: number | undefined;
  constructor(reason: string, againInMs?: number) {
    super(`The transcription service does not answer: ${reason}.`);
    this.againInMs = againInMs;
  }
}

/** The service refuses the request, or its answer is no transcript. */
export class TranscriptionFailed extends Error {
  override name = 'TranscriptionFailed';
  readonly permanent = true;
  constructor(reason: string) {
    super(`The transcription failed: ${reason}.`);
  }
}

export interface TranscriptionRequest {
  sound: Uint8Array<ArrayBuffer>;
  filename: string;
  mediatype: string;
  lengthMs: number;
  model: string;
  /** Undefined to have it detected. */
  language: string | undefined;
  signal: AbortSignal;
  /** The longest time for an answer. */
  timeLimitMs?: number;
}

const PATH = '/v1/audio/transcriptions';
const TIME_LIMIT_MS = 30 * 60_000;
/** Far more than the words of ten minutes. */
const ANSWER_BYTES = 16 * 2 ** 20;
const REASON_LENGTH = 300;
/** The service, or a proxy in front of it, is busy or being restarted. */
const BUSY: readonly number[] = [408, 425, 429];
/** Servers that do not support a format answer with one of these. */
const FORMAT_REFUSED: readonly number[] = [400, 415, 422, 501];

/** Sends sounds to a transcription service and remembers the format that it supports. */
export class TranscriptionService {
  readonly #server: TranscriptionServer;
  readonly #target: Target;
  #format: TranscriptFormat = TRANSCRIPT_FORMATS[0];

  constructor(server: TranscriptionServer) {
    this.#server = server;
    this.#target = parseTarget(transcriptionUrl(server.url));
  }

  /**
   * Returns the transcript of a sound.
   *
   * @throws {TranscriptionUnavailable} to ask again later; {TranscriptionFailed}; the reason of the signal
   */
  async transcribe(request: TranscriptionRequest): Promise<Transcript> {
    const untried = TRANSCRIPT_FORMATS.slice(TRANSCRIPT_FORMATS.indexOf(this.#format));
    let refusal: TranscriptionFailed | undefined;
    for (const format of untried) {
      const { status, body, retryAfter } = await this.#ask(request, format);
      if (status >= 200 && status < 300) {
        const transcript = parse(body, { lengthMs: request.lengthMs, format });
        if (!transcript) continue;
        this.#format = format;
        return transcript;
      }
      // Servers that lack only a format may answer with 501.
      const isFormatRefused = FORMAT_REFUSED.includes(status);
      if (BUSY.includes(status) || (status >= 500 && !isFormatRefused))
        throw new TranscriptionUnavailable(`it responded with status ${status}`, retryAfter);
      const failure = new TranscriptionFailed(this.#describe(status, body));
      if (!isFormatRefused) throw failure;
      refusal ??= failure;
    }
    throw refusal ?? new TranscriptionFailed('the answers of the service have no times');
  }

  async #ask(request: TranscriptionRequest, format: TranscriptFormat) {
    const { signal, timeLimitMs = TIME_LIMIT_MS } = request;
    const timeout = AbortSignal.timeout(timeLimitMs);
    const until = AbortSignal.any([signal, timeout]);
    try {
      const { url, host, port } = this.#target;
      const form = new Response(formOf(request, format));
      const body = new Uint8Array(await form.arrayBuffer());
      const trusted = { hosts: [{ host, port }], variable: 'TRANSCRIBE_URL', namedMayBePrivate: true };
      const socket = await connect({ ...this.#target, url }, { ...trusted, signal: until });
      const headers = {
        'Content-Type': form.headers.get('content-type') ?? '',
        ...(this.#server.key && { Authorization: `Bearer ${this.#server.key}` }),
      };
      const options = { method: 'POST', headers, body, idleMs: timeLimitMs, signal: until } as const;
      const answer = await sendRequest(this.#target, socket, options);
      const retryAfter = parseRetryAfter(answer.headers['retry-after']);
      return { status: answer.statusCode ?? 0, body: await readBody(answer, until), retryAfter };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TranscriptionFailed) throw error;
      if (timeout.aborted)
        throw new TranscriptionUnavailable(`it took longer than ${Math.round(timeLimitMs / 1000)} seconds`);
      throw new TranscriptionUnavailable(
        error instanceof OutboundError ? error.message : 'the connection broke during its answer',
      );
    }
  }

  /** Describes a refusal, with the reason of the service, which may quote the key. */
  #describe(status: number, body: Uint8Array): string {
    if (status >= 300 && status < 400)
      return `the service redirects to another address (status ${status}); set TRANSCRIBE_URL to that address`;
    const hint =
      status === 401 || status === 403
        ? '; check TRANSCRIBE_KEY'
        : status === 404
          ? '; check TRANSCRIBE_URL and the model'
          : '';
    const reason = reasonIn(body);
    const { key } = this.#server;
    const said = key ? reason?.replaceAll(key, '[redacted]') : reason;
    return `the service responded with status ${status}${said ? ` (${said})` : ''}${hint}`;
  }
}

/** Returns the address for transcriptions: an address without a path, or ending in `/v1`, is completed. */
export function transcriptionUrl(base: string): string {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '') url.pathname = PATH;
  else if (path.endsWith('/v1')) url.pathname = path.slice(0, -'/v1'.length) + PATH;
  return url.href;
}

function formOf(request: TranscriptionRequest, format: TranscriptFormat): FormData {
  const { sound, filename, mediatype, model, language } = request;
  const form = new FormData();
  form.set('model', model);
  form.set('response_format', format);
  // Services know languages, not regions.
  if (language) form.set('language', language.split('-', 1)[0] ?? language);
  form.set('file', new Blob([sound], { type: mediatype }), filename);
  return form;
}

function parse(body: Uint8Array, how: Parameters<typeof parseTranscript>[1]): Transcript | undefined {
  try {
    return parseTranscript(body, how);
  } catch (error) {
    if (!(error instanceof UnusableTranscript)) throw error;
    throw new TranscriptionFailed(`${error.message}; check TRANSCRIBE_URL`);
  }
}

async function readBody(answer: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  // A destroyed answer may emit an error.
  answer.on('error', () => undefined);
  const onAbort = () => answer.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > ANSWER_BYTES)
        throw new TranscriptionFailed(`its answer is larger than ${ANSWER_BYTES / 2 ** 20} MiB; check TRANSCRIBE_URL`);
      chunks.push(chunk);
    }
    signal.throwIfAborted();
    if (!answer.complete) throw new OutboundError('the connection broke during its answer');
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', onAbort);
    answer.destroy();
  }
}

/** Returns the message in an error of the service, if it has one. */
function reasonIn(body: Uint8Array): string | undefined {
  const json = tryParseJson(new TextDecoder().decode(body)) as Record<string, unknown> | null | undefined;
  const error = json?.error ?? json?.detail;
  const message = typeof error === 'object' ? (error as Record<string, unknown> | null)?.message : error;
  if (typeof message !== 'string') return undefined;
  return excerpt(message, REASON_LENGTH)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
