import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '#platform/database/kysely.ts';

/**
 * A client that streams a recording cannot send it again when it learns in the middle that its nonce is over; some then
 * wait for ever. So this comes once a day at most.
 */
const LIFETIME_SECONDS = 24 * 60 * 60;
const CHANCE_BYTES = 8;
const SIGNATURE_BYTES = 16;
const FORMAT = /^(([\da-z]{1,10})-[\da-f]{16})-([\w-]+)$/;

/**
 * Nonces of HTTP Digest: the second they were issued in, chance and a signature, so that nobody keeps them. Each is good in every
 * process and after a restart, as often as one likes: how often a client has used it (`nc`) is not counted, since that
 * would have to be known everywhere. Who can listen can repeat a request for a day; that is what TLS is for.
 */
export class Nonces {
  readonly #key: () => Promise<Buffer>;
  readonly #now: () => number;

  /**
   * @param key what they are signed with, the same in all processes
   * @param now milliseconds since 1970
   */
  constructor(key: () => Promise<Buffer>, now: () => number = Date.now) {
    this.#key = key;
    this.#now = now;
  }

  async issue(): Promise<string> {
    const second = Math.floor(this.#now() / 1000).toString(36);
    const signed = `${second}-${randomBytes(CHANCE_BYTES).toString('hex')}`;
    return `${signed}-${(await this.#sign(signed)).toString('base64url')}`;
  }

  /** Whether it was issued here, and that no more than a day ago. */
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

/** The key that all processes on this database sign nonces with, read once. */
export function nonceKeyOf(db: Queryable): () => Promise<Buffer> {
  let key: Promise<Buffer> | undefined;
  return () => {
    key ??= readKey(db).catch((error) => {
      // The next request tries again: the database may be back.
      key = undefined;
      throw error;
    });
    return key;
  };
}

async function readKey(db: Queryable): Promise<Buffer> {
  return (await db.selectFrom('nonce_key').select('key').executeTakeFirstOrThrow()).key;
}
