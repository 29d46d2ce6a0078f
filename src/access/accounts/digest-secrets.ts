import { createHash } from 'node:crypto';

/** What clients show beside the question for a password; it goes into what Digest keeps of one. */
export const REALM = 'Opencast';

/** The algorithms of HTTP Digest that can be answered with, as RFC 7616 names them. */
export const DIGEST_ALGORITHMS = ['MD5', 'SHA-256'] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

/** What Digest keeps of a password, in hexadecimal digits. As good as the password itself: never to be shown or logged. */
export interface DigestSecrets {
  md5: string;
  sha256: string;
}

export function digestSecrets(username: string, password: string): DigestSecrets {
  const text = `${username}:${REALM}:${password}`;
  return { md5: digestOf('MD5', text), sha256: digestOf('SHA-256', text) };
}

/** @returns hexadecimal digits in lower case */
export function digestOf(algorithm: DigestAlgorithm, data: string | Buffer): string {
  return createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
    .update(data)
    .digest('hex');
}
