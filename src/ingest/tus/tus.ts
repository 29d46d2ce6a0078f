import type { Context } from 'hono';
import type { Config } from '#platform/config/config.ts';
import type { Locks } from '#platform/database/locks.ts';
import { DATABASE_UNAVAILABLE } from '#platform/http/app/error-handler.ts';
import { BodyReader } from '#platform/http/form/request-body.ts';
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
  type TusMethod,
  tusResponse,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  UPLOAD_TOO_LONG,
} from './tus-headers.ts';
import { declareLength, lockUpload, type Upload, UploadLost, type UploadParts } from './tus-uploads.ts';

export interface TusServices extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadLimiter;
}

/** The state of an upload that may not have begun. */
type UploadState = Pick<Upload, 'length' | 'offset' | 'metadata' | 'expiresAt' | 'complete'>;

/** The uploads that a client may access. Take the lock of an upload before `begin`, `open` and `remove`. */
export interface Uploads {
  newId: string;
  /** True if clients know the URL of an upload before they create it. */
  isKnown: boolean;
  maxBytes: number;
  address(id: string): string;
  /** Creates an upload, or continues it where clients may create it twice. */
  begin(id: string, creation: Pick<TusHeaders, 'length' | 'metadata' | 'sent'>): Promise<Upload>;
  /** @throws {HttpError} if it does not exist for the client */
  find(id: string): Promise<UploadState>;
  /** Creates the upload if it does not exist. @param sent `Upload-Metadata` of a client that sends PATCH first */
  open?(id: string, sent: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs before the answer that an upload is complete. @returns further headers of that answer */
  completed?(id: string): Promise<Readonly<Record<string, string>>>;
}

const ACTIONS = { POST: 'create', HEAD: 'readState', PATCH: 'append', DELETE: 'terminate' } as const;

/**
 * Answers a request of tus 1.0.0, https://tus.io/protocols/resumable-upload.
 *
 * @param method the method after `X-HTTP-Method-Override`
 * @param id the upload in the URL of the request, if any
 * @throws {HttpError}
 */
export async function answerTusRequest(
  method: TusMethod,
  c: Context,
  services: TusServices,
  uploads: Uploads,
  id = '',
): Promise<Response> {
  if (method === 'OPTIONS') return describeServer(uploads.maxBytes);
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
    return await request[ACTIONS[method]]();
  };
  try {
    return await request.finish(await underLock());
  } catch (error) {
    return await request.fail(error);
  }
}

