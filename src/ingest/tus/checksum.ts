import { createHash } from 'node:crypto';
import { refusal } from '#platform/http/errors/refusal.ts';

/** What `Tus-Checksum-Algorithm` announces. */
export const ALGORITHMS = ['sha1', 'sha256', 'sha512', 'md5'] as const;

export const UNREADABLE_CHECKSUM = refusal(
  400,
  `Upload-Checksum must be one of ${ALGORITHMS.join(', ')}, a blank, and the checksum in Base64.`,
);
// The protocol has a status of its own for it, which no table of statuses knows.
export const CHECKSUM_MISMATCH = refusal(
  460 as 400,
  'The checksum is that of other bytes; none of them is kept.',
);

/** What is to come, by its checksum. */
export interface Checksum {
  update(chunk: Uint8Array): void;
  /** @throws {HttpError} 460 when something else has come */
  check(): void;
}

/**
 * Reads `Upload-Checksum`.
 *
 * @returns undefined when the request has none
 * @throws {HttpError} 400
 */
export function parseChecksum(header: string | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [, algorithm = '', expected = ''] = /^(\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(header.trim()) ?? [];
  if (!ALGORITHMS.some((known) => known === algorithm)) throw UNREADABLE_CHECKSUM();
  const hash = createHash(algorithm);
  return {
    update: (chunk) => void hash.update(chunk),
    check: () => {
      if (hash.digest('base64') !== expected) throw CHECKSUM_MISMATCH();
    },
  };
}
