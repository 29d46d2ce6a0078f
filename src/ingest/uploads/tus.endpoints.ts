import type { Context } from 'hono';
import { z } from 'zod';
import { apiRole } from '../../access/roles/api-roles.ts';
import type { Config } from '../../config.ts';
import type { Locks } from '../../database/locks.ts';
import { inTransaction } from '../../database/retry.ts';
import { FLAVOR } from '../../events/flavor.ts';
import { defineEndpoint, type EndpointRequest } from '../../http/endpoint/endpoint.ts';
import { refusal } from '../../http/endpoint/refusal.ts';
import { BodyReader } from '../../http/form/body.ts';
import { safeFilename } from '../../http/form/filename.ts';
import { answerFailure, UPLOAD_REFUSALS } from '../external-api/answer-failure.ts';
import type { UploadGate } from '../gate.ts';
import { ALGORITHMS, parseChecksum } from './checksum.ts';
import { answerTus, type Deeds, type Metadata } from './protocol.ts';
import { receive, TooMuch, UploadGone, type UploadParts } from './receive.ts';
import { NO_UPLOAD } from './take.ts';
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

const PATH = '/uploads';
/** How long whoever writes to an upload may take to let go of it. */
const LOCK_MS = 5_000;
const OFFSET_STREAM = 'application/offset+octet-stream';
const NAME = 'upload';

export const UPLOAD_LOCKED = refusal(423, 'Another request is writing to the upload. Try again in a moment.');
export const UPLOAD_GONE = refusal(410, 'The upload has been given up.');
export const UPLOAD_TOO_LONG = refusal(413, 'More came than the upload was declared to have.');
export const NO_OFFSET_STREAM = refusal(415, `The content type must be ${OFFSET_STREAM}.`, [], {
  Connection: 'close',
});
export const BAD_FLAVOR = refusal(
  400,
  "The 'flavor' in Upload-Metadata must be a type and a subtype with a slash between them, such as presenter/source.",
);

interface Services extends UploadParts {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs'>;
  locks: Locks;
  gate: UploadGate;
}

const params = { upload_id: z.string().meta({ description: 'The last part of its address.' }) };
const access = apiRole('EVENTS_CREATE');
const refusals = [UPLOAD_LOCKED, UPLOAD_GONE, NO_UPLOAD];

/** What of the protocol this server has. */
export const uploadOptions = defineEndpoint({
  method: 'options',
  path: PATH,
  access,
  summary: 'Which extensions of tus there are',
  answers: { 204: { description: 'In the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
  handle: answer,
});

export const createUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  access,
  summary: 'Begin an upload',
  description:
    'Resumable uploads by [tus 1.0.0](https://tus.io/protocols/resumable-upload). Of `Upload-Metadata` the values `filename`, `filetype` and `flavor` (such as `presenter/source`) are known. A finished upload becomes a track by the form field `uploads` of `POST /api/events` and `POST /api/events/{event_id}`.',
  answers: { 201: { description: 'It has begun; `Location` says where.' } },
  refusals: [BAD_FLAVOR, UPLOAD_TOO_LONG, ...UPLOAD_REFUSALS],
  handle: answer,
});

export const uploadState = defineEndpoint({
  method: 'get',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'How far an upload is',
  description: 'To be asked with `HEAD`, as tus has it.',
  params,
  answers: { 200: { description: 'In the headers `Upload-Offset` and `Upload-Length`.' } },
  refusals,
  handle: answer,
});

export const appendToUpload = defineEndpoint({
  method: 'patch',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'Send more of an upload',
  params,
  answers: { 204: { description: 'It is durable up to `Upload-Offset`.' } },
  refusals: [...refusals, NO_OFFSET_STREAM, UPLOAD_TOO_LONG, ...UPLOAD_REFUSALS],
  handle: answer,
});

export const removeUpload = defineEndpoint({
  method: 'delete',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'Give an upload up',
  params,
  answers: { 204: { description: 'Nothing of it is kept.' } },
  refusals,
  handle: answer,
});

async function answer({ c }: EndpointRequest, services: Services): Promise<Response> {
  if (c.req.method === 'PATCH' && c.req.header('Content-Type') !== OFFSET_STREAM) throw NO_OFFSET_STREAM();
  const work = new TusRequest(c, services);
  const receives = c.req.method === 'PATCH' || c.req.header('Content-Type') === OFFSET_STREAM;
  try {
    const answered = services.gate.pass((enter) => {
      if (receives) enter();
      return answerTus(c.req.raw, newUploadId(), work.deeds);
    });
    return work.finish(await answered);
  } catch (error) {
    return work.finish(answerFailure(c, inWords(error)));
  }
}

/** What one request does to an upload. */
class TusRequest {
  readonly #c: Context;
  readonly #services: Services;
  readonly #stop = new AbortController();
  #body: BodyReader | undefined;
  /** As last seen. */
  #upload: Upload | undefined;

  constructor(c: Context, services: Services) {
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

  /** The answer with what is known besides. */
  finish(answered: Response): Response {
    const response = new Response(answered.body, answered);
    const { headers } = response;
    // Other layers see to it.
    for (const name of [...headers.keys()]) if (name.startsWith('access-control-')) headers.delete(name);
    headers.set('Tus-Resumable', '1.0.0');
    headers.set('Cache-Control', 'no-store');
    if (response.status === 412) headers.set('Tus-Version', '1.0.0');
    if (this.#c.req.method === 'OPTIONS') headers.set('Tus-Checksum-Algorithm', ALGORITHMS.join(','));
    if (this.#upload && response.ok) headers.set('Upload-Expires', this.#upload.expiresAt.toUTCString());
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
        metadata: this.#c.req.header('Upload-Metadata') ?? '',
        length,
        lifetimeMs,
      };
      this.#upload = await inTransaction(database, (trx) => insertUpload(trx, id, upload, staging));
    } catch (error) {
      await staging.discard([key]);
      throw error;
    }
    // Nothing else will come of it.
    if (length === 0) await this.#receive(id);
  }

  async #find(id: string) {
    const upload = await findUpload(this.#services.database, id, this.#c.var.principal);
    if (!upload) throw NO_UPLOAD(id);
    this.#upload = upload;
    const { length, offset, metadata } = upload;
    return { length, offset, metadata };
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
    const { database, digests } = this.#services;
    await this.#find(id);
    await inTransaction(database, (trx) => discardUpload(trx, id));
    digests.forget(id);
    this.#upload = undefined;
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
