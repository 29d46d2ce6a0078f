import { refusal } from '../errors/refusal.ts';
import { BodyReader, hasBody } from './body.ts';
import { Collected } from './collected.ts';
import { type FormLimits, isMultipart, readForm, tooManyFields } from './multipart.ts';

const FORM_BYTES = 2 ** 20;
const IDLE_MS = 60_000;
/** However often a little of it comes: it is kept in memory meanwhile. */
const TOTAL_MS = 180_000;
const AMPERSAND = '&'.charCodeAt(0);
const LIMITS: FormLimits = {
  fieldBytes: FORM_BYTES,
  fileBytes: FORM_BYTES,
  fields: 1000,
  files: 0,
  idleMs: IDLE_MS,
};

const FORM_TOO_SLOW = refusal(408, `The form took longer than ${TOTAL_MS / 1000} seconds.`, [], {
  Connection: 'close',
});

export const UNREADABLE_FORM = refusal(400, 'The form cannot be read; it must be urlencoded or multipart/form-data.');
export const FORM_TOO_LONG = refusal(413, (bytes: number) => `The form is longer than ${bytes} bytes.`, [FORM_BYTES], {
  Connection: 'close',
});

/** The fields of a form in its order, each as often as it was sent. */
export type FieldList = [name: string, value: string][];

/**
 * Reads a form without recordings (urlencoded or multipart); its files are ignored.
 *
 * @param maxBytes 1 MiB unless given
 * @returns no fields for a request without a body
 * @throws {HttpError} 400 for a form that cannot be read or has more than 1000 fields, 408 when the client sends no more, 413 for one that is too large
 * @throws {ClientGone} when the connection breaks
 */
export async function readFields(request: Request, maxBytes = FORM_BYTES): Promise<FieldList> {
  const body = await readBody(request, maxBytes);
  return body.length === 0 ? [] : listOf(body, request.headers.get('content-type') ?? '');
}

/**
 * The last value of each field of a form whose body has been read.
 *
 * @param type the content type of the request
 * @throws {HttpError} 400 for a form that cannot be read
 */
export async function fieldsOf(body: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  return new Map(await listOf(body, type));
}

function listOf(body: Uint8Array<ArrayBuffer>, type: string): Promise<FieldList> {
  return isMultipart(type) ? readMultipart(body, type) : readUrlencoded(body, type);
}

/** By the parser of uploads: Deno's own takes a form that was cut short, without the part that is missing. */
async function readMultipart(body: Uint8Array<ArrayBuffer>, type: string): Promise<FieldList> {
  const form = new Request('http://localhost/', { method: 'POST', headers: { 'Content-Type': type }, body });
  const fields: FieldList = [];
  const onField = (name: string, value: string) => void fields.push([name, value]);
  await readForm(form, LIMITS, async () => undefined, { onField, wants: () => false });
  return fields;
}

async function readUrlencoded(body: Uint8Array<ArrayBuffer>, type: string): Promise<FieldList> {
  const fields: FieldList = [];
  if (isUrlencoded(type) && hasMoreFields(body, LIMITS.fields)) throw tooManyFields(LIMITS.fields);
  try {
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    for (const [name, value] of form) if (typeof value === 'string') fields.push([name, value]);
  } catch {
    throw UNREADABLE_FORM();
  }
  return fields;
}

/** Whether a request's body is such a form. */
export function isUrlencoded(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType);
}

/** Counted before they are read, which takes long where there are hundreds of thousands. */
function hasMoreFields(body: Uint8Array, most: number): boolean {
  let fields = 0;
  for (let at = 0; at >= 0 && at < body.length && fields <= most; ) {
    const end = body.indexOf(AMPERSAND, at);
    if (end !== at) fields++;
    at = end < 0 ? end : end + 1;
  }
  return fields > most;
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
