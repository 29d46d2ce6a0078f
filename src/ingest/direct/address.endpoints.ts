import type { Context } from 'hono';
import { z } from 'zod';
import { EVENT_ID } from '#catalogue/events/examples.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { DATABASE_AWAY, OTHERS_CHANGE_IT } from '#platform/http/app/error-handler.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { isOpen } from '../drafts.ts';
import { declareLength } from '../tus/progress.ts';
import { answerTusRequest } from '../tus/tus.ts';
import { readMetadata } from '../tus/tus-headers.ts';
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
import type { Creation, TusServices, Uploads } from '../tus/tus-request.ts';
import { beginUpload, findUpload, type Upload, UploadLost } from '../tus/uploads.ts';
import { type CompletionParts, completeDirectUpload, type Occasion } from './direct-completion.ts';
import {
  ADDRESSES,
  type DirectFile,
  type DirectUpload,
  findByToken,
  findDirectUpload,
  startOver,
} from './direct-uploads.ts';

/** The response header with the event that has been made, once the last file has come. */
export const EVENT_HEADER = 'Inlet-Event-Id';

const NO_SUCH_ADDRESS = refusal(
  404,
  'Nothing can be uploaded to this address: it was taken back, or there never was one.',
);
const ADDRESS_EXPIRED = refusal(410, 'The address has expired.');
const NOTHING_TO_UPLOAD = refusal(400, 'The file is empty; Upload-Length must be 1 at least.');
export const EVENT_MADE = refusal(
  409,
  (id: string) => `The event '${id}' has been made of the direct upload; it stays.`,
  [EVENT_ID],
);
const NO_EVENT_MADE = refusal(
  422,
  'All files have come, but no event could be made of them. Whoever handed out the address is told why.',
);
const OTHER_LENGTH = refusal(
  409,
  (length: number) => `An upload of ${length} bytes has begun here; go on with it, or give it up.`,
  [10_485_760],
);

type Services = TusServices & CompletionParts;

const path = `${ADDRESSES}/{token}` as const;
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
/** Of requests that send bytes. */
const WITH_BYTES = [...refusals, NOTHING_TO_UPLOAD, OTHER_OFFSET, LENGTH_KNOWN, ...BYTE_REFUSALS];
const headers = z.object({
  [EVENT_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'The event, once all files have come.', example: EVENT_ID }),
});
const shared = {
  path,
  access: 'public',
  params: { token: z.string().meta({ description: 'The last part of the address, a secret.' }) },
  refusals,
  handle: answer,
} as const;

export const addressOptions = defineEndpoint({
  ...shared,
  method: 'options',
  summary: 'Which extensions of tus an address has',
  description: 'Asked by clients that look before they upload; most do not.',
  answers: { 204: { description: 'In the headers `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' } },
});

export const beginAtAddress = defineEndpoint({
  ...shared,
  method: 'post',
  summary: 'Begin to upload to an address',
  description:
    'For clients that take the address for the `endpoint` of tus. `Location` is the address itself; with the same length it may be asked for again. With `X-HTTP-Method-Override` it is what that says, `PATCH` or `DELETE`.',
  answers: {
    201: { description: 'It has begun, or had before.', headers },
    204: { description: 'As the method that is meant.', headers },
  },
  refusals: [...WITH_BYTES, BAD_LENGTH, BAD_METADATA, OTHER_LENGTH, BAD_OVERRIDE, EVENT_MADE],
});

export const addressState = defineEndpoint({
  ...shared,
  method: 'get',
  summary: 'How much has come to an address',
  description: 'To be asked with `HEAD`, as tus has it.',
  answers: {
    200: { description: 'In `Upload-Offset`, and `Upload-Length` or `Upload-Defer-Length`.', headers },
  },
});

export const appendAtAddress = defineEndpoint({
  ...shared,
  method: 'patch',
  summary: 'Send more to an address',
  description:
    'The length may be declared with any request, the last one at the latest. With the last byte of the last file the event is made.',
  answers: { 204: { description: 'It is durable up to `Upload-Offset`.', headers } },
  refusals: WITH_BYTES,
});

export const removeAtAddress = defineEndpoint({
  ...shared,
  method: 'delete',
  summary: 'Give up what has come to an address',
  description: 'Something else may be uploaded to it then.',
  answers: { 204: { description: 'Nothing of it is kept.' } },
  refusals: [...refusals, EVENT_MADE],
});

