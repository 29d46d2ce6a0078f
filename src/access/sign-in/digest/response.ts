import { timingSafeEqual } from 'node:crypto';
import { type DigestSecrets, digestOf } from '../../accounts/digest-secrets.ts';
import type { DigestAnswer } from './header.ts';

/** What the client's response has to be, in hexadecimal digits (RFC 7616, section 3.4.1; RFC 2069 without `qop`). */
export function expectedResponse(answer: DigestAnswer, method: string, secrets: DigestSecrets): string {
  const { algorithm, nonce, uri, protection } = answer;
  const hash = (...parts: string[]) => digestOf(algorithm, Buffer.from(parts.join(':'), 'latin1'));
  const secret = algorithm === 'MD5' ? secrets.md5 : secrets.sha256;
  const asked = hash(method, uri);
  if (!protection) return hash(secret, nonce, asked);
  return hash(secret, nonce, protection.nc, protection.cnonce, protection.qop, asked);
}

/** Whether the client knows the password. The comparison takes the same time whatever the answer. */
export function isRight(answer: DigestAnswer, method: string, secrets: DigestSecrets): boolean {
  const expected = expectedResponse(answer, method, secrets);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(answer.response));
}
