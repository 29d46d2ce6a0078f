import type { Context } from 'hono';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { ClientGone, hasBody } from '#platform/http/form/body.ts';
import { abortedUploads } from '#platform/telemetry/metrics.ts';
import { answerFailure } from '../answer-failure.ts';
import type { UploadGate } from '../gate.ts';
import { ALGORITHMS, type Checksum, parseChecksum } from './checksum.ts';
import { inWords, LockLost } from './in-words.ts';
import { lockUpload } from './lock.ts';
import { UploadGone, type UploadParts } from './object.ts';
import { beginWriting, declareLength } from './progress.ts';
import { type Asked, answerTus, type Deeds } from './protocol.ts';
import { receive, TooMuch } from './receive.ts';
import { Sending } from './sending.ts';
import { readTusHeaders } from './tus-headers.ts';
import { NO_OFFSET_STREAM, OFFSET_STREAM, UPLOAD_LOCKED } from './tus-refusals.ts';
import type { Upload } from './uploads.ts';

/** What answering works with. */
export interface TusServices extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadGate;
}

/** An upload as the protocol knows it, whether or not anything has come of it. */
export type Known = Pick<Upload, 'length' | 'offset' | 'metadata' | 'expiresAt' | 'complete'>;

/** The uploads that whoever asks has to do with. */
export interface Uploads {
  /** What the upload is called that the request may begin. */
  newId: string;
  /** Whether whoever begins one knows beforehand where it is. */
  known: boolean;
  /** How large one may be, in bytes. */
  maxBytes: number;
  /** Says where an upload is. */
  address(id: string): string;
  /** Begins an upload, or goes on with it where the same may be begun twice. Its lock is taken. */
  begin(id: string, asked: Asked & { sent: string }): Promise<Upload>;
  /** @throws {HttpError} for what is not there for whoever asks */
  find(id: string): Promise<Known>;
  /** Makes sure that there is something to write to. Its lock is taken. */
  open?(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Is told when the answer is that all of an upload is there. @returns what the answer says besides, in headers */
  completed?(id: string): Promise<Readonly<Record<string, string>>>;
}

/** Some clients begin an upload with a POST that says nothing of a body, for which Deno's server makes one all the same. */
function bringsBytes(request: Request): boolean {
  const saysSo = ['Content-Length', 'Transfer-Encoding', 'Content-Type'].some((name) =>
    request.headers.has(name),
  );
  return saysSo && hasBody(request);
}

/**
 * Answers a request of the protocol.
 *
 * @param method as which it is meant
 * @param id of the upload that it is sent to, if it is sent to one
 * @throws {HttpError} whatever is refused
 */
export async function answerTusRequest(
  method: string,
  c: Context,
  services: TusServices,
  uploads: Uploads,
  id = '',
): Promise<Response> {
  const { raw } = c.req;
  const headers =
    method === 'OPTIONS' ? new Headers() : readTusHeaders(method, raw.headers, uploads.maxBytes);
  const isStream = headers.get('Content-Type') === OFFSET_STREAM;
  if (!isStream && (method === 'PATCH' || (method === 'POST' && bringsBytes(raw)))) throw NO_OFFSET_STREAM();
  const work = new TusRequest(method, c, services, uploads, headers.get('Upload-Length'));
  const answerInside = async () => {
    await using pass = services.gate.open();
    if (isStream) await pass.enter();
    // Before anybody is asked to let go of it.
    if (id) await uploads.find(id);
    const url = `http://localhost/${encodeURIComponent(id)}`;
    return await answerTus(new Request(url, { method, headers }), uploads.newId, work.deeds);
  };
  try {
    return await work.finish(await answerInside());
  } catch (error) {
    await work.forsake();
    return work.close(answerFailure(c, await work.explain(error)));
  }
}

/** What one request does to an upload. */
class TusRequest {
  readonly #method: string;
  readonly #length: string | null;
  readonly #c: Context;
  readonly #services: TusServices;
  readonly #uploads: Uploads;
  readonly #stop = new AbortController();
  readonly #sending = new Sending();
  /** As last seen. */
  #upload: (Known & { id: string }) | undefined;
  /** Made by this request. */
  #created: string | undefined;

  /** @param length that the request says the upload has */
  constructor(method: string, c: Context, services: TusServices, uploads: Uploads, length: string | null) {
    this.#method = method;
    this.#length = length;
    this.#c = c;
    this.#services = services;
    this.#uploads = uploads;
  }

  get deeds(): Deeds {
    const uploads = this.#uploads;
    return {
      address: (id) => uploads.address(id),
      maxBytes: uploads.maxBytes,
      create: (id, asked) => this.#create(id, asked),
      find: (id) => this.#find(id),
      receive: (id) => this.#receive(id),
      declareLength: async (id, length) => {
        await uploads.open?.(id);
        await declareLength(this.#services.database, id, length);
      },
      remove: (id) => this.#remove(id),
      lock: (id) => this.#lock(id),
    };
  }

  /** An upload whose address nobody has been told is of no use. */
  async forsake(): Promise<void> {
    if (this.#created === undefined || this.#uploads.known) return;
    await this.#discard(this.#created).catch((error) => {
      this.#c.var.log.warn({ err: error }, 'an upload that nobody knows of stays until it expires');
    });
  }

