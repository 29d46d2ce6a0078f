import { Readable } from 'node:stream';
import { badRequest, HttpError, refusal } from '../errors/errors.ts';
import { ByteCollector } from './byte-collector.ts';
import { safeFilename } from './filename.ts';
import { brokenForm, Parts } from './multipart-parts.ts';
import { decodeText, type PartHead, parseParameters } from './part-head.ts';
import { BodyReader, hasBody } from './request-body.ts';

/** Limits of a multipart request. Sizes in bytes, times in milliseconds. */
export interface FormLimits {
  fieldBytes: number;
  fields: number;
  /** Wanted files with content or a name. */
  files: number;
  fileBytes: number;
  idleMs: number;
}

export const NOT_MULTIPART = refusal(415, 'The content type must be multipart/form-data.', [], {
  Connection: 'close',
});
export const FILES_TOO_LARGE = refusal(
  413,
  (bytes: number) => `The files of the request are longer than ${bytes} bytes together.`,
  [100 * 2 ** 30],
  { Connection: 'close' },
);

export const FIELDS_TOO_LONG = refusal(
  413,
  (bytes: number) => `The fields of the form are longer than ${bytes} bytes together.`,
  [16 * 2 ** 20],
  { Connection: 'close' },
);

export const tooManyFields = (most: number): HttpError => badRequest(`The form has more than ${most} fields.`);

/** A file part as it arrives. The stream must be consumed; it fails when the form does. */
export interface FilePart {
  field: string;
  /** The client's file name, safe to display; the field name if it has none. */
  filename: string;
  isEmpty: boolean;
  stream: Readable;
}

export interface FormReading {
  /** Called for each field before the parts after it are read; when it throws, the form fails. */
  onField?: ((name: string, value: string) => void) | undefined;
  /** Returns true if files in a field are wanted (default); others are dropped. */
  wants?: (field: string) => boolean;
  /** Returns true if a field is for files, so that `application/octet-stream` without a file name is a file. */
  isForFile?: (field: string) => boolean;
}

const MOST_LEFT_OUT = 1000;
/** All fields are kept in memory, and a form may have a thousand. */
const ALL_FIELDS_BYTES = 16 * 2 ** 20;
/** Allowance for boundaries, part headers and fields. */
const OVERHEAD_BYTES = 32 * 2 ** 20;
const CHUNKS_AHEAD = 4;
const MAX_BOUNDARY = 256;

/**
 * Streams a `multipart/form-data` request: `onFile` gets each file as it arrives, with back-pressure down to the
 * socket; fields are collected. A part is a file if it has a file name, even an empty one, or an audio, image or video
 * type, or is `application/octet-stream` in a file field (some clients send every field as bytes). Only unwanted files
 * and parts with neither file name nor content (no file chosen on a web page) are left out.
 *
 * At the first error on either side, reading stops, the open file stream is destroyed, and the error is thrown after
 * every `onFile` has settled.
 *
 * @param onFile must consume or destroy the stream; when it rejects, the form fails with its error
 * @returns the last value of each field, by name
 * @throws {HttpError} 400 broken form or too many parts, 408 idle client, 413 too large, 415 not multipart
 * @throws {ClientDisconnected} when the connection breaks
 */
