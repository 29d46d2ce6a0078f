import { z } from 'zod';
import { EVENT_ID } from '#catalogue/events/event-examples.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { CONCURRENT_UPDATE, DATABASE_UNAVAILABLE } from '#platform/http/app/error-handler.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isOpen } from '../drafts.ts';
import { answerTusRequest, type TusServices, type Uploads } from '../tus/tus.ts';
import {
  BAD_OVERRIDE,
  overridingMethod,
  readMetadata,
  TUS_APPEND_REFUSALS,
  TUS_CREATION_REFUSALS,
  TUS_REFUSALS,
  type TusMethod,
} from '../tus/tus-headers.ts';
import { beginUpload, declareLength, findUpload, UploadLost } from '../tus/tus-uploads.ts';
import { type CompletionParts, completeDirectUpload, type RequestInfo } from './direct-completion.ts';
import {
  type DirectFile,
  type DirectUpload,
  EVENT_MADE,
  findByToken,
  findDirectUpload,
  startOver,
  UPLOAD_URL_PREFIX,
} from './direct-uploads.ts';

/** The response header with the identifier of the event, after the last file was received. */
export const EVENT_HEADER = 'Inlet-Event-Id';

const NO_SUCH_ADDRESS = refusal(404, 'This upload URL does not exist or was revoked.');
const ADDRESS_EXPIRED = refusal(410, 'This upload URL has expired.');
const NOTHING_TO_UPLOAD = refusal(400, 'The file is empty: Upload-Length must be at least 1.');
const NO_EVENT_MADE = refusal(
  422,
  'All files were received, but no event could be created. The account that requested this URL can read the reason.',
);
const OTHER_LENGTH = refusal(
  409,
  (length: number) => `An upload of ${length} bytes exists at this URL. Continue or delete it.`,
  [10_485_760],
);

type Services = TusServices & CompletionParts;

const path = `${UPLOAD_URL_PREFIX}/{token}` as const;
const refusals = [
  ...[DATABASE_UNAVAILABLE, CONCURRENT_UPDATE, ...TUS_REFUSALS],
  ...[NO_SUCH_ADDRESS, ADDRESS_EXPIRED, NO_EVENT_MADE],
];
const toAppend = [...refusals, NOTHING_TO_UPLOAD, ...TUS_APPEND_REFUSALS];
const headers = z.object({
  [EVENT_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'The event, after all files were received.', example: EVENT_ID }),
});
const shared = {
  path,
  access: 'public',
  params: { token: z.string().meta({ description: 'The last segment of the URL, a secret.' }) },
  refusals,
  handle: answer,
} as const;

