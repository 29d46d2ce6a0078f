import type { Since } from '#platform/http/answer/version.ts';

/** Which version brought which field of a publication's media (compatibility 2.4). */
export const MEDIA_FIELDS = { is_master_playlist: '1.7.0', is_live: '1.7.0' } as const satisfies Since;
/** Which version brought which parameter and behaviour. */
export const PUBLICATION_CHANGES = {
  signedUrl: '1.7.0',
  internalById: '1.11.0',
  includeInternalPublication: '1.11.0',
} as const satisfies Since;
