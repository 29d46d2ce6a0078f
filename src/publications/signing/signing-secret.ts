import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '#platform/setting/value-kinds.ts';

const NAME = 'url-signing-secret';
const BYTES = 32;
/** A shorter text is not what this file writes. */
const SHORTEST = 32;

/**
 * Returns the secret of the data folder, and creates it first if there is none. Processes that start concurrently get the
 * same secret: a complete file appears under its name, or none.
 *
 * @throws {ConfigError} if the folder cannot hold it
 */
export async function generatedSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, NAME);
  try {
    const secret = (await read(path)) ?? (await create(dataDir, path));
    if (secret.length >= SHORTEST) return secret;
  } catch (error) {
    throw new ConfigError(`${path} cannot be read or created (${String(error)}). Set URL_SIGNING_SECRET.`);
  }
  throw new ConfigError(`${path} holds no secret. Remove it, and Inlet creates another one.`);
}

async function create(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const own = `${path}.${randomUUID()}`;
  try {
    await writeFile(own, randomBytes(BYTES).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
    await link(own, path);
  } catch (error) {
    // Another process was faster; its secret counts.
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(own, { force: true });
  }
  return readFile(path, 'utf8');
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
