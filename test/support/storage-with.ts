import type { ObjectStorage } from '#platform/storage/object-storage.ts';

/** The same object storage, some of whose methods do something else. */
export function storageWith(storage: ObjectStorage, others: Partial<ObjectStorage>): ObjectStorage {
  const get = (target: ObjectStorage, name: keyof ObjectStorage) => {
    const value = others[name] ?? target[name];
    // Private members are found on the real one only.
    return typeof value === 'function' ? value.bind(target) : value;
  };
  return new Proxy(storage, { get: get as ProxyHandler<ObjectStorage>['get'] & {} });
}
