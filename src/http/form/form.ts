import { refusal } from '../endpoint/refusal.ts';
import { BodyReader, hasBody } from './body.ts';
import { Collected } from './collected.ts';
import { type FormLimits, isMultipart, readForm } from './multipart.ts';

const FORM_BYTES = 2 ** 20;
const IDLE_MS = 60_000;
/** However often a little of it comes: it is kept in memory meanwhile. */
const TOTAL_MS = 180_000;
const LIMITS: FormLimits = {
  fieldBytes: FORM_BYTES,
  fileBytes: FORM_BYTES,
  fields: 1000,
  files: 1000,
  idleMs: IDLE_MS,
};

const FORM_TOO_SLOW = refusal(408, `The form took longer than ${TOTAL_MS / 1000} seconds.`, [], {
  Connection: 'close',
});

export const UNREADABLE_FORM = refusal(
  400,
  'The form cannot be read; it must be urlencoded or multipart/form-data.',
);
export const FORM_TOO_LONG = refusal(
  413,
  (bytes: number) => `The form is longer than ${bytes} bytes.`,
  [FORM_BYTES],
  { Connection: 'close' },
);

/**
 * Reads a form without recordings (urlencoded or multipart); its files are ignored.
 *
 * @param maxBytes 1 MiB unless given
 * @returns the last value of each field, by name; no fields for a request without a body
 * @throws {HttpError} 400 for a form that cannot be read, 408 when the client sends no more, 413 for one that is too large
 * @throws {ClientGone} when the connection breaks
 */
export async function readFields(request: Request, maxBytes = FORM_BYTES): Promise<Map<string, string>> {
  const body = await readBody(request, maxBytes);
  if (body.length === 0) return new Map();
  return fieldsOf(body, request.headers.get('content-type') ?? '');
}

/**
 * The last value of each field of a form whose body has been read.
 *
 * @param type the content type of the request
 * @throws {HttpError} 400 for a form that cannot be read
 */
export function fieldsOf(body: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  return isMultipart(type) ? readMultipart(body, type) : readUrlencoded(body, type);
}

/** By the parser of uploads: Deno's own takes a form that was cut short, without the part that is missing. */
function readMultipart(body: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  const form = new Request('http://localhost/', { method: 'POST', headers: { 'Content-Type': type }, body });
  return readForm(form, LIMITS, async ({ stream }) => void stream.resume());
}

async function readUrlencoded(body: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  try {
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value);
  } catch {
    throw UNREADABLE_FORM();
  }
  return fields;
}

/**
 * A whole request body; empty for a request without one.
 *
 * @param maxBytes 1 MiB unless given
 * @throws {HttpError} 408 when the client sends no more, 413 for a body that is too large
 * @throws {ClientGone} when the connection breaks
 */
export async function readBody(request: Request, maxBytes = FORM_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  if (!hasBody(request)) return new Uint8Array();
  const body = new BodyReader(request, IDLE_MS);
  const collected = new Collected(maxBytes);
  const begun = performance.now();
  for (let chunk = await body.read(); chunk; chunk = await body.read()) {
    const isLate = performance.now() - begun > TOTAL_MS;
    if (collected.add(chunk) && !isLate) continue;
    await body.cancel();
    throw isLate ? FORM_TOO_SLOW() : FORM_TOO_LONG(maxBytes);
  }
  return collected.bytes;
}
