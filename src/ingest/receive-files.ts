import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { badRequest } from '../http/errors.ts';
import { type FilePart, type FormLimits, readForm } from '../http/multipart.ts';
import { detectMediaType, HEAD_BYTES } from '../media/signature.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';

const FILENAME_LENGTH = 255;
const BUFFER_BYTES = 2 ** 20;

/** A file that is stored and staged, and not yet part of an event. */
export interface ReceivedFile {
  /** The form field it came in. */
  field: string;
  filename: string;
  mediatype: string;
  objectKey: string;
  size: number;
  sha256: string;
}

/** Tells a media type by the first bytes of a file. */
export type DetectMediaType = (head: Uint8Array) => string;

/** Whether a file that is wanted is taken; the form is refused when that rejects. */
export type AdmitFile = () => Promise<boolean>;

/** Object storage failed in the middle of an upload; `cause` says how. */
export class StorageRefused extends Error {
  override name = 'StorageRefused';
}

/** What a client sent: the form's fields, and its files in the order of their parts. */
export interface ReceivedForm {
  fields: Map<string, string>;
  files: ReceivedFile[];
}

/**
 * Receives a form with files: each streams into storage while its size, SHA-256 and media type are found in the same
 * pass. Whatever goes wrong, nothing that was stored stays.
 *
 * @param wanted the form fields whose files are stored; other files are read and dropped
 * @param deps.admits asked before a wanted file is stored: one that is not taken is dropped as well
 * @throws {HttpError} what the client did wrong
 * @throws {ClientGone} when it went away
 */
export async function receiveFiles(
  request: Request,
  limits: FormLimits,
  wanted: readonly string[],
  {
    storage,
    staging,
    detect = detectMediaType,
    admits = async () => true,
  }: { storage: ObjectStorage; staging: StagingLedger; detect?: DetectMediaType; admits?: AdmitFile },
): Promise<ReceivedForm> {
  const expectedBytes = Number(request.headers.get('content-length')) || limits.fileBytes;
  const staged: string[] = [];
  const files: ReceivedFile[] = [];
  let started = 0;
  try {
    const fields = await readForm(request, limits, async (part) => {
      // Forms of web pages send a nameless empty part for each file that was not chosen.
      if (!wanted.includes(part.field) || part.filename.trim() === '') return drain(part.stream);
      if (!(await admits())) return drain(part.stream);
      // Parts are handled in turn, but may overlap at their ends.
      const index = started++;
      const objectKey = await staging.stage('track');
      staged.push(objectKey);
      files[index] = await storeFile(part, { objectKey, expectedBytes, storage, detect });
    });
    return { fields, files };
  } catch (error) {
    await staging.discard(staged);
    throw error;
  }
}

async function storeFile(
  part: FilePart,
  options: { objectKey: string; expectedBytes: number; storage: ObjectStorage; detect: DetectMediaType },
): Promise<ReceivedFile> {
  const { objectKey, expectedBytes, storage, detect } = options;
  const filename = safeFilename(part.filename);
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  let headBytes = 0;
  const meter = new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, callback) {
      size += chunk.length;
      if (headBytes < HEAD_BYTES) {
        head.push(chunk.subarray(0, HEAD_BYTES - headBytes));
        headBytes += chunk.length;
      }
      hash.update(chunk);
      callback(null, chunk);
    },
  });
  let told: Error | undefined;
  // Storage that fails ends the meter first, and with it the part; a form that fails ends the part first.
  part.stream.once('error', (error) => {
    if (!meter.errored) told = error;
  });
  const stored = storage
    .put(objectKey, meter, { mediatype: 'application/octet-stream', expectedBytes })
    .catch((cause) => {
      if (told) throw told;
      const refused = new StorageRefused('The recording could not be stored.', { cause });
      part.stream.destroy(refused);
      throw refused;
    });
  // Both must have ended before anyone may clean up; the first to fail takes the other along.
  const outcomes = await Promise.allSettled([stored, pipeline(part.stream, meter)]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  if (size === 0) throw badRequest(`The file '${filename}' in the part '${part.field}' is empty.`);
  return {
    field: part.field,
    filename,
    mediatype: detect(Buffer.concat(head)),
    objectKey,
    size,
    sha256: hash.digest('hex'),
  };
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

/** What is kept of a client's file name: shown to people, never used as a path. */
export function safeFilename(name: string): string {
  return (
    name
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u001f\u007f]/g, '')
      .slice(0, FILENAME_LENGTH)
  );
}
