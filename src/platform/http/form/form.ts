import { refusal } from '../errors/errors.ts';
import { ByteCollector } from './byte-collector.ts';
import { type FormLimits, isMultipart, readForm, tooManyFields } from './multipart.ts';
import { BodyReader, hasBody } from './request-body.ts';

const FORM_BYTES = 2 ** 20;
const IDLE_MS = 60_000;
/** Longest time for a whole form, however steadily it arrives: it is held in memory. */
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

/** All values of the fields of a form, in order. */
export type FieldList = [name: string, value: string][];

/**
 * Reads a urlencoded or multipart form and ignores its files; no fields for a request without a body.
 *
 * @throws {HttpError} 400 for an unreadable form or more than 1000 fields, 408 for an idle client, 413 for a long form
 * @throws {ClientDisconnected}
 */
export async function readFields(request: Request, maxBytes = FORM_BYTES): Promise<FieldList> {
  const body = await readBody(request, maxBytes);
  return body.length === 0 ? [] : listOf(body, request.headers.get('content-type') ?? '');
}

/**
 * Returns the last value of each field of a form that is already read. @throws {HttpError} 400 for an unreadable form
 */
export async function fieldsOf(body: Uint8Array<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  return new Map(await listOf(body, type));
}

function listOf(body: Uint8Array<ArrayBuffer>, type: string): Promise<FieldList> {
  return isMultipart(type) ? readMultipart(body, type) : readUrlencoded(body, type);
}

/** Uses the parser of uploads: Deno's accepts a truncated form and drops the missing part. */
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

export function isUrlencoded(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType);
}

/** Counts fields before parsing, which is slow for hundreds of thousands. */
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
 * Reads a whole request body; empty for a request without one.
 *
 * @throws {HttpError} 408 for an idle client, 413 for a long body
 * @throws {ClientDisconnected}
 */
export async function readBody(request: Request, maxBytes = FORM_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  if (!hasBody(request)) return new Uint8Array();
  const body = new BodyReader(request, IDLE_MS);
  const collected = new ByteCollector(maxBytes);
  const begun = performance.now();
  for (let chunk = await body.read(); chunk; chunk = await body.read()) {
    const isLate = performance.now() - begun > TOTAL_MS;
    if (collected.add(chunk) && !isLate) continue;
    await body.cancel();
    throw isLate ? FORM_TOO_SLOW() : FORM_TOO_LONG(maxBytes);
  }
  return collected.bytes;
}
