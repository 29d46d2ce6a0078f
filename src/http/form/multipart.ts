import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { refusal } from '../endpoint/refusal.ts';
import { badRequest, HttpError } from '../errors.ts';
import { BodyReader, hasBody } from './body.ts';

/** What a multipart request may hold at most. Sizes in bytes, times in milliseconds. */
export interface FormLimits {
  fieldBytes: number;
  fields: number;
  files: number;
  /** All files of the request together. */
  fileBytes: number;
  idleMs: number;
}

export const NOT_MULTIPART = refusal(415, 'The content type must be multipart/form-data.', [], {
  Connection: 'close',
});
export const FILES_TOO_LARGE = refusal(
  413,
  (bytes: number) => `The files of one request may have ${bytes} bytes together; this one has more.`,
  [100 * 2 ** 30],
  { Connection: 'close' },
);

/** A file part as it arrives. The stream must be consumed, or fails when the form does. */
export interface FilePart {
  /** The name of the form field. */
  field: string;
  /** As sent by the client, without folders; not to be trusted. */
  filename: string;
  stream: Readable;
}

/** Room for boundaries, part headers and fields beside the files. */
const OVERHEAD_BYTES = 32 * 2 ** 20;
const HEADER_PAIRS = 32;
const BUFFER_BYTES = 2 ** 20;

/**
 * Streams a `multipart/form-data` request: file parts go to `onFile` as they arrive, with back-pressure down to the
 * client's socket; form fields are collected.
 *
 * With the first fault, of whichever side, everything stops: the request is no longer read, the open file stream is
 * destroyed, and that fault is reported after every `onFile` has settled.
 *
 * @param onFile must consume or destroy the stream; when it rejects, the whole form fails with its error
 * @returns the last value of each form field, by name
 * @throws {HttpError} 400 broken form or too many parts, 408 idle client, 413 too large, 415 not multipart
 * @throws {ClientGone} when the client went away
 */
export async function readForm(
  request: Request,
  limits: FormLimits,
  onFile: (part: FilePart) => Promise<void>,
): Promise<Map<string, string>> {
  checkHead(request, limits);
  if (!hasBody(request)) throw badRequest('The request has no body.');
  const form = openForm(request, limits);
  const fields = new Map<string, string>();
  const pending = new Set<Promise<void>>();
  const failure = new Failure();
  let open: Readable | undefined;
  let received = 0;

  form.on('field', (name, value, { nameTruncated, valueTruncated }) => {
    if (nameTruncated) failure.set(tooLarge(`The name of a form field is too long.`));
    else if (valueTruncated)
      failure.set(tooLarge(`The form field '${name}' is longer than ${limits.fieldBytes} bytes.`));
    else fields.set(name, value);
  });
  form.on('file', (field, stream, { filename }) => {
    open = stream;
    stream.on('limit', () => failure.set(FILES_TOO_LARGE(limits.fileBytes)));
    // The form reports what is wrong with it itself.
    stream.on('error', () => undefined);
    const handled = onFile({ field, filename: filename ?? '', stream }).catch((error) => failure.set(error));
    pending.add(handled);
    handled.finally(() => pending.delete(handled));
  });
  form.on('fieldsLimit', () => failure.set(badRequest(`The form has more than ${limits.fields} fields.`)));
  form.on('filesLimit', () => failure.set(badRequest(`The form has more than ${limits.files} files.`)));
  form.on('partsLimit', () => failure.set(badRequest('The form has too many parts.')));
  form.on('error', (error) => failure.set(broken(error)));

  const body = new BodyReader(request, limits.idleMs);
  try {
    const closed = new Promise<void>((resolve) => form.once('close', resolve));
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      failure.throwIfSet();
      received += chunk.length;
      if (received > limits.fileBytes + OVERHEAD_BYTES) throw FILES_TOO_LARGE(limits.fileBytes);
      if (!form.write(chunk)) await Promise.race([drained(form), failure.happened, closed]);
      failure.throwIfSet();
    }
    form.end();
    await Promise.race([closed, failure.happened]);
    failure.throwIfSet();
    await Promise.race([Promise.all(pending), failure.happened]);
    failure.throwIfSet();
    return fields;
  } catch (error) {
    failure.set(error);
    open?.destroy(failure.error);
    form.destroy();
    await body.cancel();
    await Promise.all(pending);
    throw closing(failure.error);
  }
}

/** Remembers the first fault; what follows from it is noise. */
class Failure {
  error: Error | undefined;
  readonly happened: Promise<void>;
  #signal: () => void = () => undefined;

  constructor() {
    this.happened = new Promise((resolve) => {
      this.#signal = resolve;
    });
  }

  set(error: unknown): void {
    this.error ??= error instanceof Error ? error : new Error(String(error));
    this.#signal();
  }

  throwIfSet(): void {
    if (this.error) throw this.error;
  }
}

/** Whether a content type is that of a multipart form. */
export function isMultipart(contentType: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType);
}

function checkHead(request: Request, limits: FormLimits): void {
  if (!isMultipart(request.headers.get('content-type') ?? '')) {
    throw NOT_MULTIPART();
  }
  const declared = request.headers.get('content-length');
  if (declared && Number(declared) > limits.fileBytes + OVERHEAD_BYTES)
    throw FILES_TOO_LARGE(limits.fileBytes);
}

function openForm(request: Request, limits: FormLimits): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': request.headers.get('content-type') ?? undefined },
      // Room for the client to send on while the storage writes.
      highWaterMark: BUFFER_BYTES,
      fileHwm: BUFFER_BYTES,
      // Names arrive as raw UTF-8.
      defParamCharset: 'utf8',
      limits: {
        fieldNameSize: 256,
        // Reaching one of these two counts as exceeding it.
        fieldSize: limits.fieldBytes + 1,
        fileSize: limits.fileBytes + 1,
        fields: limits.fields,
        files: limits.files,
        parts: limits.fields + limits.files,
        headerPairs: HEADER_PAIRS,
      },
    });
  } catch (error) {
    throw closing(broken(error));
  }
}

function drained(form: busboy.Busboy): Promise<void> {
  return new Promise((resolve) => form.once('drain', resolve));
}

function broken(error: unknown): HttpError {
  const reason = error instanceof Error ? error.message : 'it is no form';
  return badRequest(`The multipart form is broken or was cut short: ${reason}.`);
}

function tooLarge(message: string): HttpError {
  return new HttpError(413, message);
}

/** The rest of the body is not worth reading: the answer ends the connection. */
function closing<E extends Error | undefined>(error: E): E {
  return error instanceof HttpError ? (error.with({ Connection: 'close' }) as unknown as E) : error;
}
