import { type FormParts, receiveForm } from '#ingest/receive-form.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';
import { TURN } from './packages.ts';

const MOST = { fields: 1000, files: 20 };

/**
 * The fields of a form without recordings, urlencoded or multipart. Some clients send a field as a file, whatever it is
 * called: such a file of up to 1 MiB is the field.
 *
 * @throws {HttpError} 400 for a form that cannot be read, 413 for a field that is too long
 * @throws {ClientGone}
 */
export async function textFields(
  request: EndpointRequest,
  parts: FormParts,
): Promise<ReadonlyMap<string, string>> {
  if (!isMultipart(request.c.req.header('Content-Type') ?? '')) return request.fields();
  const takes = async () => 'text' as const;
  await using form = await receiveForm(request, { takes, most: MOST, whenFull: TURN }, parts);
  return form.fields;
}