/** One request to an upload. Comments with MUST and SHOULD quote the specification. */
class TusRequest {
  readonly #c: Context;
  readonly #services: TusServices;
  readonly #uploads: Uploads;
  readonly #headers: TusHeaders;
  readonly #id: string;
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
    this.#uploads = uploads;
    this.#headers = headers;
    this.#id = id;
  }

  /** Takes the lock of the upload's writer. It is released early if another request asks for it. */
  lock(): Promise<AsyncDisposable> {
    return lockUpload(this.#services.locks, this.#id, {
      onWanted: () => this.#stopReading(),
      // The connection that held the lock broke.
      onLost: () => this.#stop.abort(DATABASE_UNAVAILABLE()),
    });
  }

  /** Creates the upload. The Server MUST answer 201 and MUST set Location to the URL of the upload. */
  async create(): Promise<Response> {
    const { length, isStream, contentLength } = this.#headers;
    let upload: UploadState = await this.#uploads.begin(this.#id, this.#headers);
    this.#upload = upload;
    this.#created = true;
    // No other request will complete an empty upload.
    if (length === 0 && !upload.complete) upload = await this.#write();
    const Location = this.#uploads.address(this.#id);
    if (!isStream) return tusResponse(201, { Location });
    if (contentLength > (length ?? this.#uploads.maxBytes)) throw UPLOAD_TOO_LONG();
    // If the upload existed already, the body repeats its beginning.
    const offset = upload.offset > 0 ? upload.offset : await this.#receive(upload);
    // If bytes came with the creation, the response MUST include Upload-Offset.
    return tusResponse(201, { Location, 'Upload-Offset': offset });
  }

  /** Reads the state. MUST include Upload-Offset, Upload-Length if known, and the metadata as sent. */
  async readState(): Promise<Response> {
    let upload = await this.#find();
    // Its process was killed after the last byte: no PATCH request follows that would complete it.
    if (!upload.complete && upload.offset === upload.length) upload = await this.#write();
    const { offset, length, metadata } = upload;
    return tusResponse(200, {
      'Upload-Offset': offset,
      // While the length is unknown, MUST set Upload-Defer-Length: 1.
      ...(length === undefined ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': length }),
      ...(metadata !== '' && { 'Upload-Metadata': metadata }),
    });
  }

  /** Appends bytes. The Server MUST answer 204 and MUST include Upload-Offset, the new offset. */
  async append(): Promise<Response> {
    const upload = await this.#find();
    const { offset, contentLength, sent } = this.#headers;
    // If the offsets do not match, MUST answer 409 without modifying the upload.
    if (offset !== upload.offset) throw OTHER_OFFSET();
    // Once set, the length MUST NOT be changed. A client that was disconnected may declare it again.
    const length = this.#headers.length === upload.length ? undefined : this.#headers.length;
    if (length !== undefined && (upload.length !== undefined || length < offset)) throw LENGTH_KNOWN();
    if (offset + contentLength > (length ?? upload.length ?? this.#uploads.maxBytes)) throw UPLOAD_TOO_LONG();
    await this.#uploads.open?.(this.#id, sent);
    if (length !== undefined) await declareLength(this.#services.database, this.#id, length);
    return tusResponse(204, { 'Upload-Offset': await this.#receive(upload) });
  }

  /** Terminates the upload. The Server SHOULD free its resources and MUST answer 204. */
  async terminate(): Promise<Response> {
    await this.#find();
    await this.#discard();
    return tusResponse(204);
  }

  /** Completes the answer. Release the upload's lock first. */
  async finish(response: Response): Promise<Response> {
    const upload = this.#upload;
    // Upload-Expires MUST be included in every PATCH response if the upload is going to expire.
    if (upload) response.headers.set('Upload-Expires', upload.expiresAt.toUTCString());
    const more = upload?.complete ? await this.#uploads.completed?.(this.#id) : undefined;
    for (const [name, value] of Object.entries(more ?? {})) response.headers.set(name, value);
    // The client may still be sending.
    if (this.#body && !this.#wasRead) response.headers.set('Connection', 'close');
    return response;
  }

  /** Answers a request that was refused or failed. @throws {HttpError} */
  async fail(error: unknown): Promise<Response> {
    const { log } = this.#c.var;
    // No client knows the URL of this upload.
    if (this.#created && !this.#uploads.isKnown)
      await this.#discard().catch((err) =>
        log.warn({ err }, 'could not delete an upload that no client knows; it remains until it expires'),
      );
    let cause = error;
    if (error instanceof UploadLost) cause = UPLOAD_LOCKED();
    if (error instanceof UploadGone) {
      log.warn({ upload: this.#id }, 'the object of an upload is missing; the upload was deleted');
      await this.#discard();
      cause = UPLOAD_GONE();
    }
    return answerUploadFailure(this.#c, cause, { keeps: true });
  }

  async #find(): Promise<UploadState> {
    this.#upload = await this.#uploads.find(this.#id);
    return this.#upload;
  }

  async #discard(): Promise<void> {
    await this.#uploads.remove(this.#id);
    this.#services.digests.forget(this.#id);
    this.#upload = undefined;
  }

  /** Receives the body. @returns the new offset, up to which all bytes are durable */
  async #receive({ complete, offset }: UploadState): Promise<number> {
    this.#body = new BodyReader(this.#c.req.raw, this.#services.config.uploadIdleMs);
    if (this.#stopped) this.#stopReading();
    if (complete) {
      if (await this.#read()) throw UPLOAD_TOO_LONG();
      return offset;
    }
    try {
      return (await this.#write()).offset;
    } finally {
      this.#stopReading();
    }
  }

  /** Writes the body, if any, and completes an upload that has all its bytes. */
  async #write(): Promise<UploadState> {
    this.#upload = await receive(this.#services, this.#id, {
      body: { read: () => this.#read(), maxBytes: this.#uploads.maxBytes },
      verify: this.#body && this.#headers.checksum,
      signal: this.#stop.signal,
    });
    return this.#upload;
  }

  async #read(): Promise<Uint8Array | undefined> {
    const chunk = await this.#body?.read();
    if (chunk || !this.#body) return chunk;
    if (!this.#stopped) this.#wasRead = true;
    // Bytes with a checksum are kept completely or not at all, and another request wants to write.
    else if (this.#headers.checksum) throw UPLOAD_LOCKED();
    return undefined;
  }

  /** Treats the body as finished, even if reading has not begun. */
  #stopReading(): void {
    this.#stopped = true;
    void this.#body?.cancel();
  }
}
