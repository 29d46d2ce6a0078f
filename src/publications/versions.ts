import type { Since } from '#platform/http/answer/version.ts';

/** The versions that introduced fields of published media (compatibility 2.4). */
export const MEDIA_FIELDS = { is_master_playlist: '1.7.0', is_live: '1.7.0' } as const satisfies Since;
/** The versions that introduced parameters and behaviour. */
export const PUBLICATION_CHANGES = {
  signedUrl: '1.7.0',
  internalById: '1.11.0',
  includeInternalPublication: '1.11.0',
} as const satisfies Since;
