const AT_ONCE = 4;

/** Does work for each, some at once; the first fault ends it, when what is under way has ended. */
export async function forEachOf<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let fault: { error: unknown } | undefined;
  const runner = async () => {
    while (!fault) {
      try {
        signal.throwIfAborted();
        const { done, value } = await iterator.next();
        if (done) return;
        await work(value);
      } catch (error) {
        fault ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
  await iterator.return?.();
  if (fault) throw fault.error;
}
