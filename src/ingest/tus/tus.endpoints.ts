import { z } from 'zod';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { NO_UPLOAD } from './finished-uploads.ts';
import { answerTusRequest } from './tus.ts';
import {
  BAD_FLAVOR,
  BAD_LENGTH,
  BAD_METADATA,
  BAD_OVERRIDE,
  BYTE_REFUSALS,
  LENGTH_KNOWN,
  OTHER_OFFSET,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  WRONG_VERSION,
} from './tus-refusals.ts';
import type { TusServices, Uploads } from './tus-request.ts';
import { beginUpload, discardUpload, findUpload, newUploadId } from './uploads.ts';

const PATH = '/uploads';
const TUS = '[tus 1.0.0](https://tus.io/protocols/resumable-upload)';
const REFUSALS = [WRONG_VERSION, UPLOAD_LOCKED, UPLOAD_GONE, NO_UPLOAD];
const access = apiRole('EVENTS_CREATE');
const toUpload = {
  path: `${PATH}/{upload_id}`,
  access,
  params: { upload_id: z.string().meta({ description: 'The last part of its address.' }) },
  refusals: REFUSALS,
} as const;
const toAppend = [...REFUSALS, OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS];

export const uploadOptions = defineEndpoint({
  method: 'options',
  path: PATH,
  access: 'public',
  summary: 'Which extensions of tus there are',
  description: `Needs no account. Uploads are resumable by ${TUS}.`,
  answers: { 204: { description: 'In the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
  handle: answerAs('OPTIONS'),
});

export const createUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  access,
  summary: 'Begin an upload',
  description: `Resumable uploads by ${TUS}. Of \`Upload-Metadata\` the values \`filename\`, \`filetype\` and \`flavor\` (such as \`presenter/source\`) are known. A finished upload becomes a track by the form field \`uploads\` of \`POST /api/events\` and \`POST /api/events/{event_id}\`.`,
  answers: { 201: { description: 'It has begun; `Location` says where.' } },
  refusals: [BAD_LENGTH, BAD_METADATA, BAD_FLAVOR, ...BYTE_REFUSALS],
  handle: answerAs('POST'),
});

export const uploadState = defineEndpoint({
  ...toUpload,
  method: 'get',
  summary: 'How far an upload is',
  description: 'To be asked with `HEAD`, as tus has it.',
  answers: { 200: { description: 'In the headers `Upload-Offset` and `Upload-Length`.' } },
  handle: answerAs('HEAD'),
});

export const appendToUpload = defineEndpoint({
  ...toUpload,
  method: 'patch',
  summary: 'Send more of an upload',
  description:
    'From `Upload-Offset` on, which must be how far it is. What comes before a line breaks counts; with `Upload-Checksum` all of it does, or nothing. Of two that send at once, the first is asked to stop.',
  answers: { 204: { description: 'It is durable up to `Upload-Offset`.' } },
  refusals: toAppend,
  handle: answerAs('PATCH'),
});

/** Changes as much as the method that is meant, and is guarded like it. */
export const overrideMethod = defineEndpoint({
  ...toUpload,
  method: 'post',
  summary: 'Send more of an upload, or give it up, where only POST passes',
  description: 'With the header `X-HTTP-Method-Override`, which says `PATCH` or `DELETE`.',
  answers: { 204: { description: 'As the method that is meant.' } },
  refusals: [BAD_OVERRIDE, ...toAppend],
  handle: (request, services: TusServices) => {
    const meant = request.c.req.header('X-HTTP-Method-Override')?.trim().toUpperCase();
    if (meant !== 'PATCH' && meant !== 'DELETE') throw BAD_OVERRIDE();
    return answerAs(meant)(request, services);
  },
});

export const removeUpload = defineEndpoint({
  ...toUpload,
  method: 'delete',
  summary: 'Give an upload up',
  description: 'An event that has it keeps its recording.',
  answers: { 204: { description: 'Nothing of it is kept.' } },
  handle: answerAs('DELETE'),
});

function answerAs(method: string) {
  return ({ c, params }: EndpointRequest, services: TusServices): Promise<Response> => {
    const { upload_id: id } = params as { upload_id?: string };
    return answerTusRequest(method, c, services, uploadsOf(c.var.principal, services), id);
  };
}

/** The uploads of an account; of all accounts, for administrators. */
function uploadsOf(principal: Principal, services: TusServices): Uploads {
  const { database, config } = services;
  const maxBytes = config.maxUploadBytes;
  return {
    newId: newUploadId(),
    known: false,
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
