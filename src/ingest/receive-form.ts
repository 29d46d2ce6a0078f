import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import type { EndpointRequest } from '../http/endpoint/endpoint.ts';
import { refusal } from '../http/endpoint/refusal.ts';
import { HttpError } from '../http/errors.ts';
import type { FormLimits } from '../http/form/multipart.ts';
import { detectMediaType, HEAD_BYTES } from '../media/signature.ts';
import type { ObjectStorage } from '../storage/port.ts';
import { putMeasured } from '../storage/put-measured.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { UploadGate } from './gate.ts';

export const EMPTY_FILE = refusal(
  400,
  (filename: string, field: string) => `The file '${filename}' in the part '${field}' is empty.`,
  ['camera.mp4', 'presenter'],
);

/** A form of at most so many bytes may be fields alone: it is no upload before its first file comes. */
const SMALL_BYTES = 64 * 1024;
/** What a track is, is known when its head has been stored. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** What a form with files may hold at most. */
type UploadLimits = Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;

/** What receives forms with files. */
interface FormParts {
  config: UploadLimits;
  storage: ObjectStorage;
  staging: StagingLedger;
  gate: UploadGate;
}

/** How a form with files is received. */
export interface FormOptions {
  /** Tells the media types of the files; recordings' unless given. */
  detect?: (head: Uint8Array) => string;
  /** Asked before a wanted file is stored: one that is not taken is dropped as well. The form is refused when it rejects. */
  admits?: () => Promise<boolean>;
  /** Says what is wrong with the form itself in words of the door. */
  reword?: (refusal: HttpError) => HttpError;
}

/** A file that is stored and staged, and not yet part of an event. */
export interface ReceivedFile {
  /** The form field it came in. */
  field: string;
  filename: string;
  mediatype: string;
  objectKey: string;
  /** In bytes. */
  size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** What a client sent: the form's fields, and its files in the order of their parts. */
export interface ReceivedForm {
  fields: Map<string, string>;
  files: ReceivedFile[];
}

/**
 * Receives a form with files: those of the declared parts stream into storage. Then `accept` makes something of them.
 * Whatever goes wrong, there or before, nothing that was stored stays.
 *
 * @returns what `accept` returns
 * @throws {HttpError} what the client did wrong; 503 when too many send recordings already
 * @throws {ClientGone} when it went away
 * @throws {StorageRefused}
 * @throws {StagingExpired} as soon as one of the files has been swept
 */
export function receiveForm<T>(
  request: EndpointRequest,
  options: FormOptions,
  parts: FormParts,
  accept: (form: ReceivedForm) => Promise<T>,
): Promise<T> {
  return parts.gate.pass((enter) => {
    if (!isSmall(request)) enter();
    const { admits = async () => true } = options;
    const enters = async () => {
      const admitted = await admits();
      if (admitted) enter();
      return admitted;
    };
    return receive(request, { ...options, admits: enters }, parts, accept);
  });
}

async function receive<T>(
  request: EndpointRequest,
  {
    detect = detectMediaType,
    admits,
    reword = (error) => error,
  }: FormOptions & Required<Pick<FormOptions, 'admits'>>,
  { config, storage, staging }: FormParts,
  accept: (form: ReceivedForm) => Promise<T>,
): Promise<T> {
  const limits = limitsOf(config);
  const expectedBytes = Number(request.c.req.header('Content-Length')) || limits.fileBytes;
  const staged: string[] = [];
  const files: ReceivedFile[] = [];
  // One file that is lost makes the others useless: whoever sends them is to know before the end.
  const lost = new AbortController();
  let started = 0;
  try {
    const parts = request.files(limits, async ({ field, filename, stream }) => {
      lost.signal.throwIfAborted();
      if (!(await admits())) return drain(stream);
      // Parts are handled in turn, but may overlap at their ends.
      const index = started++;
      const objectKey = await staging.stage('track', (reason) => lost.abort(reason));
      staged.push(objectKey);
      const options = {
        mediatype: UNKNOWN_TYPE,
        expectedBytes,
        headBytes: HEAD_BYTES,
        signal: lost.signal,
        disposable: true,
        onDoubt: () => staging.doubt(objectKey),
      };
      const { head, ...measured } = await putMeasured(storage, objectKey, stream, options);
      if (measured.size === 0) throw EMPTY_FILE(filename, field);
      files[index] = { field, filename, mediatype: detect(head), objectKey, ...measured };
    });
    const fields = await parts.catch((error) => {
      throw error instanceof HttpError ? reword(error) : error;
    });
    return await accept({ fields, files });
  } catch (error) {
    await staging.discard(staged);
    throw error;
  }
}

/** What tells a form with files from another; `sha256` stands for the bytes of a file. */
export interface FormDigest {
  fields: Map<string, string>;
  files: Pick<ReceivedFile, 'field' | 'filename' | 'size' | 'sha256'>[];
}

/**
 * Reads a form as `receiveForm` does, but stores nothing: for a repeated request, which only has to be told from the
 * first.
 *
 * @throws {HttpError} what the client did wrong; 503 when too many send recordings already
 * @throws {ClientGone} when it went away
 */
export function digestForm(
  request: EndpointRequest,
  { config, gate }: Pick<FormParts, 'config' | 'gate'>,
): Promise<FormDigest> {
  return gate.pass((enter) => {
    if (!isSmall(request)) enter();
    return digest(request, config, enter);
  });
}

async function digest(
  request: EndpointRequest,
  config: UploadLimits,
  enter: () => void,
): Promise<FormDigest> {
  const files: FormDigest['files'] = [];
  let started = 0;
  const fields = await request.files(limitsOf(config), async (part) => {
    enter();
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

/** The limits of a form with recordings in it. */
function limitsOf({ maxUploadBytes, uploadIdleMs }: UploadLimits): FormLimits {
  return {
    fieldBytes: 2 ** 20,
    fields: 20,
    files: 10,
    fileBytes: maxUploadBytes,
    idleMs: uploadIdleMs,
  };
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
