import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '#platform/database/kysely.ts';

/** Long, as some clients hang if a nonce expires while they stream a recording. */
const LIFETIME_SECONDS = 24 * 60 * 60;
const CHANCE_BYTES = 8;
const SIGNATURE_BYTES = 16;
const FORMAT = /^(([\da-z]{1,10})-[\da-f]{16})-([\w-]+)$/;

/**
 * Issues and checks HTTP Digest nonces: a time, random bytes and a signature, so no state is stored. A nonce is valid
 * in all processes, after a restart, and any number of times: `nc` is not counted, as all processes would have to share
 * the count. An eavesdropper can repeat a request for a day; TLS prevents this.
 */
export class Nonces {
  readonly #key: () => Promise<Buffer>;
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(key: () => Promise<Buffer>, now: () => number = Date.now) {
    this.#key = key;
    this.#now = now;
  }

  async issue(): Promise<string> {
    const second = Math.floor(this.#now() / 1000).toString(36);
    const signed = `${second}-${randomBytes(CHANCE_BYTES).toString('hex')}`;
    return `${signed}-${(await this.#sign(signed)).toString('base64url')}`;
  }

  /** True if this server issued the nonce within the last day. */
  async isGood(nonce: string): Promise<boolean> {
    const [, signed, second, signature] = FORMAT.exec(nonce) ?? [];
    if (signed === undefined || second === undefined || signature === undefined) return false;
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== SIGNATURE_BYTES || !timingSafeEqual(given, await this.#sign(signed))) return false;
    return this.#now() / 1000 - Number.parseInt(second, 36) < LIFETIME_SECONDS;
  }

  async #sign(text: string): Promise<Buffer> {
    const signature = createHmac('sha256', await this.#key())
      .update(text)
      .digest();
    return signature.subarray(0, SIGNATURE_BYTES);
  }
}

/** Returns a function that reads the shared signing key once. */
export function nonceKeyReader(db: Queryable): () => Promise<Buffer> {
  let key: Promise<Buffer> | undefined;
  return () => {
    key ??= readKey(db).catch((error) => {
      // The next request tries again.
      key = undefined;
      throw error;
    });
    return key;
  };
}

async function readKey(db: Queryable): Promise<Buffer> {
  return (await db.selectFrom('nonce_key').select('key').executeTakeFirstOrThrow()).key;
}
