import { EVENT_ID } from '#catalogue/events/examples.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { declareLength } from '../tus/progress.ts';
import { readMetadata } from '../tus/tus-headers.ts';
import type { Creation, TusServices, UploadState, Uploads } from '../tus/tus-request.ts';
import { beginUpload, findUpload, type Upload } from '../tus/uploads.ts';
import { ADDRESSES, type DirectFile, type DirectUpload } from './direct-uploads.ts';
import { type FinishParts, finishDirectUpload, type Occasion } from './finish.ts';
import { DirectUploadOver, EventMade, holdOpen, startOver } from './outcome.ts';

/** Tells the event that has been made, when the last file is there. */
export const EVENT_HEADER = 'Inlet-Event-Id';

export const NO_SUCH_ADDRESS = refusal(
  404,
  'Nothing can be uploaded to this address: it was taken back, or there never was one.',
);
export const ADDRESS_EXPIRED = refusal(410, 'The address has expired.');
export const EVENT_MADE = refusal(
  409,
  (id: string) => `The event '${id}' has been made of the direct upload; it stays.`,
  [EVENT_ID],
);
export const NO_EVENT_MADE = refusal(
  422,
  'All files have come, but no event could be made of them. Whoever handed out the address is told why.',
);
export const OTHER_LENGTH = refusal(
  409,
  (length: number) => `An upload of ${length} bytes has begun here; go on with it, or give it up.`,
  [10_485_760],
);

/** What is done at addresses needs all that. */
export type AddressServices = TusServices & FinishParts;

/**
 * The one upload that an address is for.
 *
 * @param sent `Upload-Metadata` of a client that takes it for begun
 */
export function uploadAt(
  services: AddressServices,
  { direct, file, token }: { direct: DirectUpload; file: DirectFile; token: string },
  occasion: Occasion,
  sent: string,
): Uploads {
  const { database, config } = services;
  const { maxBytes, expiresAt } = direct;
  const enter = (asked: Creation): Promise<Upload> =>
    beginUpload(
      services,
      file.uploadId,
      {
        owner: direct.author.username,
        filename: asked.metadata.filename ?? file.field ?? '',
        flavor: file.flavor,
        metadata: asked.sent,
        length: asked.length,
        expiresBy: expiresAt,
        maxBytes,
      },
      (trx) => holdOpen(trx, direct.id, file.uploadId),
    ).catch((error) => {
      throw error instanceof DirectUploadOver ? NO_SUCH_ADDRESS() : error;
    });
  return {
    newId: file.uploadId,
    known: true,
    maxBytes,
    address: () => `${config.publicUrl}${ADDRESSES}/${token}`,
    begin: async (id, asked) => {
      const begun = await findUpload(database, id);
      if (!begun) return enter(asked);
      if (asked.length === undefined) return begun;
      if (begun.length !== undefined && begun.length !== asked.length) throw OTHER_LENGTH(begun.length);
      if (asked.length < begun.offset) throw OTHER_LENGTH(begun.offset);
      await declareLength(database, id, asked.length);
      return { ...begun, length: asked.length };
    },
    find: async (id): Promise<UploadState> =>
      (await findUpload(database, id)) ?? {
        length: undefined,
        offset: 0,
        metadata: '',
        expiresAt,
        complete: false,
      },
    open: async (id) => {
      if (await findUpload(database, id)) return;
      await enter({ length: undefined, metadata: readMetadata(sent), sent });
    },
    remove: (id) =>
      inTransaction(database, (trx) => startOver(trx, direct.id, id)).catch((error) => {
        throw error instanceof EventMade ? EVENT_MADE(error.eventId) : error;
      }),
    completed: async (): Promise<Readonly<Record<string, string>>> => {
      const now = await finishDirectUpload(services, direct.id, occasion);
      if (!now) throw NO_SUCH_ADDRESS();
      if (now.failure !== undefined) throw NO_EVENT_MADE();
      if (now.expired && now.eventId === undefined) throw ADDRESS_EXPIRED();
      return now.eventId === undefined ? {} : { [EVENT_HEADER]: now.eventId };
    },
  };
}