async function answer({ c, params: { token } }: EndpointRequest<typeof path>, services: Services): Promise<Response> {
  const found = await findByToken(services.database, token);
  if (!found) throw NO_SUCH_ADDRESS();
  const { direct, file } = found;
  const method = meantBy(c);
  if (direct.isClosed) throw ADDRESS_EXPIRED();
  if (direct.failure !== undefined) throw NO_EVENT_MADE();
  if (method === 'DELETE' && direct.accepted) throw EVENT_MADE(direct.accepted.eventId);
  if (Number(c.req.header('Upload-Length') ?? 1) === 0) throw NOTHING_TO_UPLOAD();
  const sent = c.req.header('Upload-Metadata')?.trim() ?? '';
  const address = `${services.config.publicUrl}${ADDRESSES}/${token}`;
  const uploads = uploadAt(services, { direct, file, address, sent }, c.var);
  // The protocol is answered under the name of the upload, which is no secret.
  const id = ['POST', 'OPTIONS'].includes(method) ? '' : file.uploadId;
  return answerTusRequest(method, c, services, uploads, id);
}

/** The method of a request; some clients have to send everything with POST. */
function meantBy(c: Context): string {
  const { method } = c.req;
  if (method === 'GET') return 'HEAD';
  const meant = c.req.header('X-HTTP-Method-Override')?.trim().toUpperCase();
  if (method !== 'POST' || meant === undefined) return method;
  if (meant !== 'PATCH' && meant !== 'DELETE') throw BAD_OVERRIDE();
  return meant;
}

/**
 * The one upload of an address.
 *
 * @param at.sent `Upload-Metadata` of a client that assumes that the upload exists
 */
function uploadAt(
  services: Services,
  { direct, file, ...at }: { direct: DirectUpload; file: DirectFile; address: string; sent: string },
  occasion: Occasion,
): Uploads {
  const { database } = services;
  const { maxBytes, author } = direct.request;
  const begin = (asked: Creation): Promise<Upload> => {
    const begun = {
      owner: author.username,
      filename: asked.metadata.filename ?? file.field ?? '',
      flavor: file.flavor,
      metadata: asked.sent,
      length: asked.length,
      expiresBy: direct.closesAt,
      maxBytes,
    };
    return beginUpload(services, file.uploadId, begun, async (trx) => {
      const now = await findDirectUpload(trx, direct.id, { lock: true });
      if (!now || !isOpen(now)) throw NO_SUCH_ADDRESS();
      const isAwaited = now.files.some(({ uploadId }) => uploadId === file.uploadId);
      if (!isAwaited) throw new UploadLost('The file was discarded; another upload is awaited.');
    });
  };
  return {
    newId: file.uploadId,
    known: true,
    maxBytes,
    address: () => at.address,
    begin: async (id, asked) => {
      const begun = await findUpload(database, id);
      if (!begun) return begin(asked);
      if (asked.length === undefined) return begun;
      if (begun.length !== undefined && begun.length !== asked.length) throw OTHER_LENGTH(begun.length);
      if (asked.length < begun.offset) throw OTHER_LENGTH(begun.offset);
      await declareLength(database, id, asked.length);
      return { ...begun, length: asked.length };
    },
    find: async (id) => {
      const none = {
        length: undefined,
        offset: 0,
        metadata: '',
        expiresAt: direct.closesAt,
        complete: false,
      };
      return (await findUpload(database, id)) ?? none;
    },
    open: async (id) => {
      if (await findUpload(database, id)) return;
      await begin({ length: undefined, metadata: readMetadata(at.sent), sent: at.sent });
    },
    remove: async (id) => {
      const made = await inTransaction(database, (trx) => startOver(trx, direct.id, id));
      if (made) throw EVENT_MADE(made.eventId);
    },
    completed: async (): Promise<Readonly<Record<string, string>>> => {
      const now = await completeDirectUpload(services, direct.id, occasion);
      if (!now) throw NO_SUCH_ADDRESS();
      if (now.failure !== undefined) throw NO_EVENT_MADE();
      if (now.accepted) return { [EVENT_HEADER]: now.accepted.eventId };
      if (now.isClosed) throw ADDRESS_EXPIRED();
      return {};
    },
  };
}
