import { createHash } from 'node:crypto';
import { ObjectNotFound, type ObjectStorage } from '../../storage/port.ts';
import type { OwnedObject } from '../owned-objects.ts';
import type { Finding } from './finding.ts';

/** @returns the SHA-256 of an object in hexadecimal; undefined when it is not there any more */
export async function digestOf(
  storage: Pick<ObjectStorage, 'get'>,
  key: string,
  signal?: AbortSignal,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<string | undefined> {
  try {
    const hash = createHash('sha256');
    for await (const chunk of await storage.get(key, undefined, signal)) {
      hash.update(chunk);
      onBytes(chunk.length);
    }
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof ObjectNotFound) return undefined;
    throw error;
  }
}

/** Reads an object and compares. @returns undefined when it is as it should be, or has gone */
export async function compareDigest(
  storage: Pick<ObjectStorage, 'get'>,
  owner: OwnedObject,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<Finding | undefined> {
  if (owner.sha256 === null) return undefined;
  const sha256 = await digestOf(storage, owner.key, signal, onBytes);
  if (sha256 === undefined || sha256 === owner.sha256) return undefined;
  return { kind: 'digest', key: owner.key, owner, size: owner.size, sha256 };
}
