import { z } from 'zod';
import { flag } from '#platform/http/endpoint/query.schemas.ts';
import { PUBLICATION_CHANGES } from './versions.ts';

export const PublicationQuery = z.object({
  sign: flag('Sign the addresses of publications, if signing is configured.'),
});
export type PublicationQuery = z.infer<typeof PublicationQuery>;

export const PublicationsQuery = PublicationQuery.extend({
  includeInternalPublication: flag('Include the publication on the channel `internal`.').meta({
    'x-since': PUBLICATION_CHANGES.includeInternalPublication,
  }),
});
export type PublicationsQuery = z.infer<typeof PublicationsQuery>;
