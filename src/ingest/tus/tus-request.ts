import type { Context } from 'hono';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { DATABASE_AWAY } from '#platform/http/app/error-handler.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { BodyReader, ClientGone } from '#platform/http/form/body.ts';
import { abortedUploads } from '#platform/telemetry/metrics.ts';
import { answerFailure } from '../answer-failure.ts';
import type { UploadGate } from '../gate.ts';
import { beginWriting, declareLength, lockUpload } from './progress.ts';
import { receive, UploadGone } from './receive.ts';
import type { TusHeaders } from './tus-headers.ts';
import { UPLOAD_GONE, UPLOAD_LOCKED, UPLOAD_TOO_LONG } from './tus-refusals.ts';
import { type Upload, UploadLost, type UploadParts } from './uploads.ts';

/** The services that requests are answered with. */
export interface TusServices extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadGate;
}

/** The state of an upload, of which nothing may have come yet. */
export type UploadState = Pick<Upload, 'length' | 'offset' | 'metadata' | 'expiresAt' | 'complete'>;

/** The request for a new upload; without a length while that is deferred. */
export type Creation = Pick<TusHeaders, 'length' | 'metadata' | 'sent'>;

/** The uploads that a client may see. */
export interface Uploads {
  /** The identifier of an upload that the request creates. */
  newId: string;
  /** Whether a client knows the address of an upload before it creates it. */
  known: boolean;
  /** How large one may be, in bytes. */
  maxBytes: number;
  address(id: string): string;
  /** Creates an upload, or continues it where the same may be created twice. Its lock is taken. */
  begin(id: string, creation: Creation): Promise<Upload>;
  /** @throws {HttpError} for one that does not exist for the client */
  find(id: string): Promise<UploadState>;
  /** Creates what is written to, if it does not exist yet. Its lock is taken. */
  open?(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs before the answer that all of an upload is there. @returns further headers of that answer */
  completed?(id: string): Promise<Readonly<Record<string, string>>>;
}

/** The work of one request on its upload. */
export class TusRequest {
  readonly headers: TusHeaders;
  readonly uploads: Uploads;
  readonly id: string;
  readonly #c: Context;
  readonly #services: TusServices;
  readonly #stop = new AbortController();
  /** As last seen. */
  #upload: UploadState | undefined;
  #created = false;
  #body: BodyReader | undefined;
  /** No more of the body is wanted. */
  #enough = false;
  /** The body has come to its end. */
  #ended = false;

  constructor(c: Context, services: TusServices, uploads: Uploads, headers: TusHeaders, id: string) {
    this.#c = c;
    this.#services = services;
    this.uploads = uploads;
    this.headers = headers;
    this.id = id;
  }

  /** Takes the lock of the upload's writer. Who wants it next gets it as soon as what has come is kept. */
  async lock(): Promise<AsyncDisposable> {
    const held = await lockUpload(this.#services.locks, this.id, {
      onWanted: () => this.#stopReading(),
      // The connection broke on which the lock rests.
      onLost: () => this.#stop.abort(DATABASE_AWAY()),
    });
    if (!held) throw UPLOAD_LOCKED();
    return { [Symbol.asyncDispose]: held.release };
  }

  /** Creates the upload. */
  async create(): Promise<UploadState> {
    const upload = await this.uploads.begin(this.id, this.headers);
    this.#upload = upload;
    this.#created = true;
    // Nothing else will come of it.
    return this.headers.length === 0 && !upload.complete ? this.write() : upload;
  }

  /** Finds the upload. @throws {HttpError} for one that does not exist for the client */
  async find(): Promise<UploadState> {
    this.#upload = await this.uploads.find(this.id);
    return this.#upload;
  }

  /** Declares the length that was deferred. */
  async declareLength(length: number): Promise<void> {
    await this.uploads.open?.(this.id);
    await declareLength(this.#services.database, this.id, length);
  }

  /** Receives the body. @returns the offset that is durable then */
  async receive(): Promise<number> {
    this.#body = new BodyReader(this.#c.req.raw, this.#services.config.uploadIdleMs);
    if (this.#enough) this.#stopReading();
    if (this.#upload?.complete) {
      if (await this.#read()) throw UPLOAD_TOO_LONG();
      return this.#upload.offset;
    }
    await this.uploads.open?.(this.id);
    try {
      return (await this.write()).offset;
    } finally {
      // Whatever stopped it, nobody waits for more.
      this.#stopReading();
    }
  }

  /** Writes what is received, and completes an upload of which all has come. */
  async write(): Promise<UploadState> {
    const { database, lifetimeMs } = this.#services;
    const upload = await inTransaction(database, (trx) => beginWriting(trx, this.id, lifetimeMs));
    this.#upload = await receive(this.#services, upload, {
      read: () => this.#read(),
      verify: this.#body && this.headers.checksum,
      maxBytes: this.uploads.maxBytes,
      signal: this.#stop.signal,
    });
    return this.#upload;
  }

  /** Discards the upload and what has come of it. */
  async discard(): Promise<void> {
    await this.uploads.remove(this.id);
    this.#services.digests.forget(this.id);
    this.#upload = undefined;
  }

  /** Completes the answer. The upload's lock is released. */
  async finish(response: Response): Promise<Response> {
    const { headers } = response;
    const upload = this.#upload;
    // Upload-Expires MUST be included in every PATCH response if the upload is going to expire.
    if (upload) headers.set('Upload-Expires', upload.expiresAt.toUTCString());
    const more = upload?.complete ? await this.uploads.completed?.(this.id) : undefined;
    for (const [name, value] of Object.entries(more ?? {})) headers.set(name, value);
    return this.#close(response);
  }

  /** Answers what was refused or has failed. @throws {HttpError} */
  async fail(error: unknown): Promise<Response> {
    const { log } = this.#c.var;
    // An upload whose address no client knows is of no use.
    if (this.#created && !this.uploads.known)
      await this.discard().catch((err) => log.warn({ err }, 'an upload that no client knows stays until it expires'));
    return this.#close(answerFailure(this.#c, await this.#explain(error)));
  }

  async #explain(error: unknown): Promise<unknown> {
    const { log } = this.#c.var;
    if (error instanceof ClientGone) {
      log.info('the client went away in the middle of an upload; what has come is kept');
      abortedUploads.inc({ cause: 'client_gone' });
      // Nobody reads it; the status is for the log.
      return new HttpError(400, '', { Connection: 'close' });
    }
    if (error instanceof UploadLost) return UPLOAD_LOCKED();
    if (!(error instanceof UploadGone)) return error;
    log.warn({ upload: this.id }, 'the object of an upload is gone, and so is the upload');
    await this.discard();
    return UPLOAD_GONE();
  }

  async #read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#body?.read();
    if (chunk || !this.#body) return chunk;
    if (!this.#enough) this.#ended = true;
    // What is to be verified is kept whole or not at all, and another request wants to write before it is.
    else if (this.headers.checksum) throw UPLOAD_LOCKED();
    return undefined;
  }

  /** Ends the body with what has come, also before it is read. */
  #stopReading(): void {
    this.#enough = true;
    void this.#body?.cancel();
  }

  /** Closes the connection of a client that may still be sending what nobody reads. */
  #close(response: Response): Response {
    if (this.#body && !this.#ended) response.headers.set('Connection', 'close');
    return response;
  }
}
