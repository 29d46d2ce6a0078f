import type { Principal } from '#access/principal.ts';
import { FLAVOR } from '#catalogue/events/flavor.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { beginUpload } from './begin.ts';
import { NO_UPLOAD } from './take.ts';
import { BAD_FLAVOR } from './tus-refusals.ts';
import type { TusServices, Uploads } from './tus-request.ts';
import { discardUpload, findUpload, newUploadId } from './uploads.ts';

/** Where uploads are. */
export const PATH = '/uploads';

/** The uploads of an account; of all accounts, for administrators. */
export function uploadsOf(principal: Principal, services: TusServices): Uploads {
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
