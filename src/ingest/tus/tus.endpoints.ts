import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { FLAVOR } from '#catalogue/events/event-files.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { NO_UPLOAD } from './finished-uploads.ts';
import { answerTusRequest, type TusServices, type Uploads } from './tus.ts';
import {
  BAD_FLAVOR,
  BAD_OVERRIDE,
  overridingMethod,
  TUS_APPEND_REFUSALS,
  TUS_CREATION_REFUSALS,
  TUS_REFUSALS,
  type TusMethod,
} from './tus-headers.ts';
import { beginUpload, discardUpload, findUpload, newUploadId } from './tus-uploads.ts';

const PATH = '/uploads';
const TUS = '[tus 1.0.0](https://tus.io/protocols/resumable-upload)';
const access = apiRole('EVENTS_CREATE');
const toUpload = {
  path: `${PATH}/{upload_id}`,
  access,
  params: { upload_id: z.string().meta({ description: 'The last segment of its URL.' }) },
  refusals: [...TUS_REFUSALS, NO_UPLOAD],
} as const;
const toAppend = [...toUpload.refusals, ...TUS_APPEND_REFUSALS];

export const uploadOptions = defineEndpoint({
  method: 'options',
  path: PATH,
  access: 'public',
  summary: 'List the supported tus extensions',
  description: `Requires no account. Uploads are resumable by ${TUS}.`,
  answers: { 204: { description: 'See the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
  handle: answerAs('OPTIONS'),
});

export const createUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  access,
  summary: 'Create an upload',
  description: `Resumable uploads by ${TUS}. \`Upload-Metadata\` may contain \`filename\`, \`filetype\` and \`flavor\` (such as \`presenter/source\`). The form field \`uploads\` of \`POST /api/events\` and \`POST /api/events/{event_id}\` makes a track of a finished upload.`,
  answers: { 201: { description: 'The upload was created; `Location` is its URL.' } },
  refusals: [BAD_FLAVOR, ...TUS_CREATION_REFUSALS],
  handle: answerAs('POST'),
});

export const uploadState = defineEndpoint({
  ...toUpload,
  method: 'get',
  summary: 'Read the offset of an upload',
  description: 'Use `HEAD`, as tus requires.',
  answers: { 200: { description: 'See the headers `Upload-Offset` and `Upload-Length`.' } },
  handle: answerAs('HEAD'),
});

export const appendToUpload = defineEndpoint({
  ...toUpload,
  method: 'patch',
  summary: 'Append bytes to an upload',
  description:
    '`Upload-Offset` must equal the current offset. If the connection breaks, the bytes received until then are kept; with `Upload-Checksum`, either all or none are. If two clients send concurrently, the first one is asked to stop.',
  answers: { 204: { description: 'All bytes before `Upload-Offset` are durable.' } },
  refusals: toAppend,
  handle: answerAs('PATCH'),
});

/** Changes as much as the overriding method, and is guarded like it. */
export const overrideMethod = defineEndpoint({
  ...toUpload,
  method: 'post',
  summary: 'Append bytes to an upload or delete it, with POST',
  description: 'The header `X-HTTP-Method-Override` must be `PATCH` or `DELETE`.',
  answers: { 204: { description: 'As for the overriding method.' } },
  refusals: [BAD_OVERRIDE, ...toAppend],
  handle: (request, services: TusServices) => {
    const method = overridingMethod(request.c.req.raw.headers);
    if (!method) throw BAD_OVERRIDE();
    return answerAs(method)(request, services);
  },
});

export const removeUpload = defineEndpoint({
  ...toUpload,
  method: 'delete',
  summary: 'Delete an upload',
  description: 'An event that uses it keeps its recording.',
  answers: { 204: { description: 'The upload and its bytes were deleted.' } },
  handle: answerAs('DELETE'),
});

function answerAs(method: TusMethod) {
  return ({ c, params }: EndpointRequest, services: TusServices): Promise<Response> => {
    const { upload_id: id } = params as { upload_id?: string };
    return answerTusRequest(method, c, services, uploadsOf(c.var.principal, services), id);
  };
}

/** The uploads of an account; of all accounts for administrators. */
function uploadsOf(principal: Principal, services: TusServices): Uploads {
  const { database, config } = services;
  const maxBytes = config.maxUploadBytes;
  return {
    newId: newUploadId(),
    isKnown: false,
    maxBytes,
    address: (id) => `${config.publicUrl}${PATH}/${id}`,
    begin: (id, { length, metadata, sent }) => {
      const flavor = metadata.flavor?.trim() || undefined;
      if (flavor !== undefined && !FLAVOR.test(flavor)) throw BAD_FLAVOR();
      const [owner, filename] = [principal.username, metadata.filename ?? ''];
      return beginUpload(services, id, { owner, filename, flavor, metadata: sent, length, maxBytes });
    },
    find: async (id) => {
      const upload = await findUpload(database, id, principal);
      if (!upload) throw NO_UPLOAD(id);
      return upload;
    },
    remove: (id) => inTransaction(database, (trx) => discardUpload(trx, id)),
  };
}
