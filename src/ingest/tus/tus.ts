import type { Context } from 'hono';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { DATABASE_UNAVAILABLE } from '#platform/http/app/error-handler.ts';
import { HttpError, methodNotAllowed } from '#platform/http/errors/errors.ts';
import { BodyReader, ClientDisconnected } from '#platform/http/form/request-body.ts';
import { abortedUploads } from '#platform/telemetry/metrics.ts';
import { answerUploadFailure } from '../upload-failures.ts';
import type { UploadLimiter } from '../upload-limiter.ts';
import { receive, UploadGone } from './receive.ts';
import {
  bringsBytes,
  describeServer,
  LENGTH_KNOWN,
  NO_OFFSET_STREAM,
  OTHER_OFFSET,
  readTusHeaders,
  type TusHeaders,
  tusResponse,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  UPLOAD_TOO_LONG,
} from './tus-headers.ts';
import { beginWriting, declareLength, lockUpload, type Upload, UploadLost, type UploadParts } from './tus-uploads.ts';

/** The methods of the protocol. Comments with MUST and SHOULD quote its specification. */
const HANDLERS: Readonly<Record<string, (request: TusRequest) => Promise<Response>>> = {
  POST: createUpload,
  HEAD: readState,
  PATCH: appendToUpload,
  DELETE: terminateUpload,
};

/**
 * Answers a request of tus 1.0.0, https://tus.io/protocols/resumable-upload.
 *
 * @param method the method after `X-HTTP-Method-Override`
 * @param id the upload in the URL of the request, if any
 * @throws {HttpError}
 */
export async function answerTusRequest(
  method: string,
  c: Context,
  services: TusServices,
  uploads: Uploads,
  id = '',
): Promise<Response> {
  if (method === 'OPTIONS') return describeServer(uploads.maxBytes);
  const handle = HANDLERS[method];
  if (!handle) throw methodNotAllowed(Object.keys(HANDLERS));
  const { raw } = c.req;
  const headers = readTusHeaders(method, raw.headers, uploads.maxBytes);
  // PATCH requests and creations with bytes MUST use application/offset+octet-stream.
  if (!headers.isStream && (method === 'PATCH' || (method === 'POST' && bringsBytes(raw)))) throw NO_OFFSET_STREAM();
  const request = new TusRequest(c, services, uploads, headers, id || uploads.newId);
  const underLock = async () => {
    await using pass = services.gate.open();
    if (headers.isStream) await pass.enter();
    // Before the lock is requested, which interrupts the present writer.
    if (id) await uploads.find(id);
    await using _lock = await request.lock();
    return await handle(request);
  };
  try {
    return await request.finish(await underLock());
  } catch (error) {
    return await request.fail(error);
  }
}

/** Creates an upload. The Server MUST answer 201 and MUST set Location to the URL of the upload. */
async function createUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads, id } = request;
  const { length, isStream } = headers;
  const upload = await request.create();
  const Location = uploads.address(id);
  if (!isStream) return tusResponse(201, { Location });
  if (headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  // If the upload existed already, the body repeats its beginning.
  const offset = upload.offset > 0 ? upload.offset : await request.receive();
  // If bytes came with the creation, the response MUST include Upload-Offset.
  return tusResponse(201, { Location, 'Upload-Offset': offset });
}

/** Reads the state. MUST include Upload-Offset, Upload-Length if known, and the metadata as sent. */
async function readState(request: TusRequest): Promise<Response> {
  let upload = await request.find();
  // Its process was killed after the last byte: no PATCH request follows that would complete it.
  if (!upload.complete && upload.offset === upload.length) upload = await request.write();
  const { offset, length, metadata } = upload;
  return tusResponse(200, {
    'Upload-Offset': offset,
    // While the length is unknown, MUST set Upload-Defer-Length: 1.
    ...(length === undefined ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': length }),
    ...(metadata !== '' && { 'Upload-Metadata': metadata }),
  });
}

/** Appends bytes. The Server MUST answer 204 and MUST include Upload-Offset, the new offset. */
async function appendToUpload(request: TusRequest): Promise<Response> {
  const { headers, uploads } = request;
  const upload = await request.find();
  // If the offsets do not match, MUST answer 409 without modifying the upload.
  if (headers.offset !== upload.offset) throw OTHER_OFFSET();
  const { length = upload.length } = headers;
  // Once set, the length MUST NOT be changed. A client that was disconnected may declare it again.
  if (length !== undefined && length !== upload.length) {
    if (upload.length !== undefined || length < upload.offset) throw LENGTH_KNOWN();
    await request.declareLength(length);
  }
  if (upload.offset + headers.contentLength > (length ?? uploads.maxBytes)) throw UPLOAD_TOO_LONG();
  return tusResponse(204, { 'Upload-Offset': await request.receive() });
}

/** Terminates an upload. The Server SHOULD free its resources and MUST answer 204. */
async function terminateUpload(request: TusRequest): Promise<Response> {
  await request.find();
  await request.discard();
  return tusResponse(204);
}

export interface TusServices extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadLimiter;
}

/** The state of an upload that may not have begun. */
type UploadState = Pick<Upload, 'length' | 'offset' | 'metadata' | 'expiresAt' | 'complete'>;

/** The request for a new upload; without a length if that is deferred. */
export type Creation = Pick<TusHeaders, 'length' | 'metadata' | 'sent'>;

