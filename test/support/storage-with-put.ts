import type { ObjectStorage } from '../../src/storage/port.ts';

const NAMES = [
  'begin',
  'append',
  'complete',
  'get',
  'size',
  'remove',
  'list',
  'unfinished',
  'removeUnfinished',
  'localPath',
  'check',
  'requireRoom',
  'close',
] as const;

/** The same object storage with another way to store an object. */
export function storageWithPut(storage: ObjectStorage, put: ObjectStorage['put']): ObjectStorage {
  // Private members are found on the real one only.
  const bound = NAMES.map((name) => [name, storage[name].bind(storage)]);
  return Object.assign(Object.create(storage), Object.fromEntries(bound), { put });
}
