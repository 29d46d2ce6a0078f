import type { Context } from 'hono';
import { z } from 'zod';
import { EVENT_ID } from '#catalogue/events/examples.ts';
import { DATABASE_AWAY, OTHERS_CHANGE_IT } from '#platform/http/app/error-handler.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { answerTusRequest } from '../tus/tus.ts';
import {
  BAD_LENGTH,
  BAD_METADATA,
  BAD_OVERRIDE,
  BYTE_REFUSALS,
  LENGTH_KNOWN,
  OTHER_OFFSET,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  WRONG_VERSION,
} from '../tus/tus-refusals.ts';
import {
  ADDRESS_EXPIRED,
  type AddressServices,
  EVENT_HEADER,
  EVENT_MADE,
  NO_EVENT_MADE,
  NO_SUCH_ADDRESS,
  OTHER_LENGTH,
  uploadAt,
} from './address-uploads.ts';
import { ADDRESSES, findByToken } from './direct-uploads.ts';

export const NOTHING_TO_UPLOAD = refusal(400, 'The file is empty; Upload-Length must be 1 at least.');

const path = `${ADDRESSES}/{token}` as const;
const params = { token: z.string().meta({ description: 'The last part of the address, a secret.' }) };
const refusals = [
  DATABASE_AWAY,
  OTHERS_CHANGE_IT,
  WRONG_VERSION,
  NO_SUCH_ADDRESS,
  ADDRESS_EXPIRED,
  NO_EVENT_MADE,
  UPLOAD_LOCKED,
  UPLOAD_GONE,
];
/** What whoever sends bytes may meet. */
const WITH_BYTES = [...refusals, NOTHING_TO_UPLOAD, OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS];
const headers = z.object({
  [EVENT_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'The event, once all files have come.', example: EVENT_ID }),
});

/** What of the protocol this address has. */
export const addressOptions = defineEndpoint({
  method: 'options',
  path,
  access: 'public',
  summary: 'Which extensions of tus an address has',
  description: 'Asked by clients that look before they upload; most do not.',
  params,
  answers: { 204: { description: 'In the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
  refusals,
  handle: answer,
});

export const beginAtAddress = defineEndpoint({
  method: 'post',
  path,
  access: 'public',
  summary: 'Begin to upload to an address',
  description:
    'For clients that take the address for the `endpoint` of tus. `Location` is the address itself; with the same length it may be asked for again. With `X-HTTP-Method-Override` it is what that says, `PATCH` or `DELETE`.',
  params,
  answers: {
    201: { description: 'It has begun, or had before.', headers },
    204: { description: 'As the method that is meant.', headers },
  },
  refusals: [...WITH_BYTES, BAD_LENGTH, BAD_METADATA, OTHER_LENGTH, BAD_OVERRIDE, EVENT_MADE],
  handle: answer,
});

export const addressState = defineEndpoint({
  method: 'get',
  path,
  access: 'public',
  summary: 'How much has come to an address',
  description: 'To be asked with `HEAD`, as tus has it.',
  params,
  answers: {
    200: {
      description: 'In `Upload-Offset`, and `Upload-Length` or `Upload-Defer-Length`.',
      headers,
    },
  },
  refusals,
  handle: answer,
});

export const appendAtAddress = defineEndpoint({
  method: 'patch',
  path,
  access: 'public',
  summary: 'Send more to an address',
  description:
    'The length may be declared with any request, the last one at the latest. With the last byte of the last file the event is made.',
  params,
  answers: { 204: { description: 'It is durable up to `Upload-Offset`.', headers } },
  refusals: WITH_BYTES,
  handle: answer,
});

export const removeAtAddress = defineEndpoint({
  method: 'delete',
  path,
  access: 'public',
  summary: 'Give up what has come to an address',
  description: 'Something else may be uploaded to it then.',
  params,
  answers: { 204: { description: 'Nothing of it is kept.' } },
  refusals: [...refusals, EVENT_MADE],
  handle: answer,
});

async function answer(
  { c, params: { token } }: EndpointRequest<typeof path>,
  services: AddressServices,
): Promise<Response> {
  const found = await findByToken(services.database, token);
  if (!found) throw NO_SUCH_ADDRESS();
  const { direct, file } = found;
  const method = meantBy(c);
  if (direct.expired) throw ADDRESS_EXPIRED();
  if (direct.failure !== undefined) throw NO_EVENT_MADE();
  if (method === 'DELETE' && direct.eventId !== undefined) throw EVENT_MADE(direct.eventId);
  if (Number(c.req.header('Upload-Length') ?? 1) === 0) throw NOTHING_TO_UPLOAD();
  const sent = c.req.header('Upload-Metadata')?.trim() ?? '';
  const uploads = uploadAt(services, { direct, file, token }, c.var, sent);
  // The protocol is answered under the name of the upload, which is no secret.
  const id = ['POST', 'OPTIONS'].includes(method) ? '' : file.uploadId;
  return answerTusRequest(method, c, services, uploads, id);
}

/** Some clients have to send everything with POST. */
function meantBy(c: Context): string {
  const { method } = c.req;
  if (method === 'GET') return 'HEAD';
  const meant = c.req.header('X-HTTP-Method-Override')?.trim().toUpperCase();
  if (method !== 'POST' || meant === undefined) return method;
  if (meant !== 'PATCH' && meant !== 'DELETE') throw BAD_OVERRIDE();
  return meant;
}
