import { createHash } from 'node:crypto';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reports whether a text can be compared with a `uuid` column; PostgreSQL rejects other texts. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Derives a UUID from values: the same values always have the same one. */
export function uuidOf(...values: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
