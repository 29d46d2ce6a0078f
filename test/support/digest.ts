import { createHash, randomBytes } from 'node:crypto';

/** Who answers a challenge of HTTP Digest, and for what. */
export interface DigestInput {
  username: string;
  password: string;
  nonce: string;
  method?: string;
  /** As it stands in the header. */
  uri: string;
  algorithm?: 'MD5' | 'SHA-256';
  /** Without it the client is one of RFC 2069. */
  nc?: string;
  realm?: string;
}

/** An `Authorization` header as clients make it, by another hand than the product's. */
export function digestHeader(input: DigestInput): string {
  const { username, password, nonce, method = 'GET', uri, algorithm, nc, realm = 'Opencast' } = input;
  const hash = (text: string) =>
    createHash(algorithm === 'SHA-256' ? 'sha256' : 'md5')
      .update(text)
      .digest('hex');
  const cnonce = randomBytes(8).toString('hex');
  const middle = nc === undefined ? nonce : `${nonce}:${nc}:${cnonce}:auth`;
  const response = hash(`${hash(`${username}:${realm}:${password}`)}:${middle}:${hash(`${method}:${uri}`)}`);
  const name = Buffer.from(username).toString('latin1');
  const quoted = name.replace(/["\\]/g, '\\$&');
  return [
    `Digest username="${quoted}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}"`,
    ...(algorithm ? [`algorithm=${algorithm}`] : []),
    ...(nc === undefined ? [] : [`qop=auth, nc=${nc}, cnonce="${cnonce}"`]),
  ].join(', ');
}

/** The nonce of a challenge. @throws Error when there is none */
export function nonceOf(answer: Response): string {
  const challenge = answer.headers.get('WWW-Authenticate') ?? '';
  const nonce = /^Digest .*\bnonce="([^"]+)"/.exec(challenge)?.[1];
  if (nonce === undefined) throw new Error(`This is no challenge of Digest: ${challenge}`);
  return nonce;
}