  /** The answer, after which nothing more is read. */
  close(answered: Response): Response {
    const response = new Response(answered.body, answered);
    if (this.#sending.unread) response.headers.set('Connection', 'close');
    return response;
  }

  /** What a client is told that failed, and does not find again what is gone. */
  async explain(error: unknown): Promise<unknown> {
    const { log } = this.#c.var;
    if (error instanceof UploadGone && this.#upload) {
      log.warn({ upload: this.#upload.id }, 'the object of an upload is gone, and so is the upload');
      await this.#discard(this.#upload.id);
    }
    if (error instanceof ClientGone) {
      log.info('the client went away in the middle of an upload; what has come is kept');
      abortedUploads.inc({ cause: 'client_gone' });
      // Nobody will read it; the status is for the log.
      return new HttpError(400, '', { Connection: 'close' });
    }
    return inWords(error);
  }

  /** The answer with what is known besides. */
  async finish(answered: Response): Promise<Response> {
    const response = this.close(answered);
    const { headers } = response;
    // Other layers see to it.
    for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name);
    if (this.#method === 'OPTIONS') headers.set('Tus-Checksum-Algorithm', ALGORITHMS.join(','));
    const upload = this.#upload;
    if (!upload) return response;
    headers.set('Upload-Expires', upload.expiresAt.toUTCString());
    // As it was sent, to the blank.
    if (this.#method === 'HEAD' && upload.metadata) headers.set('Upload-Metadata', upload.metadata);
    const more = upload.complete ? await this.#uploads.completed?.(upload.id) : undefined;
    for (const [name, value] of Object.entries(more ?? {})) headers.set(name, value);
    return response;
  }

  async #create(id: string, asked: Asked): Promise<void> {
    const sent = this.#c.req.header('Upload-Metadata')?.trim() ?? '';
    this.#upload = await this.#uploads.begin(id, { ...asked, sent });
    this.#created = id;
    // Nothing else will come of it.
    if (asked.length === 0 && !this.#upload.complete) await this.#write(id, undefined);
  }

  async #find(id: string): Promise<Known> {
    const known = await this.#uploads.find(id);
    this.#upload = { ...known, id };
    // Said again, it is declared again, which changes nothing; the library refuses a length where it knows one.
    if (this.#method === 'PATCH' && this.#length === String(known.length))
      return { ...known, length: undefined };
    // Its process was killed after the last byte: nobody else would notice, since there is nothing to be sent.
    if (this.#method !== 'HEAD' || known.complete || known.offset !== known.length) return known;
    return this.#write(id, undefined);
  }

  async #receive(id: string): Promise<number> {
    // Of an upload that had begun before: what is sent with a second beginning is its beginning.
    if (this.#method === 'POST' && this.#upload && this.#upload.offset > 0) return this.#upload.offset;
    const verify = parseChecksum(this.#c.req.header('Upload-Checksum'));
    this.#sending.begin(this.#c.req.raw, this.#services.config.uploadIdleMs);
    if (this.#upload?.complete) {
      if (await this.#sending.read()) throw new TooMuch('The upload is complete.');
      return this.#upload.offset;
    }
    await this.#uploads.open?.(id);
    // Whatever ended it, nobody waits for more.
    const { offset } = await this.#write(id, verify).finally(() => this.#sending.enough());
    return offset;
  }

  async #write(id: string, verify: Checksum | undefined): Promise<Upload> {
    const { database, lifetimeMs } = this.#services;
    const upload = await inTransaction(database, (trx) => beginWriting(trx, id, lifetimeMs));
    const written = await receive(this.#services, upload, {
      read: () => this.#read(verify !== undefined),
      verify,
      maxBytes: this.#uploads.maxBytes,
      signal: this.#stop.signal,
    });
    this.#upload = written;
    return written;
  }

  async #read(whole: boolean): Promise<Uint8Array | undefined> {
    const chunk = await this.#sending.read();
    // What is to be verified is kept whole or not at all, and somebody else wants to write before it is.
    if (!chunk && whole && this.#sending.unread) throw UPLOAD_LOCKED();
    return chunk;
  }

  async #remove(id: string): Promise<void> {
    await this.#find(id);
    await this.#discard(id);
    this.#upload = undefined;
  }

  async #discard(id: string): Promise<void> {
    await this.#uploads.remove(id);
    this.#services.digests.forget(id);
  }

  async #lock(id: string): Promise<() => Promise<void>> {
    const holder = {
      // What has come until then is kept.
      onWanted: () => this.#sending.enough(),
      onLost: () => this.#stop.abort(new LockLost('The lock on the upload is lost.')),
    };
    const held = await lockUpload(this.#services.locks, id, holder);
    if (!held) throw UPLOAD_LOCKED();
    return held.release;
  }
}
