import { z } from 'zod';
import { apiRole } from '#access/roles/api-roles.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { PATH, uploadsOf } from './account-uploads.ts';
import { BYTE_REFUSALS } from './byte-refusals.ts';
import { NO_UPLOAD } from './take.ts';
import {
  BAD_FLAVOR,
  BAD_LENGTH,
  BAD_METADATA,
  BAD_OVERRIDE,
  LENGTH_KNOWN,
  OTHER_OFFSET,
  UPLOAD_GONE,
  UPLOAD_LOCKED,
  WRONG_VERSION,
} from './tus-refusals.ts';
import { answerTusRequest, type TusServices } from './tus-request.ts';

const params = { upload_id: z.string().meta({ description: 'The last part of its address.' }) };
const access = apiRole('EVENTS_CREATE');
const refusals = [WRONG_VERSION, UPLOAD_LOCKED, UPLOAD_GONE, NO_UPLOAD];

/** What of the protocol this server has; clients find that out before they have an account. */
export const uploadOptions = defineEndpoint({
  method: 'options',
  path: PATH,
  access: 'public',
  summary: 'Which extensions of tus there are',
  description:
    'Needs no account. Uploads are resumable by [tus 1.0.0](https://tus.io/protocols/resumable-upload).',
  answers: { 204: { description: 'In the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
  handle: answer,
});

export const createUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  access,
  summary: 'Begin an upload',
  description:
    'Resumable uploads by [tus 1.0.0](https://tus.io/protocols/resumable-upload). Of `Upload-Metadata` the values `filename`, `filetype` and `flavor` (such as `presenter/source`) are known. A finished upload becomes a track by the form field `uploads` of `POST /api/events` and `POST /api/events/{event_id}`.',
  answers: { 201: { description: 'It has begun; `Location` says where.' } },
  refusals: [BAD_LENGTH, BAD_METADATA, BAD_FLAVOR, ...BYTE_REFUSALS],
  handle: answer,
});

export const uploadState = defineEndpoint({
  method: 'get',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'How far an upload is',
  description: 'To be asked with `HEAD`, as tus has it.',
  params,
  answers: { 200: { description: 'In the headers `Upload-Offset` and `Upload-Length`.' } },
  refusals,
  handle: answer,
});

export const appendToUpload = defineEndpoint({
  method: 'patch',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'Send more of an upload',
  description:
    'From `Upload-Offset` on, which must be how far it is. What comes before a line breaks counts; with `Upload-Checksum` all of it does, or nothing. Of two that send at once, the first is asked to stop.',
  params,
  answers: { 204: { description: 'It is durable up to `Upload-Offset`.' } },
  refusals: [...refusals, OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS],
  handle: answer,
});

/** It changes as much as the method that it stands for, and nobody may send it who may not send that. */
export const overrideMethod = defineEndpoint({
  method: 'post',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'Send more of an upload, or give it up, where only POST passes',
  description: 'With the header `X-HTTP-Method-Override`, which says `PATCH` or `DELETE`.',
  params,
  answers: { 204: { description: 'As the method that is meant.' } },
  refusals: [...refusals, BAD_OVERRIDE, OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS],
  handle: (request, services: TusServices) => {
    const meant = request.c.req.header('X-HTTP-Method-Override')?.trim().toUpperCase();
    if (meant !== 'PATCH' && meant !== 'DELETE') throw BAD_OVERRIDE();
    const { c, params } = request;
    return answerTusRequest(meant, c, services, uploadsOf(c.var.principal, services), params.upload_id);
  },
});

export const removeUpload = defineEndpoint({
  method: 'delete',
  path: `${PATH}/{upload_id}`,
  access,
  summary: 'Give an upload up',
  description: 'An event that has it keeps its recording.',
  params,
  answers: { 204: { description: 'Nothing of it is kept.' } },
  refusals,
  handle: answer,
});

function answer({ c, params }: EndpointRequest, services: TusServices): Promise<Response> {
  const { upload_id: id } = params as { upload_id?: string };
  const { method } = c.req;
  const uploads = uploadsOf(c.var.principal, services);
  return answerTusRequest(method === 'GET' ? 'HEAD' : method, c, services, uploads, id);
}
