/**
 * Does work for each, some at once. The first fault ends it, when what is under way has ended.
 *
 * @param atOnce how many
 * @throws the first fault, or the signal's reason
 */
export async function forEachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
  { atOnce, signal }: { atOnce: number; signal?: AbortSignal | undefined },
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
  await Promise.all(Array.from({ length: atOnce }, runner));
  await iterator.return();
  if (fault) throw fault.error;
}
