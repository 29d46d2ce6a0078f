import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { HttpError } from '../http/errors.ts';
import { type FilePart, type FormLimits, readForm } from '../http/multipart.ts';
import { detectMediaType } from '../media/signature.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { type DetectMediaType, type StoredFile, safeFilename, storeFile } from './store-file.ts';

/** How a form with files is received. */
export interface FormOptions {
  limits: FormLimits;
  /** The form fields whose files are stored; other files are read and dropped. */
  wanted: readonly string[];
  /** Tells the media types of the files; recordings' unless given. */
  detect?: DetectMediaType;
  /** Asked before a wanted file is stored: one that is not taken is dropped as well. The form is refused when it rejects. */
  admits?: () => Promise<boolean>;
  /** Says what is wrong with the form itself in words of the door. */
  reword?: (refusal: HttpError) => HttpError;
}

/** A file that is stored and staged, and the form field it came in. */
export interface ReceivedFile extends StoredFile {
  field: string;
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
  {
    limits,
    wanted,
    detect = detectMediaType,
    admits = async () => true,
    reword = (error) => error,
  }: FormOptions,
  { storage, staging }: { storage: ObjectStorage; staging: StagingLedger },
  accept: (form: ReceivedForm) => Promise<T>,
): Promise<T> {
  const expectedBytes = Number(request.headers.get('content-length')) || limits.fileBytes;
  const staged: string[] = [];
  const files: ReceivedFile[] = [];
  let started = 0;
  try {
    const fields = await readForm(request, limits, async (part) => {
      if (!isWanted(part, wanted) || !(await admits())) return drain(part.stream);
      // Parts are handled in turn, but may overlap at their ends.
      const index = started++;
      const objectKey = await staging.stage('track');
      staged.push(objectKey);
      const stored = await storeFile(part, { objectKey, expectedBytes, storage, detect });
      files[index] = { field: part.field, ...stored };
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
  { limits, wanted }: Pick<FormOptions, 'limits' | 'wanted'>,
): Promise<FormDigest> {
  const files: FormDigest['files'] = [];
  let started = 0;
  const fields = await readForm(request, limits, async (part) => {
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
function isWanted({ field, filename }: FilePart, wanted: readonly string[]): boolean {
  return wanted.includes(field) && filename.trim() !== '';
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}
