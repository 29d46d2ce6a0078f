import type { Context } from 'hono';
import type { Config } from '../../config.ts';
import type { Locks } from '../../database/locks.ts';
import { inTransaction } from '../../database/retry.ts';
import { FLAVOR } from '../../events/flavor.ts';
import { BodyReader, hasBody } from '../../http/form/body.ts';
import { safeFilename } from '../../http/form/filename.ts';
import { answerFailure } from '../external-api/answer-failure.ts';
import type { UploadGate } from '../gate.ts';
import { ALGORITHMS, parseChecksum } from './checksum.ts';
import { answerTus, type Deeds, type Metadata } from './protocol.ts';
import { receive, TooMuch, UploadGone, type UploadParts } from './receive.ts';
import { NO_UPLOAD } from './take.ts';
import { readTusHeaders } from './tus-headers.ts';
import {
  BAD_FLAVOR,
  NO_OFFSET_STREAM,
  OFFSET_STREAM,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  UPLOAD_TOO_LONG,
} from './tus-refusals.ts';
import {
  beginWriting,
  declareLength,
  discardUpload,
  findUpload,
  insertUpload,
  newUploadId,
  type Upload,
  UploadLost,
} from './uploads.ts';

/** Where uploads are. */
export const PATH = '/uploads';
/** How long whoever writes to an upload may take to let go of it. */
const LOCK_MS = 5_000;
const NAME = 'upload';
const READING = new Set(['GET', 'HEAD']);

/** What answering works with. */
export interface TusServices extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadGate;
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
  id = '',
): Promise<Response> {
  const { raw } = c.req;
  const maxBytes = services.config.maxUploadBytes;
  const headers = method === 'OPTIONS' ? new Headers() : readTusHeaders(method, raw.headers, maxBytes);
  const isStream = headers.get('Content-Type') === OFFSET_STREAM;
  if (!isStream && (method === 'PATCH' || (method === 'POST' && hasBody(raw)))) throw NO_OFFSET_STREAM();
  const work = new TusRequest(c, services);
  try {
    const answered = services.gate.pass(async (enter) => {
      if (isStream) enter();
      if (id) await work.prepare(id, headers);
      const url = `http://localhost/${encodeURIComponent(id)}`;
      return answerTus(new Request(url, { method, headers }), newUploadId(), work.deeds);
    });
    return work.finish(await answered);
  } catch (error) {
    await work.forsake();
    return answerFailure(c, inWords(error));
  }
}

/** What one request does to an upload. */
class TusRequest {
  readonly #c: Context;
  readonly #services: TusServices;
  readonly #stop = new AbortController();
  #body: BodyReader | undefined;
  /** As last seen. */
  #upload: Upload | undefined;
  /** Made by this request. */
  #created: string | undefined;

  constructor(c: Context, services: TusServices) {
    this.#c = c;
    this.#services = services;
  }

  get deeds(): Deeds {
    const { publicUrl, maxUploadBytes } = this.#services.config;
    return {
      address: (id) => `${publicUrl}${PATH}/${id}`,
      maxBytes: maxUploadBytes,
      create: (id, asked) => this.#create(id, asked),
      find: (id) => this.#find(id),
      receive: (id) => this.#receive(id),
      declareLength: (id, length) => declareLength(this.#services.database, id, length),
      remove: (id) => this.#remove(id),
      lock: (id) => this.#lock(id),
    };
  }

  /** Before anybody is asked to let go of the upload: whether it is there, and as long as it was. */
  async prepare(id: string, headers: Headers): Promise<void> {
    const { length } = await this.#find(id);
    if (headers.get('Upload-Length') === String(length)) headers.delete('Upload-Length');
  }

  /** An upload whose address nobody has been told is of no use. */
  async forsake(): Promise<void> {
    if (this.#created === undefined) return;
    await this.#discard(this.#created).catch((error) => {
      this.#c.var.log.warn({ err: error }, 'an upload that nobody knows of stays until it expires');
    });
  }

  /** The answer with what is known besides. */
  finish(answered: Response): Response {
    const response = new Response(answered.body, answered);
    const { headers } = response;
    // Other layers see to it.
    for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name);
    if (this.#c.req.method === 'OPTIONS') headers.set('Tus-Checksum-Algorithm', ALGORITHMS.join(','));
    if (!this.#upload) return response;
    headers.set('Upload-Expires', this.#upload.expiresAt.toUTCString());
    const { metadata } = this.#upload;
    // As it was sent, to the blank.
    if (READING.has(this.#c.req.method) && metadata) headers.set('Upload-Metadata', metadata);
    return response;
  }

  async #create(
    id: string,
    { length, metadata }: { length: number | undefined; metadata: Metadata },
  ): Promise<void> {
    const { database, storage, staging, lifetimeMs, config } = this.#services;
    const { principal } = this.#c.var;
    const flavor = metadata.flavor?.trim() || undefined;
    if (flavor !== undefined && !FLAVOR.test(flavor)) throw BAD_FLAVOR();
    const key = await staging.stage('track');
    try {
      const handle = await storage.begin(key, {
        mediatype: 'application/octet-stream',
        expectedBytes: length ?? config.maxUploadBytes,
      });
      const upload = {
        principal,
        key,
        handle,
        filename: safeFilename(metadata.filename ?? '', NAME),
        flavor,
        metadata: this.#c.req.header('Upload-Metadata')?.trim() ?? '',
        length,
        lifetimeMs,
      };
      this.#upload = await inTransaction(database, (trx) => insertUpload(trx, id, upload, staging));
      this.#created = id;
    } catch (error) {
      await staging.discard([key]);
      throw error;
    }
    // Nothing else will come of it.
    if (length === 0) await this.#receive(id);
  }

  async #find(id: string): Promise<Upload> {
    const upload = await findUpload(this.#services.database, id, this.#c.var.principal);
    if (!upload) throw NO_UPLOAD(id);
    this.#upload = upload;
    return upload;
  }

  async #receive(id: string): Promise<number> {
    const { database, config } = this.#services;
    const verify = parseChecksum(this.#c.req.header('Upload-Checksum'));
    const body = new BodyReader(this.#c.req.raw, config.uploadIdleMs);
    this.#body = body;
    const upload = await beginWriting(database, id);
    this.#upload = await receive(this.#services, upload, {
      read: () => body.read(),
      verify,
      maxBytes: config.maxUploadBytes,
      signal: this.#stop.signal,
    });
    return this.#upload.offset;
  }

  async #remove(id: string): Promise<void> {
    await this.#find(id);
    await this.#discard(id);
    this.#upload = undefined;
  }

  async #discard(id: string): Promise<void> {
    const { database, digests } = this.#services;
    await inTransaction(database, (trx) => discardUpload(trx, id));
    digests.forget(id);
  }

  async #lock(id: string): Promise<() => Promise<void>> {
    const holder = {
      // What has come until then is kept.
      onWanted: () => void this.#body?.cancel(),
      onLost: () => this.#stop.abort(new UploadLost('The lock on the upload is lost.')),
    };
    const held = await this.#services.locks.take(`upload ${id}`, holder, LOCK_MS);
    if (!held) throw UPLOAD_LOCKED();
    return held.release;
  }
}

function inWords(error: unknown): unknown {
  if (error instanceof TooMuch) return UPLOAD_TOO_LONG();
  if (error instanceof UploadGone) return UPLOAD_GONE();
  if (error instanceof UploadLost) return UPLOAD_LOCKED();
  return error;
}
