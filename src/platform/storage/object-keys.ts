import { randomUUID } from 'node:crypto';

const KEY = /^[a-z]+\/[0-9a-f]{2}\/[0-9a-f-]{36}$/;

/** Creates a key: `kind/5f/5f0c...`. The two digits spread a folder storage over 256 folders. */
export function objectKey(kind: string): string {
  const id = randomUUID();
  return `${kind}/${id.slice(0, 2)}/${id}`;
}

/** Returns the kind given to `objectKey`. */
export function kindOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** Returns the part of a key that orders listings: `kind/5f`. */
export function shardOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** Reports whether `objectKey` could have created a text. No other text may reach a storage. */
export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** @throws {TypeError} for a text that is not a key, before it becomes part of a path or a request */
export function requireObjectKey(text: string): string {
  if (!isObjectKey(text)) throw new TypeError(`${JSON.stringify(text.slice(0, 80))} is not an object key.`);
  return text;
}
