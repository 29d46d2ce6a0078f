import { isObjectKey, kindOf, objectKey } from '#platform/storage/keys.ts';

/** What is said where nobody knows what it is: most of what can be lost is. */
const USUAL_KIND = 'track';

/** A new key of the kind of the first of these that is a key: somebody may have had a row name something else. */
export function keyLike(...keys: readonly (string | undefined)[]): string {
  const known = keys.find((key) => key !== undefined && isObjectKey(key));
  return objectKey(known === undefined ? USUAL_KIND : kindOf(known));
}
