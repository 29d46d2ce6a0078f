import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

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

/** Whether the hash was made of this password. The comparison takes the same time whatever the answer. */
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
