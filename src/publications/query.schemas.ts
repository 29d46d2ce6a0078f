import { z } from 'zod';
import { flag } from '#platform/http/endpoint/query.schemas.ts';
import { PUBLICATION_CHANGES } from './versions.ts';

/** How to answer one publication. */
export const PublicationQuery = z.object({
  sign: flag('Sign the addresses of publications, where Inlet is configured to sign.'),
});
export type PublicationQuery = z.infer<typeof PublicationQuery>;

/** Which publications to answer, and how. */
export const PublicationsQuery = PublicationQuery.extend({
  includeInternalPublication: flag('Also answer the publication on the channel `internal`.').meta({
    'x-since': PUBLICATION_CHANGES.includeInternalPublication,
  }),
});
export type PublicationsQuery = z.infer<typeof PublicationsQuery>;
