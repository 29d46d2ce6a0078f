import { z } from 'zod';
import { DRAFT_GONE } from '#ingest/draft-refusals.ts';
import { discardDraft } from '#ingest/drafts.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { NO_PACKAGE, UNREADABLE_PACKAGE } from './echoed-package.ts';
import { ECHO } from './examples.ts';
import { DELIVERERS, type PackageServices } from './packages.ts';
import { which } from './receive-element.ts';
import { textFields } from './text-fields.ts';

export const discardPackage = defineEndpoint({
  method: 'post',
  path: '/ingest/discardMediaPackage',
  access: DELIVERERS,
  summary: 'Give a media package up',
  description: 'Its files are removed at once. One that has been ingested stays an event.',
  form: {
    fieldsAsFiles: true,
    schema: z.object({
      mediaPackage: z.string().meta({ description: 'The media package as the last request answered it.' }),
    }),
    example: ECHO,
  },
  answers: { 200: { description: 'It is gone.' } },
  refusals: [NO_PACKAGE, UNREADABLE_PACKAGE, DRAFT_GONE],
  handle: async (request, services: PackageServices) => {
    const { c } = request;
    const draft = which(c, await textFields(request, services));
    await inTransaction(services.database, (trx) => discardDraft(trx, draft));
    c.var.log.info({ package: draft.id }, 'a media package has been discarded');
    return c.body(null, 200);
  },
});
