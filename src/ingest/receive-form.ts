import { createHash } from 'node:crypto';
import type { Config } from '#platform/config/config.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { HttpError, refusal } from '#platform/http/errors/errors.ts';
import { ByteCollector } from '#platform/http/form/byte-collector.ts';
import type { FilePart, FormLimits } from '#platform/http/form/multipart.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { type ReceivedFile, StagedFiles } from './staged-files.ts';
import type { UploadLimiter, UploadPass } from './upload-limiter.ts';

/**
 * Refuses an upload for which the storage certainly lacks space before its body is read, because many clients wait for
 * `100 Continue`. Longer bodies than allowed are refused later with another error.
 *
 * @param copies the number of stored copies
 * @throws {StorageRefused}
 */
export async function requireDiskSpace(
  { c }: EndpointRequest,
  { config, storage }: { config: Pick<Config, 'maxUploadBytes'>; storage: Pick<ObjectStorage, 'requireRoom'> },
  copies = 1,
): Promise<void> {
  const length = Number(c.req.header('Content-Length'));
  if (length > 0 && length <= config.maxUploadBytes) await storage.requireRoom(copies * length);
}

const TEXT_TOO_LONG = refusal(
  413,
  (field: string, bytes: number) => `The file in the part '${field}' is longer than ${bytes} bytes.`,
  ['dublinCore', 2 ** 20],
);

/** A form up to this size may have no files; it counts as an upload only from its first file on. */
const SMALL_BYTES = 64 * 1024;
type UploadLimits = Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;

export interface FormParts {
  config: UploadLimits;
  storage: ObjectStorage;
  staging: StagingLedger;
  gate: UploadLimiter;
}

/** The treatment of a file: it is stored, read as the text of a field, or discarded. */
type FileTreatment = 'store' | 'text' | 'drop';

interface FormOptions {
  /** Detects the media types of the files; by default those of recordings. */
  detect?: (head: Uint8Array) => string;
  /** Returns the treatment of a file before it is read; by default it is stored. The form is refused if it rejects. */
  takes?: (file: { field: string; filename: string }) => Promise<FileTreatment>;
  /** Runs for each field before the next part is read. The form is refused if it throws. */
  onField?: (name: string, value: string) => void;
  /** The time that it waits for a free upload slot; 0 by default. */
  waitMs?: number;
  /** The limits of fields and files, if not those of an event's form. */
  most?: Partial<Pick<FormLimits, 'fieldBytes' | 'fields' | 'files'>>;
  /** Rewords refusals of the form for the endpoint's protocol. */
  reword?: (refusal: HttpError) => HttpError;
}

/**
 * The fields of a form, and its files in the order of their parts. It counts as an upload until its disposal, which
 * deletes the stored files unless `keep` was called.
 */
export interface ReceivedForm extends AsyncDisposable {
  fields: Map<string, string>;
  files: ReceivedFile[];
  texts: { field: string; text: string }[];
  /** Counts the request as an upload, for callers that store more. */
  enter: UploadPass['enter'];
  /** Call after the files were committed to rows. */
  keep(): void;
}

/**
 * Receives a form: the files of the declared parts stream into storage. If that fails, they are deleted.
 *
 * @throws {HttpError} for client errors; 503 for too many concurrent uploads
 * @throws {ClientDisconnected} if the client disconnected
 * @throws {StorageRefused}
 * @throws {StagingExpired} as soon as one of the files was swept
 */
export async function receiveForm(
  request: EndpointRequest,
  options: FormOptions,
  parts: FormParts,
): Promise<ReceivedForm> {
  const { detect, takes = async () => 'store', onField, most, reword = (error) => error } = options;
  const { gate, config } = parts;
  await using owned = new AsyncDisposableStack();
  const { enter } = owned.use(gate.open(options.waitMs));
  const staged = owned.use(new StagedFiles(parts, request.c.var.principal.username));
  if (!isSmall(request)) {
    await enter();
    await requireDiskSpace(request, parts);
  }
  const limits = { ...limitsOf(config), ...most };
  const expectedBytes = Number(request.c.req.header('Content-Length')) || limits.fileBytes;
  const files: ReceivedFile[] = [];
  const texts: ReceivedForm['texts'] = [];
  let started = 0;
  const onFile = async ({ field, filename, stream }: FilePart) => {
    staged.requireAll();
    const taking = await takes({ field, filename });
    if (taking === 'drop') return drain(stream);
    if (taking === 'text') {
      const text = await textOf(stream, field, limits.fieldBytes);
      onField?.(field, text);
      texts.push({ field, text });
      return;
    }
    await enter();
    // The order of the parts is kept even if their handlers overlap.
    const index = started++;
    files[index] = await staged.store({ field, filename, stream, expectedBytes, detect });
  };
  const sent = await request.files(limits, onFile, onField).catch((error) => {
    throw error instanceof HttpError ? reword(error) : error;
  });
  const held = owned.move();
  return {
    fields: new Map([...sent, ...texts.map(({ field, text }) => [field, text] as const)]),
    files,
    texts,
    enter,
    keep: () => staged.keep(),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** The content that distinguishes one form from another. */
export interface FormDigest {
  fields: Map<string, string>;
  files: Pick<ReceivedFile, 'field' | 'filename' | 'size' | 'sha256'>[];
}

/**
 * Reads a form like `receiveForm`, but stores nothing: to compare a repeated request with the first one.
 *
 * @throws {HttpError} for client errors; 503 for too many concurrent uploads
 * @throws {ClientDisconnected} if the client disconnected
 */
export async function digestForm(
  request: EndpointRequest,
  { config, gate }: Pick<FormParts, 'config' | 'gate'>,
): Promise<FormDigest> {
  await using pass = gate.open();
  if (!isSmall(request)) await pass.enter();
  const files: FormDigest['files'] = [];
  let started = 0;
  const fields = await request.files(limitsOf(config), async (part) => {
    await pass.enter();
    const index = started++;
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of part.stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      hash.update(chunk);
    }
    const { field, filename } = part;
    files[index] = { field, filename, size, sha256: hash.digest('hex') };
  });
  return { fields, files };
}

function isSmall({ c }: EndpointRequest): boolean {
  const length = c.req.header('Content-Length');
  return length !== undefined && Number(length) <= SMALL_BYTES;
}

function limitsOf({ maxUploadBytes, uploadIdleMs }: UploadLimits): FormLimits {
  return {
    fieldBytes: 2 ** 20,
    // Clients send unknown fields as well.
    fields: 1000,
    files: 10,
    fileBytes: maxUploadBytes,
    idleMs: uploadIdleMs,
  };
}

async function textOf(stream: AsyncIterable<unknown>, field: string, maxBytes: number): Promise<string> {
  const collected = new ByteCollector(maxBytes);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (!collected.add(chunk)) throw TEXT_TOO_LONG(field, maxBytes);
  }
  return new TextDecoder().decode(collected.bytes);
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
