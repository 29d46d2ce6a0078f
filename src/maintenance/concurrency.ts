/**
 * Works on several items concurrently. After the first fault it waits for the work in progress, then throws.
 * @throws the first fault, or the signal's reason
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
  { concurrency, signal }: { concurrency: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const iterator = (async function* () {
    yield* items;
  })();
  let fault: { error: unknown } | undefined;
  const runner = async () => {
    while (!fault) {
      try {
        signal?.throwIfAborted();
        const { done, value } = await iterator.next();
        if (done) return;
        await work(value);
      } catch (error) {
        fault ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  await iterator.return();
  if (fault) throw fault.error;
}

/** Groups items into arrays of at most `size`. */
export async function* inBatches<T>(items: AsyncIterable<T> | Iterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Serializes the work on items with the same key, because rows of two tables may name one object. */
export function serializeByKey<T extends { key: string }>(
  work: (item: T) => Promise<unknown>,
): (item: T) => Promise<void> {
  const underWay = new Map<string, Promise<unknown>>();
  return async (item) => {
    for (let other = underWay.get(item.key); other; other = underWay.get(item.key)) {
      await other.catch(() => undefined);
    }
    const own = work(item);
    underWay.set(item.key, own);
    try {
      await own;
    } finally {
      underWay.delete(item.key);
    }
  };
}
