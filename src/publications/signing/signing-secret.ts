import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { readOrCreateFile } from '#platform/storage/generated-file.ts';

const NAME = 'url-signing-secret';
const BYTES = 32;
/** A shorter text is not what this file writes. */
const SHORTEST = 32;

/**
 * Returns the secret of the data folder, and creates it first if there is none.
 *
 * @throws {ConfigError} if the folder cannot hold it
 */
export async function generatedSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, NAME);
  try {
    const secret = await readOrCreateFile(dataDir, NAME, () => randomBytes(BYTES).toString('base64url'));
    if (secret.length >= SHORTEST) return secret;
  } catch (error) {
    throw new ConfigError(`${path} cannot be read or created (${String(error)}). Set URL_SIGNING_SECRET.`);
  }
  throw new ConfigError(`${path} holds no secret. Remove it, and Inlet creates another one.`);
}