export const addressOptions = defineEndpoint({
  ...shared,
  method: 'options',
  summary: 'List the tus extensions of an upload URL',
  description: 'Few clients need this.',
  answers: { 204: { description: 'See the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
});

export const beginAtAddress = defineEndpoint({
  ...shared,
  method: 'post',
  summary: 'Create the upload of an upload URL',
  description:
    'For clients that use the URL as the `endpoint` of tus. `Location` is the same URL; the request may be repeated with the same length. With `X-HTTP-Method-Override`, the request is a `PATCH` or `DELETE` request.',
  answers: {
    201: { description: 'The upload was created or existed already.', headers },
    204: { description: 'As for the overriding method.', headers },
  },
  refusals: [...toAppend, ...TUS_CREATION_REFUSALS, OTHER_LENGTH, BAD_OVERRIDE, EVENT_MADE],
});

export const addressState = defineEndpoint({
  ...shared,
  method: 'get',
  summary: 'Read the offset of an upload URL',
  description: 'Use `HEAD`, as tus requires.',
  answers: {
    200: { description: 'See `Upload-Offset`, and `Upload-Length` or `Upload-Defer-Length`.', headers },
  },
});

export const appendAtAddress = defineEndpoint({
  ...shared,
  method: 'patch',
  summary: 'Append bytes at an upload URL',
  description:
    'Any request may declare the length; the last one must, unless it is known. The last byte of the last file creates the event.',
  answers: { 204: { description: 'All bytes before `Upload-Offset` are durable.', headers } },
  refusals: toAppend,
});

export const removeAtAddress = defineEndpoint({
  ...shared,
  method: 'delete',
  summary: 'Delete the upload at an upload URL',
  description: 'Another file may then be uploaded to the URL.',
  answers: { 204: { description: 'The received bytes were deleted.' } },
  refusals: [...refusals, EVENT_MADE],
});

async function answer({ c, params: { token } }: EndpointRequest<typeof path>, services: Services): Promise<Response> {
  const found = await findByToken(services.database, token);
  if (!found) throw NO_SUCH_ADDRESS();
  const { direct, file } = found;
  const sentMethod = (c.req.method === 'GET' ? 'HEAD' : c.req.method) as TusMethod;
  const method = (sentMethod === 'POST' && overridingMethod(c.req.raw.headers)) || sentMethod;
  if (direct.isClosed) throw ADDRESS_EXPIRED();
  if (direct.failure !== undefined) throw NO_EVENT_MADE();
  if (method === 'DELETE' && direct.accepted) throw EVENT_MADE(direct.accepted.eventId);
  if (Number(c.req.header('Upload-Length') ?? 1) === 0) throw NOTHING_TO_UPLOAD();
  const address = `${services.config.publicUrl}${UPLOAD_URL_PREFIX}/${token}`;
  // The upload's own identifier is used, because locks and logs show it and the token is a secret.
  const id = ['POST', 'OPTIONS'].includes(method) ? '' : file.uploadId;
  return answerTusRequest(method, c, services, uploadAt(address, services, found, c.var), id);
}

/** Returns the only upload of an upload URL. */
function uploadAt(
  address: string,
  services: Services,
  { direct, file }: { direct: DirectUpload; file: DirectFile },
  request: RequestInfo,
): Uploads {
  const { database } = services;
  const { maxBytes, author } = direct.request;
  const begin: Uploads['begin'] = (id, { length, metadata, sent }) => {
    const filename = metadata.filename ?? file.field ?? '';
    const { flavor } = file;
    const upload = { filename, flavor, metadata: sent, length, maxBytes };
    const owned = { ...upload, owner: author.username, expiresBy: direct.closesAt };
    return beginUpload(services, id, owned, async (trx) => {
      const now = await findDirectUpload(trx, direct.id, { lock: true });
      if (!now || !isOpen(now)) throw NO_SUCH_ADDRESS();
      const isAwaited = now.files.some(({ uploadId }) => uploadId === id);
      if (!isAwaited) throw new UploadLost('The file was deleted; another upload is awaited.');
    });
  };
  return {
    newId: file.uploadId,
    isKnown: true,
    maxBytes,
    address: () => address,
    begin: async (id, creation) => {
      const upload = await findUpload(database, id);
      if (!upload) return begin(id, creation);
      const { length } = creation;
      if (length === undefined) return upload;
      if (upload.length !== undefined && upload.length !== length) throw OTHER_LENGTH(upload.length);
      if (length < upload.offset) throw OTHER_LENGTH(upload.offset);
      await declareLength(database, id, length);
      return { ...upload, length };
    },
    find: async (id) => {
      const none = { length: undefined, offset: 0, metadata: '', expiresAt: direct.closesAt, complete: false };
      return (await findUpload(database, id)) ?? none;
    },
    open: async (id, sent) => {
      if (!(await findUpload(database, id))) await begin(id, { length: undefined, metadata: readMetadata(sent), sent });
    },
    remove: (id) => inTransaction(database, (trx) => startOver(trx, direct.id, id)),
    completed: async (): Promise<Readonly<Record<string, string>>> => {
      const now = await completeDirectUpload(services, direct.id, request);
      if (!now) throw NO_SUCH_ADDRESS();
      if (now.failure !== undefined) throw NO_EVENT_MADE();
      if (now.accepted) return { [EVENT_HEADER]: now.accepted.eventId };
      if (now.isClosed) throw ADDRESS_EXPIRED();
      return {};
    },
  };
}
