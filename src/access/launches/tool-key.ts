import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { readOrCreateFile } from '#platform/storage/generated-file.ts';

const NAME = 'lti-private-key.pem';
const BITS = 2048;

/** The key pair that signs messages to learning platforms. */
export interface ToolKey {
  privateKey: KeyObject;
  /** The public key, as platforms fetch it. */
  jwk: JWK & { kid: string };
}

/**
 * Returns the key pair of the configuration, or that of the data folder, which is created first if there is none.
 *
 * @param configured a private RSA key in PEM
 * @throws {ConfigError} for another key, or if the folder cannot hold it
 */
export async function openToolKey(configured: string | undefined, dataDir: string): Promise<ToolKey> {
  const source = configured === undefined ? join(dataDir, NAME) : '`privateKey` in the file of LTI_KEYS';
  try {
    const privateKey = createPrivateKey(configured ?? (await readOrCreateFile(dataDir, NAME, newKey)));
    if (privateKey.asymmetricKeyType !== 'rsa') throw new Error('its type is not RSA');
    const jwk = await exportJWK(createPublicKey(privateKey));
    return { privateKey, jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'RS256', use: 'sig' } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${source} is no usable private key (${reason}); allowed is an RSA key in PEM.`);
  }
}

async function newKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: BITS });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
