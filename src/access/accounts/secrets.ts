import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * About a quarter of a second and 16 MiB: memory is what many sign-ins at once would run out of. Exported for tests, which
 * make it cheap.
 */
export const COST = { N: 2 ** 14, r: 8, p: 5 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORMAT = /^scrypt\$N=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/** A hash that carries its parameters and salt: `scrypt$N=16384,r=8,p=5$<salt>$<key>`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, KEY_BYTES, COST);
  return `scrypt$N=${COST.N},r=${COST.r},p=${COST.p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/** Compares a password with its hash, in constant time. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [, N, r, p, salt, key] = FORMAT.exec(hash) ?? [];
  if (!salt || !key) throw new Error('A stored password hash has an unknown format.');
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const actual = await derive(password, Buffer.from(salt, 'base64url'), expected.length, cost);
  return timingSafeEqual(actual, expected);
}

function derive(
  password: string,
  salt: Buffer,
  bytes: number,
  cost: { N: number; r: number; p: number },
): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.r * (cost.N + cost.p + 2) };
  return new Promise((resolve, reject) =>
    scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key))),
  );
}

/** The realm that clients show when they ask for a password; it is part of every digest secret. */
export const REALM = 'Opencast';

/** The algorithms of HTTP Digest that can be answered with, as RFC 7616 names them. */
export const DIGEST_ALGORITHMS = ['MD5', 'SHA-256'] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

/** The hashes of a password for HTTP Digest, in hexadecimal digits. As good as the password: never to be shown or logged. */
export interface DigestSecrets {
  md5: string;
  sha256: string;
}

/** Hashes a user name and a password for HTTP Digest. */
export function digestSecrets(username: string, password: string): DigestSecrets {
  const text = `${username}:${REALM}:${password}`;
  return { md5: digestOf('MD5', text), sha256: digestOf('SHA-256', text) };
}

/** Hashes data with an algorithm of HTTP Digest, as hexadecimal digits in lower case. */
export function digestOf(algorithm: DigestAlgorithm, data: string | Buffer): string {
  return createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
    .update(data)
    .digest('hex');
}
