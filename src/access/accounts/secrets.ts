import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** About 250 ms and 16 MiB per hash, as memory limits concurrent sign-ins. Exported for tests. */
export const COST = { N: 2 ** 14, r: 8, p: 5 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORMAT = /^scrypt\$N=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/** Returns a hash with its parameters and salt in base64url: `scrypt$N=16384,r=8,p=5$<salt>$<key>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, KEY_BYTES, COST);
  return `scrypt$N=${COST.N},r=${COST.r},p=${COST.p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/** Compares a password with a hash in constant time. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [, N, r, p, salt, key] = FORMAT.exec(hash) ?? [];
  if (!salt || !key) throw new Error('A stored password hash has an unsupported format.');
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const actual = await derive(password, Buffer.from(salt, 'base64url'), expected.length, cost);
  return timingSafeEqual(actual, expected);
}

function derive(password: string, salt: Buffer, bytes: number, cost: typeof COST): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.r * (cost.N + cost.p + 2) };
  return new Promise((resolve, reject) =>
    scrypt(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key))),
  );
}

/** The realm that clients show in the password prompt; it is part of every digest secret. */
export const REALM = 'Opencast';

export const DIGEST_ALGORITHMS = ['MD5', 'SHA-256'] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

/** The password hashes for HTTP Digest, in hexadecimal. Equivalent to the password: never show or log them. */
export interface DigestSecrets {
  md5: string;
  sha256: string;
}

export function digestSecrets(username: string, password: string): DigestSecrets {
  const text = `${username}:${REALM}:${password}`;
  return { md5: digestOf('MD5', text), sha256: digestOf('SHA-256', text) };
}

/** Returns a hash as lower-case hexadecimal digits. */
export function digestOf(algorithm: DigestAlgorithm, data: string | Buffer): string {
  return createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
    .update(data)
    .digest('hex');
}
