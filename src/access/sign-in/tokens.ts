import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
  type RemoteJWKSetOptions,
} from 'jose';
import { HttpError } from '#platform/http/errors/errors.ts';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { isUsername } from '../accounts/accounts.ts';
import { Principal } from '../principal.ts';
import { accountRoles } from '../roles/roles.ts';
import { VerifiedCredentialsCache } from './verified-credentials.ts';

/** The identity provider's keys are not available; `cause` has the reason. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** Errors caused by the token when no key matches. */
const TOKENS_FAULT = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
/** Members of private and symmetric keys. */
const SECRET_MEMBERS = ['d', 'k', 'priv'];

/**
 * Opens the public keys that verify tokens, from a URL or an absolute path. Keys of a URL are fetched on first use,
 * cached for ten minutes, and fetched again (at most every 30 seconds) for an unknown key ID. Symmetric keys are not
 * accepted: anyone with the public key could sign tokens with it.
 *
 * @param remote options for the keys of a URL
 */
export async function openKeySet(location: string, remote?: RemoteJWKSetOptions): Promise<JWTVerifyGetKey> {
  const find = isAbsolute(location)
    ? createLocalJWKSet(await readKeys(location))
    : createRemoteJWKSet(new URL(location), remote);
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      if (TOKENS_FAULT.some((fault) => error instanceof fault)) throw error;
      throw new KeysUnavailable('The keys of the identity provider are not available.', { cause: error });
    }
  };
}

async function readKeys(path: string): Promise<JSONWebKeySet> {
  let keys: unknown;
  try {
    keys = (JSON.parse(await readFile(path, 'utf8')) as Partial<JSONWebKeySet> | null)?.keys;
  } catch (error) {
    throw unusable(path, error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read');
  }
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey))
    throw unusable(path, 'is not a JSON Web Key Set');
  if (keys.some((key) => SECRET_MEMBERS.some((member) => Object.hasOwn(key, member)))) {
    throw unusable(path, 'contains a private or symmetric key; only public keys are allowed');
  }
  return { keys };
}

function isKey(value: unknown): value is JSONWebKeySet['keys'][number] {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}

function unusable(path: string, reason: string): ConfigError {
  return new ConfigError(`JWT_JWKS is ${JSON.stringify(path)}, but the file ${reason}.`);
}

interface ClaimNames {
  username: string;
  roles: string;
}

/** Returns the principal of a verified token; undefined if its user name is missing or invalid. */
export function tokenPrincipal(payload: JWTPayload, names: ClaimNames): Principal | undefined {
  const username = claim(payload, names.username);
  if (typeof username !== 'string' || !username.isWellFormed() || !isUsername(username)) return undefined;
  return new Principal({
    username,
    name: plainText(payload.name),
    email: plainText(payload.email),
    provider: 'jwt',
    roles: accountRoles(username, grantedRoles(claim(payload, names.roles))),
  });
}

/** Returns the valid roles in an array of strings, or in a string with blanks or commas between roles. */
export function grantedRoles(value: unknown): string[] {
  const list: unknown[] = typeof value === 'string' ? value.split(/[\s,]+/) : Array.isArray(value) ? value : [];
  return [...new Set(list.filter(isRole))];
}

/** Reads a claim by its name, or by a path with dots; names may contain dots themselves. */
function claim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split('.')
    .reduce<unknown>((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), payload);
}

function isRole(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !/[\s,\p{Cc}]/u.test(value);
}

function plainText(value: unknown): string {
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Asymmetric algorithms only: with a symmetric key, a public key could be used as the secret. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** The allowed clock difference from the identity provider. */
const CLOCK_TOLERANCE_SECONDS = 5;
const FRESH_MS = 60_000;

const TAKEN = {
  account: 'The user name in the token belongs to a local account.',
  user: 'The user name in the token differs only in case from that of another user.',
};

export interface TokenOptions {
  keys: JWTVerifyGetKey;
  issuer: string;
  audience: string;
  claims: ClaimNames;
  heldBy(username: string): Promise<'account' | 'user' | undefined>;
}

export class TokenVerifier {
  readonly #options: TokenOptions;
  readonly #now: () => number;
  readonly #cache = new VerifiedCredentialsCache<{ principal: Principal; until: number }>();

  /** @param now milliseconds since 1970 */
  constructor(options: TokenOptions, now: () => number = Date.now) {
    this.#options = options;
    this.#now = now;
  }

  /** Verifies a token unless it is cached. @throws {HttpError} 401 @throws {KeysUnavailable} */
  async authenticate(token: string): Promise<Principal> {
    const digest = this.#cache.digest(token);
    const now = this.#now();
    const known = this.#cache.get(digest);
    if (known && now < known.until) return known.principal;
    this.#cache.delete(digest);
    const payload = await this.#verify(token, now);
    const principal = tokenPrincipal(payload, this.#options.claims);
    if (!principal) throw invalidToken('The token has no valid user name.');
    const holder = await this.#options.heldBy(principal.username);
    if (holder) throw invalidToken(TAKEN[holder]);
    this.#cache.set(digest, { principal, until: Math.min(now + FRESH_MS, (payload.exp ?? 0) * 1000) });
    return principal;
  }

  async #verify(token: string, now: number): Promise<JWTPayload> {
    const { keys, issuer, audience } = this.#options;
    try {
      return await verifyWithAny(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now),
      });
    } catch (error) {
      throw tokenError(error);
    }
  }
}

/** Verifies a token; tries all matching keys for a token without a key ID. */
export async function verifyWithAny(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Returns 401 with the challenge of RFC 6750. */
function invalidToken(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer realm="Opencast", error="invalid_token"' });
}

function tokenError(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return invalidToken('The token has expired.');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalidToken(`The claim '${error.claim}' of the token is missing or invalid.`);
  }
  if (error instanceof errors.JOSEError) return invalidToken('The token is not valid.');
  if (error instanceof KeysUnavailable) return error;
  return new KeysUnavailable('A key of the identity provider is not usable.', { cause: error });
}
