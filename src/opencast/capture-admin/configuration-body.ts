import { UNREADABLE } from '#capture/agents/configuration.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { fieldsOf, isUrlencoded, readBody } from '#platform/http/form/form.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';

/**
 * The configuration that a request brings: its whole body, whatever type it claims to have (curl calls everything a
 * form), or the form field `configuration`.
 *
 * @throws {HttpError} 400 for a request without one, 408 when the client sends no more, 413 for a very long one
 * @throws {ClientGone} when the connection breaks
 */
export async function readConfiguration(request: Request): Promise<string> {
  const body = await readBody(request);
  const type = request.headers.get('Content-Type') ?? '';
  if (!isMultipart(type)) {
    const text = textOf(body);
    // No field of a form begins like this unless it is encoded.
    if (/^\s*[{<]/.test(text)) return text;
    if (text !== '' && !isUrlencoded(type)) throw UNREADABLE();
  }
  const configuration = body.length > 0 ? (await fieldsOf(body, type)).get('configuration') : undefined;
  if (configuration === undefined) throw badRequest("Missing form parameter 'configuration'");
  return configuration;
}

/** The text of a body, without a byte order mark. */
function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('The configuration is not encoded in UTF-8.');
  }
}
