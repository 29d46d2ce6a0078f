import type { ObjectStorage } from '../../src/storage/port.ts';

/** The same object storage with another way to store an object. */
export function storageWithPut(storage: ObjectStorage, put: ObjectStorage['put']): ObjectStorage {
  const get = (target: ObjectStorage, name: keyof ObjectStorage) => {
    const value = name === 'put' ? put : target[name];
    // Private members are found on the real one only.
    return typeof value === 'function' ? value.bind(target) : value;
  };
  return new Proxy(storage, { get: get as ProxyHandler<ObjectStorage>['get'] & {} });
}
