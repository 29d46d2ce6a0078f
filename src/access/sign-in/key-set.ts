import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { ConfigError } from '#platform/setting/config-error.ts';

/** The identity provider's keys cannot be had or used at the moment; `cause` says why. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** What the token is to blame for, when no key is found for it. */
const TOKENS_FAULT = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
/** Members of a key that is private or shared. */
const SECRET_MEMBERS = ['d', 'k', 'priv'];

/**
 * The public keys that tokens are verified with. Those of a URL are fetched when they are first needed, kept for ten
 * minutes, and fetched again (every half minute at most) when a token names a key that is not among them. Those of a
 * file are read once. Symmetric keys are never used: whoever knows a public key could sign with it as a secret.
 *
 * @param location an http or https URL, or the absolute path of a file
 * @returns a function that rejects with {KeysUnavailable}, or an error of jose when the token is to blame
 * @throws {ConfigError} for a file that is no set of public keys
 */
export async function openKeySet(location: string): Promise<JWTVerifyGetKey> {
  const find = isAbsolute(location)
    ? createLocalJWKSet(await readKeys(location))
    : createRemoteJWKSet(new URL(location));
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
    throw unusable(path, error instanceof SyntaxError ? 'is no JSON' : 'cannot be read');
  }
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey)) throw unusable(path, 'is no JSON key set');
  if (keys.some((key) => SECRET_MEMBERS.some((member) => Object.hasOwn(key, member)))) {
    throw unusable(path, 'holds a private or shared key; allowed are public keys only');
  }
  return { keys };
}

function isKey(value: unknown): value is JSONWebKeySet['keys'][number] {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}

function unusable(path: string, reason: string): ConfigError {
  return new ConfigError(`JWT_JWKS is ${JSON.stringify(path)}, a file that ${reason}.`);
}
