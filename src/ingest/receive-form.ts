import { createHash } from 'node:crypto';
import type { Config } from '#platform/config/config.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { Collected } from '#platform/http/form/collected.ts';
import type { FilePart, FormLimits } from '#platform/http/form/multipart.ts';
import { detectMediaType } from '#platform/media/signature.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { GatePass, UploadGate, WhenFull } from './gate.ts';
import { requireRoom } from './room.ts';
import { type ReceivedFile, StagedFiles } from './staged-files.ts';

export const TEXT_TOO_LONG = refusal(
  413,
  (field: string, bytes: number) => `The file in the part '${field}' is longer than ${bytes} bytes.`,
  ['dublinCore', 2 ** 20],
);

/** A form of at most so many bytes may be fields alone: it is no upload before its first file comes. */
const SMALL_BYTES = 64 * 1024;
/** What a form with files may hold at most. */
type UploadLimits = Pick<Config, 'maxUploadBytes' | 'uploadIdleMs'>;

/** What receives forms with files. */
export interface FormParts {
  config: UploadLimits;
  storage: ObjectStorage;
  staging: StagingLedger;
  gate: UploadGate;
}

/** What becomes of a file: it is stored, read as the text of a field, or dropped. */
export type Taking = 'store' | 'text' | 'drop';

/** How a form with files is received. */
export interface FormOptions {
  /** Tells the media types of the files; recordings' unless given. */
  detect?: (head: Uint8Array) => string;
  /** Asked before a wanted file is read what becomes of it; it is stored unless given. The form is refused when it rejects. */
  takes?: (file: { field: string; filename: string }) => Promise<Taking>;
  /** Told of each field before what follows it is read. The form is refused when it throws. */
  onField?: (name: string, value: string) => void;
  /** Whether it waits for its turn when too many uploads are under way, instead of being refused. */
  whenFull?: WhenFull;
  /** How many fields and files there may be, where that is not what a form of an event may have. */
  most?: Pick<FormLimits, 'fields' | 'files'>;
  /** Says what is wrong with the form itself in words of the door. */
  reword?: (refusal: HttpError) => HttpError;
}

/**
 * What a client sent: the form's fields, and its files in the order of their parts. It is inside the gate, and what was
 * stored is removed, when it is disposed of before it is kept.
 */
export interface ReceivedForm extends AsyncDisposable {
  /** The last value of each. */
  fields: Map<string, string>;
  files: ReceivedFile[];
  /** Of the files that were read as text. */
  texts: { field: string; text: string }[];
  /** Enters the gate for more that is stored; who is inside stays there. */
  enter: GatePass['enter'];
  /** Rows have the files now. */
  keep(): void;
}

/**
 * Receives a form with files: those of the declared parts stream into storage. When that fails nothing stays of them.
 *
 * @throws {HttpError} what the client did wrong; 503 when too many send recordings already
 * @throws {ClientGone} when it went away
 * @throws {StorageRefused}
 * @throws {StagingExpired} as soon as one of the files has been swept
 */
export async function receiveForm(
  request: EndpointRequest,
  options: FormOptions,
  parts: FormParts,
): Promise<ReceivedForm> {
  const { detect = detectMediaType, takes = storeAll, onField, most, reword = (error) => error } = options;
  const { gate, config } = parts;
  await using owned = new AsyncDisposableStack();
  const { enter } = owned.use(gate.open(options.whenFull));
  const staged = owned.use(new StagedFiles(parts, request.c.var.principal.username));
  if (!isSmall(request)) {
    await enter();
    await requireRoom(request, parts);
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
    // Parts are handled in turn, but may overlap at their ends.
    const index = started++;
    files[index] = await staged.store({ field, filename, stream, expectedBytes, detect });
  };
  const sent = await request.files(limits, onFile, onField).catch((error) => {
    throw error instanceof HttpError ? reword(error) : error;
  });
  const read = texts.map(({ field, text }): [string, string] => [field, text]);
  const held = owned.move();
  return {
    fields: new Map([...sent, ...read]),
    files,
    texts,
    enter,
    keep: () => staged.keep(),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const storeAll: NonNullable<FormOptions['takes']> = async () => 'store';

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

/** The limits of a form with recordings in it. */
function limitsOf({ maxUploadBytes, uploadIdleMs }: UploadLimits): FormLimits {
  return {
    fieldBytes: 2 ** 20,
    // Clients send any field they like beside those that are read.
    fields: 1000,
    files: 10,
    fileBytes: maxUploadBytes,
    idleMs: uploadIdleMs,
  };
}

async function textOf(stream: AsyncIterable<unknown>, field: string, maxBytes: number): Promise<string> {
  const collected = new Collected(maxBytes);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (!collected.add(chunk)) throw TEXT_TOO_LONG(field, maxBytes);
  }
  return new TextDecoder().decode(collected.bytes);
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