/** The uploads that a client may access. Take the lock of an upload before `begin`, `open` and `remove`. */
export interface Uploads {
  newId: string;
  /** True if clients know the URL of an upload before they create it. */
  isKnown: boolean;
  maxBytes: number;
  address(id: string): string;
  /** Creates an upload, or continues it where clients may create it twice. */
  begin(id: string, creation: Creation): Promise<Upload>;
  /** @throws {HttpError} if it does not exist for the client */
  find(id: string): Promise<UploadState>;
  /** Creates the upload if it does not exist. */
  open?(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs before the answer that an upload is complete. @returns further headers of that answer */
  completed?(id: string): Promise<Readonly<Record<string, string>>>;
}

/** One request to an upload. */
class TusRequest {
  readonly headers: TusHeaders;
  readonly uploads: Uploads;
  readonly id: string;
  readonly #c: Context;
  readonly #services: TusServices;
  readonly #stop = new AbortController();
  #upload: UploadState | undefined;
  #created = false;
  #body: BodyReader | undefined;
  /** True once the rest of the body is unwanted. */
  #stopped = false;
  #wasRead = false;

  constructor(c: Context, services: TusServices, uploads: Uploads, headers: TusHeaders, id: string) {
    this.#c = c;
    this.#services = services;
    this.uploads = uploads;
    this.headers = headers;
    this.id = id;
  }

  /** Takes the lock of the upload's writer. It is released early if another request asks for it. */
  async lock(): Promise<AsyncDisposable> {
    const held = await lockUpload(this.#services.locks, this.id, {
      onWanted: () => this.#stopReading(),
      // The connection that held the lock broke.
      onLost: () => this.#stop.abort(DATABASE_UNAVAILABLE()),
    });
    if (!held) throw UPLOAD_LOCKED();
    return { [Symbol.asyncDispose]: held.release };
  }

  async create(): Promise<UploadState> {
    const upload = await this.uploads.begin(this.id, this.headers);
    this.#upload = upload;
    this.#created = true;
    // No other request will complete an empty upload.
    return this.headers.length === 0 && !upload.complete ? this.write() : upload;
  }

  async find(): Promise<UploadState> {
    this.#upload = await this.uploads.find(this.id);
    return this.#upload;
  }

  async declareLength(length: number): Promise<void> {
    await this.uploads.open?.(this.id);
    await declareLength(this.#services.database, this.id, length);
  }

  /** Receives the body. @returns the new offset, up to which all bytes are durable */
  async receive(): Promise<number> {
    this.#body = new BodyReader(this.#c.req.raw, this.#services.config.uploadIdleMs);
    if (this.#stopped) this.#stopReading();
    if (this.#upload?.complete) {
      if (await this.#read()) throw UPLOAD_TOO_LONG();
      return this.#upload.offset;
    }
    await this.uploads.open?.(this.id);
    try {
      return (await this.write()).offset;
    } finally {
      this.#stopReading();
    }
  }

  /** Writes the body, if any, and completes an upload that has all its bytes. */
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

  async discard(): Promise<void> {
    await this.uploads.remove(this.id);
    this.#services.digests.forget(this.id);
    this.#upload = undefined;
  }

  /** Completes the answer. Release the upload's lock first. */
  async finish(response: Response): Promise<Response> {
    const upload = this.#upload;
    // Upload-Expires MUST be included in every PATCH response if the upload is going to expire.
    if (upload) response.headers.set('Upload-Expires', upload.expiresAt.toUTCString());
    const more = upload?.complete ? await this.uploads.completed?.(this.id) : undefined;
    for (const [name, value] of Object.entries(more ?? {})) response.headers.set(name, value);
    return this.#close(response);
  }

  /** Answers a request that was refused or failed. @throws {HttpError} */
  async fail(error: unknown): Promise<Response> {
    const { log } = this.#c.var;
    // No client knows the URL of this upload.
    if (this.#created && !this.uploads.isKnown)
      await this.discard().catch((err) =>
        log.warn({ err }, 'could not delete an upload that no client knows; it remains until it expires'),
      );
    return this.#close(answerUploadFailure(this.#c, await this.#explain(error)));
  }

  async #explain(error: unknown): Promise<unknown> {
    const { log } = this.#c.var;
    if (error instanceof ClientDisconnected) {
      log.info('the client disconnected during an upload');
      abortedUploads.inc({ cause: 'client_gone' });
      // Only the log shows this status.
      return new HttpError(400, '', { Connection: 'close' });
    }
    if (error instanceof UploadLost) return UPLOAD_LOCKED();
    if (!(error instanceof UploadGone)) return error;
    log.warn({ upload: this.id }, 'the object of an upload is missing; the upload was deleted');
    await this.discard();
    return UPLOAD_GONE();
  }

  async #read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#body?.read();
    if (chunk || !this.#body) return chunk;
    if (!this.#stopped) this.#wasRead = true;
    // Bytes with a checksum are kept completely or not at all, and another request wants to write.
    else if (this.headers.checksum) throw UPLOAD_LOCKED();
    return undefined;
  }

  /** Treats the body as finished, even if reading has not begun. */
  #stopReading(): void {
    this.#stopped = true;
    void this.#body?.cancel();
  }

  /** Closes the connection of a client that may still be sending. */
  #close(response: Response): Response {
    if (this.#body && !this.#wasRead) response.headers.set('Connection', 'close');
    return response;
  }
}
