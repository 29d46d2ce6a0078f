import { createHmac, randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Database } from '#platform/database/kysely.ts';
import { EXPIRED_LAUNCH, REPEATED_LAUNCH, UNVERIFIED_LAUNCH } from './launch-refusals.ts';
import { useOnce } from './used-tokens.ts';

const ALGORITHM = 'HS256';

/** An opened token: its facts, and the identifier that makes it unique. */
interface OpenedToken<Facts> {
  facts: Facts;
  id: string;
}

/**
 * Signs what a browser carries from one request of a launch to the next, so that nothing is stored for launches that do
 * not continue. Every process reads the tokens of all processes.
 */
export class LaunchTokens {
  readonly #database: Database;
  readonly #readKey: () => Promise<Buffer>;

  /** @param readKey reads the secret that all processes share */
  constructor(database: Database, readKey: () => Promise<Buffer>) {
    this.#database = database;
    this.#readKey = readKey;
  }

  /** Signs facts for a purpose. @returns the token and its identifier */
  async sign(purpose: string, facts: object, lifetimeSeconds: number): Promise<{ token: string; id: string }> {
    const id = randomUUID();
    const token = await new SignJWT({ facts })
      .setProtectedHeader({ alg: ALGORITHM })
      .setAudience(purpose)
      .setJti(id)
      .setExpirationTime(new Date(Date.now() + lifetimeSeconds * 1000))
      .sign(await this.#key());
    return { token, id };
  }

  /** Reads a token that `sign` made for this purpose. @throws {HttpError} 401 */
  async open<Facts>(purpose: string, token: string): Promise<OpenedToken<Facts>> {
    const { facts, id } = await this.#verify<Facts>(purpose, token);
    return { facts, id };
  }

  /** Reads a token and marks it as used. @throws {HttpError} 401, also if it was used before */
  async use<Facts>(purpose: string, token: string): Promise<OpenedToken<Facts>> {
    const { facts, id, expiresAt } = await this.#verify<Facts>(purpose, token);
    if (!(await useOnce(this.#database, [purpose, id], expiresAt))) throw REPEATED_LAUNCH();
    return { facts, id };
  }

  async #verify<Facts>(purpose: string, token: string) {
    try {
      const { payload } = await jwtVerify(token, await this.#key(), {
        algorithms: [ALGORITHM],
        audience: purpose,
        requiredClaims: ['exp', 'jti'],
      });
      const { facts, jti = '', exp = 0 } = payload;
      return { facts: facts as Facts, id: jti, expiresAt: new Date(exp * 1000) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw EXPIRED_LAUNCH();
      if (error instanceof errors.JOSEError) throw UNVERIFIED_LAUNCH('it was not started here');
      throw error;
    }
  }

  /** A separate key, so that no other signature of the shared secret is a token. */
  async #key(): Promise<Uint8Array> {
    return createHmac('sha256', await this.#readKey())
      .update('launch tokens')
      .digest();
  }
}
