import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { ConfigError } from '#platform/setting/config-error.ts';

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
