import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Config } from '../config.ts';
import { badRequest, HttpError } from '../http/errors.ts';
import { type FilePart, readForm, recordingForm } from '../http/multipart.ts';
import { detectMediaType, HEAD_BYTES } from '../media/signature.ts';
import type { ObjectStorage } from '../storage/port.ts';
import { putMeasured } from '../storage/put-measured.ts';
import type { StagingLedger } from '../storage/staging.ts';

const FILENAME_LENGTH = 255;

/** What a form with files may hold at most. */
type UploadLimits = Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;

/** How a form with files is received. */
export interface FormOptions {
  /** The form fields whose files are stored; other files are read and dropped. */
  wanted: readonly string[];
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
 * Receives a form with files: each streams into storage. Then `accept` makes something of them. Whatever goes wrong,
 * there or before, nothing that was stored stays.
 *
 * @returns what `accept` returns
 * @throws {HttpError} what the client did wrong
 * @throws {ClientGone} when it went away
 * @throws {StorageRefused}
 */
export async function receiveForm<T>(
  request: Request,
  { wanted, detect = detectMediaType, admits = async () => true, reword = (error) => error }: FormOptions,
  { config, storage, staging }: { config: UploadLimits; storage: ObjectStorage; staging: StagingLedger },
  accept: (form: ReceivedForm) => Promise<T>,
): Promise<T> {
  const limits = recordingForm(config);
  const expectedBytes = Number(request.headers.get('content-length')) || limits.fileBytes;
  const staged: string[] = [];
  const files: ReceivedFile[] = [];
  let started = 0;
  try {
    const fields = await readForm(request, limits, async ({ field, filename: name, stream }) => {
      if (!isWanted({ field, filename: name }, wanted) || !(await admits())) return drain(stream);
      // Parts are handled in turn, but may overlap at their ends.
      const index = started++;
      const objectKey = await staging.stage('track');
      staged.push(objectKey);
      const options = { expectedBytes, headBytes: HEAD_BYTES };
      const { head, ...measured } = await putMeasured(storage, objectKey, stream, options);
      const filename = safeFilename(name);
      if (measured.size === 0) throw badRequest(`The file '${filename}' in the part '${field}' is empty.`);
      files[index] = { field, filename, mediatype: detect(head), objectKey, ...measured };
    }).catch((error) => {
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
 * @throws {HttpError} what the client did wrong
 * @throws {ClientGone} when it went away
 */
export async function digestForm(
  request: Request,
  { wanted }: Pick<FormOptions, 'wanted'>,
  config: UploadLimits,
): Promise<FormDigest> {
  const files: FormDigest['files'] = [];
  let started = 0;
  const fields = await readForm(request, recordingForm(config), async (part) => {
    if (!isWanted(part, wanted)) return drain(part.stream);
    const index = started++;
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of part.stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      hash.update(chunk);
    }
    const { field, filename } = part;
    files[index] = { field, filename: safeFilename(filename), size, sha256: hash.digest('hex') };
  });
  return { fields, files };
}

/** Forms of web pages send a nameless empty part for each file that was not chosen. */
function isWanted(
  { field, filename }: Pick<FilePart, 'field' | 'filename'>,
  wanted: readonly string[],
): boolean {
  return wanted.includes(field) && filename.trim() !== '';
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

/** What is kept of a client's file name: shown to people, never used as a path. */
function safeFilename(name: string): string {
  return (
    name
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u001f\u007f]/g, '')
      .slice(0, FILENAME_LENGTH)
  );
}