export async function readForm(
  request: Request,
  limits: FormLimits,
  onFile: (part: FilePart) => Promise<void>,
  { onField, wants = () => true, isForFile = () => false }: FormReading = {},
): Promise<Map<string, string>> {
  const boundary = checkHead(request, limits);
  if (!hasBody(request)) throw badRequest('The request has no body.');
  const body = new BodyReader(request, limits.idleMs);
  const parts = new Parts(boundary, limited(body, limits));
  const fields = new Map<string, string>();
  const handlers: Promise<void>[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let open: Readable | undefined;
  let texts = 0;
  let textBytes = 0;
  let fileParts = 0;
  let leftOut = 0;
  try {
    for (let head = await parts.next(); head; head = await Promise.race([parts.next(), failed.promise])) {
      if (!isFile(head, isForFile)) {
        if (++texts > limits.fields) throw tooManyFields(limits.fields);
        const text = await readText(parts, head, limits.fieldBytes);
        textBytes += text.length;
        if (textBytes > ALL_FIELDS_BYTES) throw FIELDS_TOO_LONG(ALL_FIELDS_BYTES);
        onField?.(head.name, text);
        fields.set(head.name, text);
        continue;
      }
      const first = wants(head.name) ? await parts.content() : undefined;
      if (!wants(head.name) || (!first && !head.filename?.trim())) {
        if (++leftOut <= MOST_LEFT_OUT) continue;
        throw badRequest(`The form has more than ${MOST_LEFT_OUT} empty or unexpected files.`);
      }
      if (++fileParts > limits.files) throw badRequest(`The form has more than ${limits.files} files.`);
      const { stream, finished } = openFile(parts, first, limits.fileBytes);
      open = stream;
      const handled = onFile({
        field: head.name,
        filename: safeFilename(head.filename ?? '', head.name),
        isEmpty: !first,
        stream,
      });
      handlers.push(handled.catch(failed.reject));
      await Promise.race([finished(handled), failed.promise]);
    }
    await Promise.race([Promise.all(handlers), failed.promise]);
    return fields;
  } catch (error) {
    open?.destroy(error instanceof Error ? error : new Error(String(error)));
    await body.cancel();
    await Promise.all(handlers);
    // The rest of the body is not read.
    throw error instanceof HttpError ? error.with({ Connection: 'close' }) : error;
  }
}

export function isMultipart(contentType: string): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType);
}

function checkHead({ headers }: Request, limits: FormLimits): string {
  const type = headers.get('content-type') ?? '';
  if (!isMultipart(type)) throw NOT_MULTIPART();
  if (Number(headers.get('content-length')) > limits.fileBytes + OVERHEAD_BYTES) {
    throw FILES_TOO_LARGE(limits.fileBytes);
  }
  const boundary = parseParameters(type)?.parameters.boundary ?? '';
  if (boundary === '' || boundary.length > MAX_BOUNDARY) {
    const fault = `its boundary must have 1 to ${MAX_BOUNDARY} characters`;
    throw brokenForm(fault).with({ Connection: 'close' });
  }
  return boundary;
}

function limited(body: BodyReader, { fileBytes }: FormLimits): () => Promise<Uint8Array | undefined> {
  let received = 0;
  return async () => {
    const chunk = await body.read();
    received += chunk?.length ?? 0;
    if (received > fileBytes + OVERHEAD_BYTES) throw FILES_TOO_LARGE(fileBytes);
    return chunk;
  };
}

function isFile({ name, filename, type }: PartHead, isForFile: (field: string) => boolean): boolean {
  if (filename !== undefined || /^(?:audio|image|video)\//.test(type)) return true;
  return type === 'application/octet-stream' && isForFile(name);
}

async function readText(parts: Parts, { name, charset = 'utf-8' }: PartHead, maxBytes: number): Promise<string> {
  const collected = new ByteCollector(maxBytes);
  for (let chunk = await parts.content(); chunk; chunk = await parts.content()) {
    if (!collected.add(chunk)) {
      throw new HttpError(413, `The form field '${name}' is longer than ${maxBytes} bytes.`);
    }
  }
  return decodeText(collected.bytes, charset) ?? decodeText(collected.bytes, 'utf-8') ?? '';
}

/** Opens a stream over a part. `finished` resolves when the next part can be read. */
function openFile(parts: Parts, first: Buffer | undefined, maxBytes: number) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  let size = 0;
  let chunk: Promise<Buffer | undefined> = Promise.resolve(first);
  const stream = new Readable({
    // Joining chunks would copy them.
    objectMode: true,
    // Lets the client send while the storage writes.
    highWaterMark: CHUNKS_AHEAD,
    read() {
      chunk
        .then((bytes) => {
          size += bytes?.length ?? 0;
          if (size > maxBytes) throw FILES_TOO_LARGE(maxBytes);
          if (bytes) {
            chunk = parts.content();
            // Read ahead: the stream may be gone when it fails.
            chunk.catch(() => undefined);
          } else resolve();
          stream.push(bytes ?? null);
        })
        .catch((error) => {
          reject(error);
          stream.destroy(error);
        });
    },
  });
  stream.on('error', () => undefined);
  const finished = async (handled: Promise<void>) => {
    await Promise.race([promise, handled.then(() => void stream.destroy())]);
    await chunk;
  };
  return { stream, finished };
}
