import { BodyReader } from './body.ts';
import { badRequest, HttpError } from './errors.ts';

const FORM_BYTES = 2 ** 20;
const IDLE_MS = 60_000;

/**
 * Reads a form without recordings (urlencoded or multipart) of up to 1 MiB; its files are ignored.
 *
 * @returns the last value of each field, by name; no fields for a request without a body
 * @throws {HttpError} 400 for a form that cannot be read, 408 when the client sends no more, 413 for one that is too large
 * @throws {ClientGone} when the connection breaks
 */
export async function readFields(request: Request): Promise<Map<string, string>> {
  const body = await readBody(request);
  const fields = new Map<string, string>();
  if (body.length === 0) return fields;
  let form: FormData;
  try {
    const type = request.headers.get('content-type') ?? '';
    form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw badRequest('The form cannot be read; it must be urlencoded or multipart/form-data.');
  }
  for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value);
  return fields;
}

async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (!request.body) return new Uint8Array();
  const body = new BodyReader(request.body, IDLE_MS);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.read(); chunk; chunk = await body.read()) {
    size += chunk.length;
    if (size > FORM_BYTES) {
      await body.cancel();
      throw new HttpError(413, `The form is longer than ${FORM_BYTES} bytes.`, { Connection: 'close' });
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
